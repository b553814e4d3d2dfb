package locales

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count returns a whole number with its digits grouped as the language does: "12,345", "12 345"
// (no-break space; four digits stay together in Russian).
func (p *Printer) Count(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	sep := ","
	if p.lang == Ru {
		if len(s) < 5 {
			return sign + s
		}
		sep = "\u00a0"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + sep + s[i:]
	}
	return sign + s
}

// Decimal returns a number with that many digits after the decimal mark of the language.
func (p *Printer) Decimal(f float64, digits int) string {
	s := strconv.FormatFloat(f, 'f', digits, 64)
	if p.lang == Ru {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s
}

// Bytes returns a size in bytes in units of a thousand: "512 B", "4.2 kB", "1.3 MB".
func (p *Printer) Bytes(n int64) string {
	units := strings.Fields(p.T("format.bytes"))
	value, unit := float64(n), 0
	for value >= 999.5 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	digits := 0
	if unit > 0 && value < 9.95 {
		digits = 1
	}
	return p.Decimal(value, digits) + " " + units[unit]
}

// span is a length of time in one unit.
type span struct {
	unit  string // a word of durationUnits
	count int
}

var durationUnits = NewFamily("format.short.", "d", "h", "m", "s", "ms")

// spans cuts d, negative taken as zero, rounded to the smallest unit that is shown: milliseconds
// below one second, else seconds. It never returns an empty list.
func spans(d time.Duration) []span {
	d = max(d, 0)
	if d = d.Round(time.Millisecond); d < time.Second {
		if d == 0 {
			return []span{{"s", 0}}
		}
		return []span{{"ms", int(d.Milliseconds())}}
	}
	seconds := int(d / time.Second)
	all := []span{
		{"d", seconds / 86400},
		{"h", seconds / 3600 % 24},
		{"m", seconds / 60 % 60},
		{"s", seconds % 60},
	}
	first := 0
	for all[first].count == 0 {
		first++
	}
	out := all[first:min(first+2, len(all))]
	if len(out) == 2 && out[1].count == 0 {
		out = out[:1]
	}
	return out
}

// Duration returns a length of time in its two largest units, cut short: "29m 5s", "29 мин 5 с".
func (p *Printer) Duration(d time.Duration) string {
	var parts []string
	for _, s := range spans(d) {
		parts = append(parts, p.Word(durationUnits, s.unit, Vars{"Count": p.Count(s.count)}))
	}
	return strings.Join(parts, " ")
}

// Ago returns how long ago something was: "5m ago", "5 мин назад".
func (p *Printer) Ago(d time.Duration) string {
	return p.T("format.ago", Vars{"Duration": p.Duration(d)})
}

var months = NewFamily("format.month.",
	"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")

// Date returns the day of t in t's own time zone: "1 December 2026", "1 декабря 2026".
func (p *Printer) Date(t time.Time) string {
	month := p.Word(months, strconv.Itoa(int(t.Month())))
	return fmt.Sprintf("%d %s %d", t.Day(), month, t.Year())
}

// DateTime returns the day and minute of t in t's own time zone: "1 December 2026, 14:05".
func (p *Printer) DateTime(t time.Time) string { return p.Date(t) + ", " + t.Format("15:04") }

// Clock returns the time of day of t to the second, in t's own time zone: "14:05:09".
func (p *Printer) Clock(t time.Time) string { return t.Format("15:04:05") }

// Or joins alternatives: "a", "a or b", "a, b or c".
func (p *Printer) Or(items []string) string { return list(items, p.T("format.or")) }

// And joins the members of a set: "a", "a and b", "a, b and c".
func (p *Printer) And(items []string) string { return list(items, p.T("format.and")) }

func list(items []string, last string) string {
	switch n := len(items); n {
	case 0:
		return ""
	case 1:
		return items[0]
	default:
		return strings.Join(items[:n-1], ", ") + " " + last + " " + items[n-1]
	}
}
