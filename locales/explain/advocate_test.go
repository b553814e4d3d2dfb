package explain_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/gate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
)

// worded checks that something is said in both languages, each in its own.
func worded(t *testing.T, what any, say func(*locales.Printer) string) {
	t.Helper()
	for _, lang := range locales.Langs() {
		text := say(locales.New(lang))
		cyrillic := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) })
		if text == "" || strings.Contains(text, "explain.") || strings.Contains(text, "<no value>") || cyrillic != (lang == locales.Ru) {
			t.Errorf("%v, %v: %q", lang, what, text)
		}
	}
}

func TestEveryAdvocateErrorIsWorded(t *testing.T) {
	t.Parallel()
	for _, code := range []advocate.Code{
		advocate.ClaimTooShort, advocate.UnknownMode, advocate.UnknownReview, advocate.ItemsNotList, advocate.NoItems,
		advocate.OneItemOnly, advocate.TooManyItems, advocate.Rejected, advocate.AlreadyComplete, advocate.AlreadyAbandoned,
		advocate.NotComplete, advocate.ReasonMissing, advocate.UnknownFormat, advocate.DamagedReview, advocate.FolderTrouble,
		advocate.TooLarge, advocate.NoFreeID,
	} {
		e := &advocate.Error{Code: code, Review: "rev-aaaa", Phase: advocate.Setup, Have: 3, Need: 10, Items: 2, File: "f.json", Cause: fs.ErrPermission}
		worded(t, code, func(p *locales.Printer) string { return explain.Advocate(p, e) })
	}
	worded(t, "another error", func(p *locales.Printer) string { return explain.Advocate(p, fs.ErrNotExist) })
}

func TestEveryFaultIsWorded(t *testing.T) {
	t.Parallel()
	for _, code := range []advocate.FaultCode{
		advocate.FaultSyntax, advocate.FaultNotObject, advocate.FaultType, advocate.FaultTime, advocate.FaultMissing, advocate.FaultUnknown, advocate.FaultRange,
		advocate.FaultPhases, advocate.FaultContradict, advocate.FaultItem, advocate.FaultName, advocate.FaultOtherID, advocate.FaultLink,
		advocate.FaultIrregular, advocate.FaultTooLarge, advocate.FaultUnreadable,
	} {
		f := &advocate.Fault{Code: code, Field: "status", Phase: advocate.Setup, Number: 7, Cause: fs.ErrPermission}
		worded(t, code, func(p *locales.Printer) string { return explain.Fault(p, f) })
	}
}

func TestEveryProblemIsWorded(t *testing.T) {
	t.Parallel()
	for kind := advocate.NotAnObject; kind < advocate.LowQuality; kind++ {
		worded(t, kind, func(p *locales.Printer) string {
			return explain.Problem(p, advocate.Problem{Kind: kind, Field: "text", Have: 12})
		})
	}
	for _, f := range []gate.Finding{
		{Check: gate.LowInformation, Distinct: 1, Need: 4},
		{Check: gate.LowInformation, Distinct: 2, Top: 5, Total: 6},
		{Check: gate.RestatesClaim, Distinct: 6, Shared: 5, New: 1},
		{Check: gate.ParrotsTarget, Distinct: 6, Shared: 5, New: 1},
		{Check: gate.NearDuplicate, Overlap: 90},
	} {
		for _, saved := range []bool{false, true} {
			worded(t, f, func(p *locales.Printer) string {
				return explain.Problem(p, advocate.Problem{Kind: advocate.LowQuality, Field: "text", Finding: f, TwinSaved: saved})
			})
		}
	}
}

// The words of a real refusal, with their plurals.
func TestRejection(t *testing.T) {
	t.Parallel()
	r, err := advocate.New("rev-aaaa", "Релиз 4.2 готов к выпуску", advocate.Assumptions, "", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Submit([]any{
		map[string]any{"text": "коротко", "load_bearing": 1, "evidence": "so-so"},
		map[string]any{"text": "Это просто очень плохая идея", "load_bearing": true, "evidence": "none"},
	}, time.Unix(0, 0))
	var e *advocate.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	head, items := explain.Rejection(locales.New(locales.Ru), e)
	got := head + "\n" + strings.Join(items, "\n")
	want := `ничего не сохранено: доработать нужно 2 пункта
пункт 1: в поле text 7 знаков, а нужно не меньше 20
пункт 1: значение поля load_bearing не того типа
пункт 1: в поле evidence может быть verified, partial или none
пункт 2: мало сведений: 0 значимых слов, а нужно не меньше 3; назовите конкретный факт, причину или шаг`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
