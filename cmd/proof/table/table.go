// Package table holds what the programs that break and measure qa-orch found, a
// row for each thing that they tried.
package table

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// Row is one thing that was tried.
type Row struct {
	// What was tried to break, and how often or with how much.
	What, Tried string
	// Found is what is wrong, one line each; empty when nothing is.
	Found []string
	Took  time.Duration
}

// Failed reports whether something was found.
func Failed(rows []Row) bool {
	for _, r := range rows {
		if len(r.Found) > 0 {
			return true
		}
	}
	return false
}

// Print writes rows as a table, and below it in full what was found.
func Print(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\ttried\tfound\ttime")
	for _, r := range rows {
		found, took := "nothing", "–"
		if n := len(r.Found); n > 0 {
			found = fmt.Sprintf("%d, see below", n)
		}
		if r.Took > 0 {
			took = fmt.Sprintf("%.1f s", r.Took.Seconds())
		}
		tried := wrap(r.Tried)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.What, tried[0], found, took)
		for _, line := range tried[1:] {
			fmt.Fprintf(t, "\t%s\t\t\n", line)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		for _, f := range r.Found {
			if _, err := fmt.Fprintf(w, "\n%s: %s\n", r.What, strings.ReplaceAll(f, "\n", "\n    ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// widest is the width of what was tried, in characters.
const widest = 72

// wrap breaks text into lines.
func wrap(text string) (lines []string) {
	line := ""
	for part := range strings.SplitAfterSeq(text, " ") {
		if line != "" && utf8.RuneCountInString(line)+utf8.RuneCountInString(strings.TrimSpace(part)) > widest {
			lines = append(lines, strings.TrimSpace(line))
			line = ""
		}
		line += part
	}
	return append(lines, strings.TrimSpace(line))
}

// ReportVar names the variable with the path of a file that tests append rows
// to, one JSON object {"what", "tried", "found"} a line. found is empty when
// nothing is wrong.
const ReportVar = "QA_ORCH_PROOF_REPORT"

// ReadReport reads such a file; one that is not there has no rows.
func ReadReport(path string) ([]Row, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows []Row
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var line struct{ What, Tried, Found string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r := Row{What: line.What, Tried: line.Tried}
		if line.Found != "" && line.Found != "nothing" {
			r.Found = []string{line.Found}
		}
		rows = append(rows, r)
	}
	return rows, lines.Err()
}
