package load

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/table"
)

// Report is what a run has shown.
type Report struct {
	Kind      string  `json:"kind"`
	Servers   int     `json:"servers"`
	Hosts     int     `json:"hosts_per_server"`
	Seconds   float64 `json:"seconds"`
	Calls     int     `json:"calls"`
	PerSecond float64 `json:"calls_per_second"`
	// Hours is how long a host takes that calls a server once a second, for as
	// many calls as each server has answered.
	Hours   float64        `json:"hours_of_an_impatient_host"`
	Tools   []Tool         `json:"tools"`
	Refused map[string]int `json:"refused"`
	Failed  int            `json:"failed"`
	// Thirds are medians of the beginning, the middle and the end of the run.
	Thirds     []Sample   `json:"thirds"`
	Peak       Sample     `json:"peak"`
	Goroutines Goroutines `json:"goroutines"`
	// Found is what is wrong.
	Found []string `json:"found"`
}

// Tool is how long the calls of a tool took, in microseconds.
type Tool struct {
	Tool  string  `json:"tool"`
	Calls int     `json:"calls"`
	P50   float64 `json:"p50_us"`
	P90   float64 `json:"p90_us"`
	P99   float64 `json:"p99_us"`
	Max   float64 `json:"max_us"`
}

// Sample is what all servers together hold at a moment, and their files.
type Sample struct {
	Seconds     float64 `json:"seconds"`
	RSS         int64   `json:"rss_bytes"`
	Descriptors int     `json:"descriptors"`
	Threads     int     `json:"threads"`
	Files       int     `json:"files"`
	Bytes       int64   `json:"file_bytes"`
	WAL         int64   `json:"wal_bytes"`
}

// Goroutines are those of a server at rest: of one that its hosts have used for
// one review each, and the most that one has after the load.
type Goroutines struct {
	Before int `json:"after_one_review_each"`
	After  int `json:"after_the_load"`
	// More says which there are more of then.
	More string `json:"more"`
}

// Name names the run.
func (r *Report) Name() string {
	return fmt.Sprintf("load: %s, %v", r.Kind, Shape{r.Servers, r.Hosts})
}

func toolOf(name string, times []time.Duration) Tool {
	slices.Sort(times)
	at := func(p int) float64 {
		return float64(times[min(len(times)*p/100, len(times)-1)]) / float64(time.Microsecond)
	}
	return Tool{Tool: name, Calls: len(times), P50: at(50), P90: at(90), P99: at(99), Max: at(100)}
}

func (r *run) report(took time.Duration, samples []Sample) *Report {
	rep := &Report{
		Kind: r.name, Servers: r.shape.Servers, Hosts: r.shape.Hosts, Seconds: took.Seconds(), Refused: r.refused, Failed: r.failed,
		Found: []string{}, Tools: []Tool{}, Thirds: thirds(samples),
	}
	var all []time.Duration
	for _, name := range slices.Sorted(maps.Keys(r.times)) {
		rep.Tools = append(rep.Tools, toolOf(name, r.times[name]))
		all = append(all, r.times[name]...)
	}
	if len(all) > 0 {
		rep.Tools = append(rep.Tools, toolOf("all", all))
	}
	rep.Calls = len(all)
	rep.PerSecond = float64(rep.Calls) / rep.Seconds
	rep.Hours = float64(rep.Calls) / float64(r.shape.Servers) / 3600
	for _, s := range samples {
		rep.Peak.RSS, rep.Peak.Descriptors, rep.Peak.Threads = max(rep.Peak.RSS, s.RSS), max(rep.Peak.Descriptors, s.Descriptors), max(rep.Peak.Threads, s.Threads)
		rep.Peak.Files, rep.Peak.Bytes, rep.Peak.WAL = max(rep.Peak.Files, s.Files), max(rep.Peak.Bytes, s.Bytes), max(rep.Peak.WAL, s.WAL)
	}
	if r.failed > 0 {
		rep.Found = append(rep.Found, fmt.Sprintf("%d calls failed: %s", r.failed, strings.Join(r.errors, "; ")))
	}
	return rep
}

// thirds returns the medians of the three thirds of a run; nothing when there are
// too few samples to tell.
func thirds(samples []Sample) []Sample {
	n := len(samples) / 3
	if n < 3 {
		return []Sample{}
	}
	var out []Sample
	for i := range 3 {
		part := samples[i*n : (i+1)*n]
		out = append(out, Sample{
			Seconds: part[n-1].Seconds,
			RSS:     median(part, func(s Sample) int64 { return s.RSS }), Bytes: median(part, func(s Sample) int64 { return s.Bytes }),
			WAL:         median(part, func(s Sample) int64 { return s.WAL }),
			Descriptors: int(median(part, func(s Sample) int64 { return int64(s.Descriptors) })),
			Threads:     int(median(part, func(s Sample) int64 { return int64(s.Threads) })),
			Files:       int(median(part, func(s Sample) int64 { return int64(s.Files) })),
		})
	}
	return out
}

func median(list []Sample, of func(Sample) int64) int64 {
	var values []int64
	for _, s := range list {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// judge finds what has grown from the middle third of the run to the last one by
// more than chance: the first third is for getting warm.
func (r *Report) judge(servers int) {
	if len(r.Thirds) == 3 {
		middle, last := r.Thirds[1], r.Thirds[2]
		// slack is what a value may grow by without meaning anything: a part of it,
		// and at least so much.
		grew := func(what string, from, to, least int64, percent int64) {
			if to-from > max(from*percent/100, least) {
				r.Found = append(r.Found, fmt.Sprintf("%s grew from %d to %d", what, from, to))
			}
		}
		n := int64(servers)
		grew("memory", middle.RSS, last.RSS, 3<<20*n, 15)
		grew("descriptors", int64(middle.Descriptors), int64(last.Descriptors), 2*n, 0)
		grew("threads", int64(middle.Threads), int64(last.Threads), 2*n, 10)
		grew("files", int64(middle.Files), int64(last.Files), 2*n, 25)
		grew("the size of files", middle.Bytes, last.Bytes, 256<<10, 25)
		grew("the log of the store", middle.WAL, last.WAL, 4<<20, 50)
	}
	if g := r.Goroutines; g.After > g.Before+3 {
		r.Found = append(r.Found, fmt.Sprintf("%d goroutines are left, after one review of each host there are %d; more are %s", g.After, g.Before, g.More))
	}
}

// tried words how much was done.
func (r *Report) tried() string {
	if len(r.Tools) == 0 {
		return "no call"
	}
	all := r.Tools[len(r.Tools)-1]
	return fmt.Sprintf("%d calls, %.0f a second, p50 %s, p99 %s", r.Calls, r.PerSecond, duration(all.P50), duration(all.P99))
}

// Row is the report in one line.
func (r *Report) Row() table.Row {
	return table.Row{What: r.Name(), Tried: r.tried(), Found: r.Found, Took: time.Duration(r.Seconds * float64(time.Second))}
}

func duration(us float64) string {
	switch {
	case us >= 1e6:
		return fmt.Sprintf("%.2f s", us/1e6)
	case us >= 1e4:
		return fmt.Sprintf("%.0f ms", us/1e3)
	case us >= 1e3:
		return fmt.Sprintf("%.1f ms", us/1e3)
	}
	return fmt.Sprintf("%.0f µs", us)
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d B", bytes)
}

// Print writes the report for people.
func (r *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(t, format+"\n", args...) }
	p("%s servers × hosts of each, %s: %.0f s, %d calls, %.0f a second", Shape{r.Servers, r.Hosts}, r.Kind, r.Seconds, r.Calls, r.PerSecond)
	p("what a host that calls once a second does in %.1f hours, for each server", r.Hours)
	p("  tool\tcalls\tp50\tp90\tp99\tmax")
	for _, tool := range r.Tools {
		p("  %s\t%d\t%s\t%s\t%s\t%s", tool.Tool, tool.Calls, duration(tool.P50), duration(tool.P90), duration(tool.P99), duration(tool.Max))
	}
	p("  all servers\tmemory\tdescriptors\tthreads\tfiles\tsize\tlog")
	line := func(name string, s Sample) {
		p("  %s\t%s\t%d\t%d\t%d\t%s\t%s", name, size(s.RSS), s.Descriptors, s.Threads, s.Files, size(s.Bytes), size(s.WAL))
	}
	for i, s := range r.Thirds {
		line([]string{"first third", "middle third", "last third"}[i], s)
	}
	line("at most", r.Peak)
	p("  goroutines of a server at rest: %d after one review of each host, %d after the load", r.Goroutines.Before, r.Goroutines.After)
	for _, phrase := range slices.Sorted(maps.Keys(r.Refused)) {
		p("  refused, as is to be expected: %d × %s", r.Refused[phrase], phrase)
	}
	verdict := "flat, no errors"
	if len(r.Found) > 0 {
		verdict = strings.Join(r.Found, "; ")
	}
	p("  verdict: %s\n", verdict)
	return t.Flush()
}
