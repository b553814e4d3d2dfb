package locales

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestPrinterFallsBackAndNeverFails(t *testing.T) {
	t.Parallel()
	for _, lang := range Langs() {
		p := New(lang)
		if got := p.T("no.such.message"); got != "no.such.message" {
			t.Errorf("%v: a missing message gives %q", lang, got)
		}
		if got := p.N("no.such.message", 3); got != "no.such.message" {
			t.Errorf("%v: a missing plural message gives %q", lang, got)
		}
		if got := p.T("format.ago"); got != "format.ago" {
			t.Errorf("%v: a missing variable gives %q", lang, got)
		}
		if got := p.T("format.ago", Vars{"Wrong": 1}); got != "format.ago" {
			t.Errorf("%v: a wrong variable gives %q", lang, got)
		}
		if p.Has("no.such.message") || !p.Has("format.ago") {
			t.Errorf("%v: Has is wrong", lang)
		}
		if got := p.Word(months, "13\x1b"); got != `13\x1b` {
			t.Errorf("%v: a word outside the family gives %q", lang, got)
		}
	}
}

func TestPluralForms(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]string{
		0:   {"0 models", "0 моделей"},
		1:   {"one model", "1 модель"},
		2:   {"2 models", "2 модели"},
		5:   {"5 models", "5 моделей"},
		11:  {"11 models", "11 моделей"},
		21:  {"21 models", "21 модель"},
		22:  {"22 models", "22 модели"},
		101: {"101 models", "101 модель"},
		111: {"111 models", "111 моделей"},
		-2:  {"-2 models", "-2 модели"},
	} {
		for _, lang := range Langs() {
			if got := New(lang).N("doctor.models-known", n); got != want[lang] {
				t.Errorf("%v %d: got %q, want %q", lang, n, got, want[lang])
			}
		}
	}
}

func TestVariablesAreInertUnlessStyled(t *testing.T) {
	t.Parallel()
	p := New(En)
	for _, c := range []struct {
		value any
		want  string
	}{
		{"\x1b[31m\n", `\x1b[31m\n ago`},
		{errors.New("bad\aness"), `bad\x07ness ago`},
		{Styled("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m ago"},
		{"<b>&amp;{{.X}}</b>", "<b>&amp;{{.X}}</b> ago"},
		{5, "5 ago"},
		{M("format.or"), "or ago"},
		{OneOf{"a", "b\x1b", "c"}, `a, b\x1b or c ago`},
		{named("\x1b[2J"), `\x1b[2J ago`},
		{[]string{"\a", "b"}, `[\x07 b] ago`},
	} {
		if got := p.T("format.ago", Vars{"Duration": c.value}); got != c.want {
			t.Errorf("%v: got %q, want %q", c.value, got, c.want)
		}
	}
}

func TestMessagesAreSaidLater(t *testing.T) {
	t.Parallel()
	m, n := M("format.ago", Vars{"Duration": "\x07"}), MN("doctor.models-known", 21)
	if got := m.In(New(Ru)); got != `\x07 назад` {
		t.Errorf("got %q", got)
	}
	if got := n.In(New(En)) + n.In(New(Ru)); got != "21 models21 модель" {
		t.Errorf("got %q", got)
	}
	if !(Message{}).IsZero() || (Message{}).In(New(En)) != "" || m.IsZero() {
		t.Error("the zero message is not told apart")
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	ids := New(Ru).IDs("format")
	if !slices.Contains(ids, "format.ago") || !slices.IsSorted(ids) {
		t.Errorf("got %q", ids)
	}
	for _, area := range []string{"", "no-such-area", "form", "../messages"} {
		if ids := New(Ru).IDs(area); len(ids) > 0 {
			t.Errorf("%q: got %q", area, ids)
		}
	}
}

func TestPrintersMayBeShared(t *testing.T) {
	t.Parallel()
	v := &voice{lang: Ru}
	var group sync.WaitGroup
	for _, id := range []string{"format.or", "error.args-none", "cause.denied", "frame.usage"} {
		group.Go(func() {
			for range 100 {
				if _, ok := v.localize(id, nil, nil); !ok {
					t.Errorf("%s is not said", id)
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkFirstWord(b *testing.B) {
	for b.Loop() {
		(&voice{lang: Ru}).localize("help.root.short", nil, nil)
	}
}

func BenchmarkWord(b *testing.B) {
	p := New(Ru)
	for b.Loop() {
		p.N("doctor.models-known", 5)
	}
}
