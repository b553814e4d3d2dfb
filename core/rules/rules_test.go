package rules

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
)

func TestTheTextCoversTheContract(t *testing.T) {
	t.Parallel()
	text := Text()
	for _, s := range review.SignalNames() {
		if support[s] == "" || !strings.Contains(text, "- `"+string(s)+"`: "+support[s]) {
			t.Errorf("%s is not explained", s)
		}
	}
	if len(support) != len(review.SignalNames()) {
		t.Error("a signal is explained that does not exist")
	}
	for _, b := range catalog.Bundles() {
		if !strings.Contains(text, "- `"+string(b)+"`: ") {
			t.Errorf("bundle %s is missing", b)
		}
	}
	for _, p := range catalog.Profiles() {
		if !strings.Contains(text, "`"+string(p)+"`") {
			t.Errorf("profile %s is missing", p)
		}
	}
	if strings.Contains(text, "{{") || strings.Contains(text, "<!--") {
		t.Error("a placeholder or a comment is left in the text")
	}
}

func TestInstallThenRemoveRestoresTheBytes(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"# Mine\n", "# Mine", "# Mine\n\n\n", "\xef\xbb\xbf# Мой\r\n\r\ntext\r\n", "a\r\nb", "\n", "text <!-- other:begin -->\n", "a\rb\r", "a\n\r",
	} {
		one, err := Install([]byte(data), "")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(one, []byte(data)) {
			t.Errorf("%q was changed: %q", data, one[:40])
		}
		if strings.Contains(data, "\r\n") && strings.Count(string(one), "\r\n") != strings.Count(string(one), "\n") {
			t.Errorf("%q: line ends are mixed", data)
		}
		two, err := Install(one, "")
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%q: installing twice differs (%v)", data, err)
		}
		back, err := Remove(two, "")
		if err != nil || string(back) != data {
			t.Errorf("%q: removed to %q (%v)", data, back, err)
		}
	}
}

func TestAFileOfOursBeginsWithItsFrontAndGoes(t *testing.T) {
	t.Parallel()
	const front = "---\na: b\n---\n"
	one, err := Install(nil, front)
	if err != nil || !strings.HasPrefix(string(one), front+Begin) {
		t.Fatalf("%v %s", err, one)
	}
	if back, err := Remove(one, front); err != nil || len(back) != 0 {
		t.Errorf("%q %v", back, err)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]Code{
		Begin + "\n":                      Markers,
		End + "\n" + Begin:                Markers,
		Block() + Block():                 Markers,
		"\xff\xfe#\x00":                   NotText,
		Begin + "\n" + Begin + "\n" + End: Markers,
	} {
		var problem *Error
		if _, err := Install([]byte(data), ""); !errors.As(err, &problem) || problem.Code != want {
			t.Errorf("%q: %v", data, err)
		}
		if _, err := Remove([]byte(data), ""); !errors.As(err, &problem) || problem.Code != want {
			t.Errorf("%q: remove: %v", data, err)
		}
	}
}
