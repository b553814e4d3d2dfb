package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/gate"
)

// vocabulary is a language's words to make texts of, and its stemmer.
type vocabulary struct {
	name  string
	words []string
	stem  func(*snowballstem.Env) bool
}

var vocabularies = []vocabulary{
	{"English", strings.Fields("deploying refunds the ledger was replicas of failing customers and latency auditors promised in rollback queues"), english.Stem},
	{"Spanish", strings.Fields("despliegues facturas la contabilidad era réplicas de fallando clientes y autorización auditores prometió en reversión colas"), spanish.Stem},
	{"Russian", strings.Fields("выкладки возвраты это бухгалтерия было реплики из отказывающих клиентов и задержками аудиторы обещанный в откатами очередей"), russian.Stem},
}

// prose makes a text of about n characters from some 3,000 different words.
func (v vocabulary) prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for length := 0; length < n; {
		word := []rune(v.words[r.IntN(len(v.words))])
		if len(word) > 6 && r.IntN(3) == 0 {
			word[3] = word[r.IntN(len(word))]
			word[4] = word[r.IntN(len(word))]
		}
		b.WriteString(string(word) + " ")
		length += len(word) + 1
	}
	return b.String() + fmt.Sprint(r.IntN(1e9))
}

// answered returns the file of a premortem with 210 causes of 400 characters
// and as many mitigations but ten, and those ten.
func (v vocabulary) answered() (file []byte, rest []any, err error) {
	random := rand.New(rand.NewPCG(1, 2))
	at := time.Unix(0, 0)
	review, err := advocate.New("rev-test", "The migration is ready for all customers", advocate.Premortem, "", at)
	if err != nil {
		return nil, nil, err
	}
	var causes, mitigations []any
	for i := range 210 {
		causes = append(causes, map[string]any{"text": v.prose(random, 400), "likelihood": 3, "impact": 3})
		mitigations = append(mitigations, map[string]any{"index": i, "action": v.prose(random, 400), "residual_risk": "low"})
	}
	for _, items := range [][]any{{map[string]any{"horizon": "one year"}}, causes, mitigations[:200]} {
		if _, err := review.Submit(items, at); err != nil {
			return nil, nil, err
		}
	}
	file, err = review.MarshalFile()
	return file, mitigations[200:], err
}

// gate times submissions, and the reading of texts alone.
func (b *bench) gate() (string, error) {
	var rows []row
	var reading strings.Builder
	for _, v := range vocabularies {
		file, rest, err := v.answered()
		if err != nil {
			return "", fmt.Errorf("%s: %w", v.name, err)
		}
		t, err := compete(3, b.turns(60),
			timed(func() error {
				review, err := advocate.UnmarshalFile(file)
				if err != nil {
					return err
				}
				if _, err := review.Submit(rest, time.Unix(0, 0)); err != nil {
					return err
				}
				_, err = review.MarshalFile()
				return err
			}),
			timed(func() error {
				var v any
				if err := json.Unmarshal(file, &v); err != nil {
					return err
				}
				_, err := json.Marshal(v)
				return err
			}))
		if err != nil {
			return "", err
		}
		rows = append(rows, row{"ten items of 400 characters, 200 saved: " + v.name, "encoding/json reads and writes the same file", t[0], t[1]})

		text := v.prose(rand.New(rand.NewPCG(3, 4)), 100_000)
		t, err = compete(3, b.turns(100),
			timed(func() error {
				var r gate.Reader
				if r.Read(text).Total() == 0 {
					return fmt.Errorf("no words")
				}
				return nil
			}),
			timed(func() error {
				for _, word := range strings.Fields(strings.ToLower(text)) {
					v.stem(snowballstem.NewEnv(word))
				}
				return nil
			}))
		if err != nil {
			return "", err
		}
		speed := func(s samples) string { return figure(float64(len(text))/1e6/(s.median()/1e9)) + " MB/s" }
		fmt.Fprintf(&reading, "| reading: %s | `strings.Fields` and its stemmer, word for word | **%s** | %s | %s | %.2f, %.2f |\n",
			v.name, ratio(t[0].median()/t[1].median()), speed(t[0]), speed(t[1]), t[0].calm(), t[1].calm())
	}
	return "Submitting: a premortem's file is read, ten mitigations are checked against all that was said before, and the file's content is made anew. " +
		"Reading: the gate alone turns 100,000 characters into content words.\n\n" + table(rows, false) + reading.String(), nil
}
