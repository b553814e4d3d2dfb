package sessions

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss/table"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

// BenchmarkBeside draws the dashboard with 10,000 sessions and, in turn, a plain table of the library
// with as many rows as the screen shows. "go run ./cmd/proof bench" takes the page's figures from it.
func BenchmarkBeside(b *testing.B) {
	d := crowd(b, 10_000)
	plain := func() {
		t := table.New().Headers("id", "status", "task", "route", "step", "left")
		for i := range 40 {
			t.Row(fmt.Sprintf("%08x", i), "active", "ordinary_review", "ordinary_mr", "primary_review 2/3", "29:59")
		}
		_ = t.String()
	}
	turn := 0
	for name, own := range map[string]func(){
		"frame": func() {
			d.outOfDate = true
			d.View()
		},
		"key": func() {
			d.press([]string{"down", "up"}[turn%2])
			d.View()
		},
		"change": func() {
			s := session(b, 1, catalog.WidgetReview, 0)
			s.ExpiresAt = s.ExpiresAt.Add(time.Duration(turn) * time.Millisecond)
			d.reads(sqlite.Delta{Put: []review.Session{s}})
			d.View()
		},
	} {
		b.Run(name, func(b *testing.B) {
			var owns, bases []time.Duration
			for b.Loop() {
				turn++
				t0 := time.Now()
				own()
				t1 := time.Now()
				plain()
				owns, bases = append(owns, t1.Sub(t0)), append(bases, time.Since(t1))
			}
			slices.Sort(owns)
			slices.Sort(bases)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(owns[len(owns)/2]), "own-ns")
			b.ReportMetric(float64(owns[0]), "own-min-ns")
			b.ReportMetric(float64(bases[len(bases)/2]), "base-ns")
			b.ReportMetric(float64(bases[0]), "base-min-ns")
		})
	}
}
