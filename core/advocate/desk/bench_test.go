package desk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
)

// vocabularies are word stems to make texts of; a number behind each makes a vocabulary large.
var vocabularies = map[string][]string{
	"english": {"deploying", "refunds", "the", "ledger", "was", "replicas", "of", "failing", "customers", "and", "latency", "auditors", "promised", "in", "rollback", "queues"},
	"spanish": {"despliegues", "facturas", "la", "contabilidad", "era", "réplicas", "de", "fallando", "clientes", "y", "autorización", "auditores", "prometió", "en", "reversión", "colas"},
	"russian": {"выкладки", "возвраты", "это", "бухгалтерия", "было", "реплики", "из", "отказывающих", "клиентов", "и", "задержками", "аудиторы", "обещанный", "в", "откатами", "очередей"},
}

// prose makes a text of about n characters from words of a vocabulary of some 3,000 words.
func prose(r *rand.Rand, words []string, n int) string {
	var b strings.Builder
	for b.Len() < n {
		w := words[r.IntN(len(words))]
		if len(w) > 6 && r.IntN(3) == 0 {
			w = string([]rune(w)[:3]) + string(rune('a'+r.IntN(26))) + string([]rune(w)[3:])
		}
		b.WriteString(w + " ")
	}
	return strings.TrimSpace(b.String()) + fmt.Sprintf(" %d", r.IntN(1e9))
}

// answered returns the file of a premortem with 210 causes of 400 characters and mitigations of as many
// for 200 of them, and the ten mitigations that are left to submit.
func answered(b *testing.B, words []string) (file []byte, rest []any) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	at := time.Unix(0, 0)
	review, err := advocate.New("rev-test", "The migration is ready for all customers", advocate.Premortem, "", at)
	if err != nil {
		b.Fatal(err)
	}
	var causes, mitigations []any
	for i := range 210 {
		causes = append(causes, map[string]any{"text": prose(random, words, 400), "likelihood": 3, "impact": 3})
		mitigations = append(mitigations, map[string]any{"index": i, "action": prose(random, words, 400), "residual_risk": "low"})
	}
	for _, items := range [][]any{{map[string]any{"horizon": "one year"}}, causes, mitigations[:200]} {
		if _, err := review.Submit(items, at); err != nil {
			b.Fatal(err)
		}
	}
	file, err = review.MarshalFile()
	if err != nil {
		b.Fatal(err)
	}
	return file, mitigations[200:]
}

// BenchmarkSubmit submits ten items of 400 characters to a review that holds 200 like them, reading
// and writing the file's content but not the disk.
func BenchmarkSubmit(b *testing.B) {
	for name, words := range vocabularies {
		b.Run(name, func(b *testing.B) {
			file, rest := answered(b, words)
			for b.Loop() {
				review, err := advocate.UnmarshalFile(file)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := review.Submit(rest, time.Unix(0, 0)); err != nil {
					b.Fatal(err)
				}
				if _, err := review.MarshalFile(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkList lists 5,000 reviews, every fourth of them complete.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	words := vocabularies["english"]
	for i := range 5000 {
		review, err := advocate.New(fmt.Sprintf("rev-%04d", i), prose(r, words, 100), advocate.Premortem, prose(r, words, 200), time.Unix(int64(i), 0))
		if err != nil {
			b.Fatal(err)
		}
		var causes []any
		for range 3 + i%4/3 {
			causes = append(causes, map[string]any{"text": prose(r, words, 200), "likelihood": 2, "impact": 3})
		}
		for _, items := range [][]any{{map[string]any{"horizon": "one year"}}, causes} {
			if _, err := review.Submit(items, time.Unix(int64(i), 0)); err != nil {
				b.Fatal(err)
			}
		}
		data, err := review.MarshalFile()
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, review.ID+".json"), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	d := desk.New(dir)
	for b.Loop() {
		l, err := d.List()
		if err != nil || l.Count != 5000 || len(l.Skipped) > 0 {
			b.Fatal(l.Count, err)
		}
	}
}
