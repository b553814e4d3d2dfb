package rules

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzInstall: whatever a person's file holds, installing keeps every byte of it,
// installing again changes nothing, and removing gives the same bytes back; a file
// that can't be understood is left alone.
func FuzzInstall(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, withFront bool) {
		front := ""
		if withFront {
			front = "---\na: b\n---\n"
		}
		one, err := Install(data, front)
		var problem *Error
		if errors.As(err, &problem) {
			text := utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
			marked := bytes.Contains(data, []byte(beginPrefix)) || bytes.Contains(data, []byte(End))
			if one != nil || problem.Code == NotText && text || problem.Code == Markers && !marked {
				t.Fatalf("%v, and yet %q", err, one)
			}
			if back, err := Remove(data, front); !errors.As(err, &problem) || !bytes.Equal(back, data) {
				t.Fatalf("removing from it gives %q, %v", back, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(bytes.ReplaceAll(one, []byte("\r\n"), []byte("\n")), []byte(Block())) {
			t.Fatalf("the instructions are not in %q", one)
		}
		two, err := Install(one, front)
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("installing twice differs, %v:\n%q\n%q", err, one, two)
		}
		back, err := Remove(one, front)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(data, []byte(beginPrefix)); at >= 0 {
			// They were there before: what is around them stays, and a second time nothing more goes.
			end := bytes.Index(data, []byte(End)) + len(End)
			for _, kept := range [][]byte{data[:at], data[end:]} {
				if kept = bytes.TrimSpace(kept); !bytes.Contains(back, kept) && strings.TrimSpace(string(kept)) != strings.TrimSpace(front) {
					t.Fatalf("%q is lost from %q", kept, back)
				}
			}
		} else if !bytes.Equal(back, data) && (front == "" || strings.TrimSpace(string(data)) != strings.TrimSpace(front)) {
			t.Fatalf("it became %q and was %q", back, data)
		}
		if again, err := Remove(back, front); err != nil || !bytes.Equal(again, back) {
			t.Fatalf("removing twice differs, %v: %q, %q", err, back, again)
		}
	})
}
