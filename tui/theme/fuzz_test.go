package theme

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/muesli/termenv"
)

// counting counts what is read.
type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// FuzzBackground: whatever a terminal answers and the environment holds, a
// background is known only where it was told, as it was told, and no more is read
// than an answer can be.
func FuzzBackground(f *testing.F) {
	f.Fuzz(func(t *testing.T, answer []byte, colorfgbg, term, colorterm, force string, red, green, blue uint16) {
		in := &counting{Reader: bytes.NewReader(answer)}
		if _, known := parseBackground(in); known && !bytes.Contains(answer, []byte("\x1b]11;rgb")) {
			t.Errorf("the background is known from %q", answer)
		}
		if in.n > 1024+64 {
			t.Errorf("read %d bytes", in.n)
		}
		light := 0.2126*float64(red)+0.7152*float64(green)+0.0722*float64(blue) >= 0.5*0xffff
		for _, end := range []string{"\x07", "\x1b\\"} {
			told := fmt.Sprintf("\x1b]11;rgb:%04x/%04x/%04x%s\x1b[?62;c", red, green, blue, end)
			if dark, known := parseBackground(bytes.NewReader([]byte(told))); !known || dark == light {
				t.Errorf("%q: dark %v, known %v", told, dark, known)
			}
		}
		values := map[string]string{"COLORFGBG": colorfgbg, "TERM": term, "COLORTERM": colorterm, "FORCE_COLOR": force}
		getenv := func(name string) string { return values[name] }
		if dark, known := Background(Auto, getenv); dark && !known {
			t.Errorf("%q: dark and not known", colorfgbg)
		}
		if p := Colors(getenv, false); force == "" && p != termenv.Ascii {
			t.Errorf("colours without a terminal: %v", p)
		}
	})
}
