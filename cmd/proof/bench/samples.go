package bench

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
)

// samples are what one side of a measurement took, in nanoseconds or bytes.
type samples []float64

func (s samples) at(quantile float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[min(len(sorted)-1, int(quantile*float64(len(sorted))))]
}

func (s samples) median() float64 { return s.at(.5) }

// calm is the lowest sample as a part of the median: the nearer to 1, the less
// the machine did beside it.
func (s samples) calm() float64 { return s.at(0) / s.median() }

// per divides every sample by n.
func (s samples) per(n int) samples {
	out := make(samples, len(s))
	for i := range s {
		out[i] = s[i] / float64(n)
	}
	return out
}

// run does something once and says how long it took.
type run func() (time.Duration, error)

// timed is a run of f, all of which counts.
func timed(f func() error) run {
	return func() (time.Duration, error) {
		began := time.Now()
		err := f()
		return time.Since(began), err
	}
}

// compete lets the runs take turns, after some that do not count. Each turn
// begins with another one.
func compete(warm, turns int, runs ...run) ([]samples, error) {
	out := make([]samples, len(runs))
	runtime.GC() // so that this process disturbs the first turns no more than the others
	for turn := range warm + turns {
		for i := range runs {
			i = (i + turn) % len(runs)
			took, err := runs[i]()
			if err != nil {
				return nil, err
			}
			if turn >= warm {
				out[i] = append(out[i], float64(took))
			}
		}
	}
	return out, nil
}

// row is one comparison.
type row struct {
	what, beside string
	own, base    samples
}

// table writes rows of times: ratio first, medians beside it. tails adds how
// much longer the slowest hundredth took.
func table(rows []row, tails bool) string {
	return tableOf(rows, tails, duration)
}

func tableOf(rows []row, tails bool, show func(float64) string) string {
	var b strings.Builder
	b.WriteString("| qa-orch | beside | ratio | qa-orch, median | beside it, median | lowest ÷ median |")
	if tails {
		b.WriteString(" p99 ÷ p50 |")
	}
	b.WriteString("\n|---|---|---|---|---|---|")
	if tails {
		b.WriteString("---|")
	}
	b.WriteString("\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | **%s** | %s | %s | %.2f, %.2f |", r.what, r.beside, ratio(r.own.median()/r.base.median()),
			show(r.own.median()), show(r.base.median()), r.own.calm(), r.base.calm())
		if tails {
			fmt.Fprintf(&b, " %.1f, %.1f |", r.own.at(.99)/r.own.median(), r.base.at(.99)/r.base.median())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func ratio(x float64) string {
	if x >= 9.95 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// figure writes three digits of a number.
func figure(x float64) string {
	switch {
	case x >= 99.5:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.95:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func duration(ns float64) string {
	switch {
	case ns >= 1e9:
		return figure(ns/1e9) + " s"
	case ns >= 1e6:
		return figure(ns/1e6) + " ms"
	case ns >= 1e3:
		return figure(ns/1e3) + " µs"
	}
	return figure(ns) + " ns"
}

func mebibytes(n float64) string { return figure(n/(1<<20)) + " MiB" }
