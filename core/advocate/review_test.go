package advocate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/gate"
)

// cheat is what the classic cheats are made of, in one language.
type cheat struct {
	claim      string
	honest     [3]string // three counterarguments
	rebuttal   string    // an honest answer to the first
	inflected  string    // the first in other words' forms
	claimAgain string    // the claim with a negation and filler
}

var cheats = map[string]cheat{
	"en": {
		claim: "The new billing service is ready for all customers on Friday",
		honest: [3]string{
			"Refund rounding was last exercised before the tax library changed in March",
			"Both earlier Friday deployments needed a weekend hotfix by the on-call engineer",
			"Sales promised the date to two prospects, so warnings are read with optimism",
		},
		rebuttal:   "Four hundred anonymised returns were replayed on staging and every total matched",
		inflected:  "Rounding of refunds was last exercised before tax libraries changed in March",
		claimAgain: "Obviously the new billing services are really not ready for all of the customers on Friday",
	},
	"es": {
		claim: "El nuevo servicio de facturación está listo para todos los clientes el viernes",
		honest: [3]string{
			"El redondeo de reembolsos se probó por última vez antes de cambiar la biblioteca fiscal",
			"Los dos despliegues anteriores exigieron un parche durante el fin de semana",
			"Ventas prometió la fecha a dos compradores, y las alertas se leen con optimismo",
		},
		rebuttal:   "Anoche reprodujimos cuatrocientas devoluciones anónimas en preproducción sin diferencias",
		inflected:  "Los redondeos del reembolso se probó por última vez antes de cambiar bibliotecas fiscales",
		claimAgain: "Claramente los nuevos servicios de facturacion no están listos para todos los clientes el viernes",
	},
	"ru": {
		claim: "Новый сервис выставления счетов готов для всех клиентов к пятнице",
		honest: [3]string{
			"Округление возвратов последний раз проверяли до смены налоговой библиотеки в марте",
			"Оба прошлых пятничных развёртывания потребовали исправлений в выходные",
			"Отдел продаж обещал дату двум покупателям, поэтому тревожные признаки читают с надеждой",
		},
		rebuttal:   "Вчера на стенде проиграли четыреста обезличенных операций, и итоги совпали до копейки",
		inflected:  "Округления возврата последний раз проверяли до смены налоговых библиотек в марте",
		claimAgain: "Очевидно, что новые сервисы выставления счетов вовсе не готовы для всех клиентов к пятнице",
	},
}

// found is the problems of a refusal, as item and check.
func found(t *testing.T, err error) string {
	t.Helper()
	var e *advocate.Error
	if !errors.As(err, &e) {
		t.Fatalf("not refused: %v", err)
	}
	var s []string
	for _, p := range e.Problems {
		if !strings.Contains(err.Error(), fmt.Sprintf("\nitem %d: '%s' ", p.Item, p.Field)) {
			t.Errorf("item %d and field %s are not named in: %v", p.Item, p.Field, err)
		}
		s = append(s, fmt.Sprintf("%d %s", p.Item, p.Finding.Check))
	}
	return strings.Join(s, ", ")
}

func TestClassicCheats(t *testing.T) {
	t.Parallel()
	for lang, c := range cheats {
		t.Run(lang, func(t *testing.T) {
			r, err := advocate.New("rev-test", c.claim, advocate.DevilsAdvocate, "", noon)
			if err != nil {
				t.Fatal(err)
			}
			counter := func(category string, text string) obj { return obj{"text": text, "category": category, "severity": 4} }
			refused := func(want string, items ...any) {
				t.Helper()
				_, err := r.Submit(raw(t, items...), noon)
				if got := found(t, err); got != want {
					t.Errorf("refused for %s, want %s: %v", got, want, err)
				}
				if !strings.Contains(err.Error(), "nothing was saved") {
					t.Errorf("does not say that nothing was saved: %v", err)
				}
			}
			letter := map[string]string{"en": "x", "es": "ñ", "ru": "ы"}[lang]
			refused("0 low_information", counter("evidence", strings.Repeat(letter, 30)))
			refused("1 near_duplicate, 2 near_duplicate",
				counter("evidence", c.honest[0]), counter("scope", c.honest[0]), counter("incentives", c.inflected))
			refused("0 restates_claim, 1 restates_claim", counter("evidence", c.claim), counter("scope", c.claimAgain))

			play(t, r, counter("evidence", c.honest[0]), counter("scope", c.honest[1]), counter("incentives", c.honest[2]))
			answer := func(i int, text string) obj { return obj{"index": i, "verdict": "refuted", "justification": text} }
			refused("0 restates_claim, 1 parrots_target, 2 low_information",
				answer(0, c.claimAgain), answer(1, strings.ToUpper(c.honest[1])), answer(2, strings.Repeat(letter+" ", 30)))
			refused("0 parrots_target", answer(0, c.inflected))
			play(t, r, answer(0, c.rebuttal))
		})
	}
}

func TestOneRefusalListsEveryProblem(t *testing.T) {
	t.Parallel()
	r := begin(t, advocate.DevilsAdvocate)
	_, err := r.Submit(raw(t,
		obj{"text": fact(1), "category": "evidence", "severity": 3},
		obj{"text": fact(1), "category": "evidence", "severity": 3},
		obj{"text": fact(1), "category": "nonsense", "severity": 9},
		"no object",
		obj{"text": "bug bug bug bug bug bug bug bug", "category": "scope", "severity": 1},
		obj{"text": "bug bug bug bug bug bug bug bug bug", "category": "scope", "severity": 1},
	), noon)
	const want = `nothing was saved: 5 of the 6 submitted items need work. Fix them and submit all of them again.
item 1: 'text' is a near-duplicate of item 0 of this submission: 100 % of their words are the same, fewer than 80 % may be; say something different or leave it out
item 2: 'category' must be one of evidence, incentives, base_rates, alternatives, second_order, scope
item 2: 'severity' must be an integer from 1 to 5
item 3: must be a JSON object with the fields text, category, severity
item 4: 'text' is low on information: it has 1 distinct content words and needs 4; give a concrete fact, cause or step
item 5: 'text' is low on information: it has 1 distinct content words and needs 4; give a concrete fact, cause or step`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if n := len(r.Items(advocate.Counterarguments)); n != 0 {
		t.Errorf("%d items were saved", n)
	}
}

// Each thing that can be wrong with an index has a kind of its own.
func TestIndexProblems(t *testing.T) {
	t.Parallel()
	r, n := begin(t, advocate.DevilsAdvocate), &numbers{}
	for range 2 {
		play(t, r, obj{"text": n.next(), "category": "scope", "severity": 4})
	}
	play(t, r, obj{"text": n.next(), "category": "evidence", "severity": 2})
	play(t, r, obj{"index": 0, "verdict": "refuted", "justification": n.next()})
	answer := func(index any) obj { return obj{"index": index, "verdict": "refuted", "justification": n.next()} }
	_, err := r.Submit(raw(t, answer(3), answer(-1), answer(2), answer(0), answer(1), answer(1), answer(nil), answer("1"),
		answer(json.Number("1.0")), answer(json.Number("100000000000000000000"))), noon)
	var e *advocate.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	var kinds []advocate.ProblemKind
	for _, p := range e.Problems {
		if p.Field != "index" {
			t.Errorf("item %d: field %s", p.Item, p.Field)
		}
		kinds = append(kinds, p.Kind)
	}
	want := []advocate.ProblemKind{
		advocate.IndexUnknown, advocate.IndexUnknown, advocate.IndexNeedsNone, advocate.IndexAnswered,
		advocate.IndexTwice, advocate.Missing, advocate.WrongType, advocate.WrongType, advocate.IndexUnknown,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v: %v", kinds, want, err)
	}
}

func TestDecodeItems(t *testing.T) {
	t.Parallel()
	for in, n := range map[string]int{
		`[]`: 0, `[1, "a"]`: 2, ` [{"text": "x"}] `: 1, `"[{\"text\": \"x\"}, {}]"`: 2,
		`null`: -1, `{}`: -1, `7`: -1, `"text"`: -1, `"\"[]\""`: -1, ``: -1, `[`: -1, `[] []`: -1, `"[] x"`: -1, `true`: -1,
	} {
		items, err := advocate.DecodeItems([]byte(in))
		if n < 0 {
			if codeOf(err) != advocate.ItemsNotList {
				t.Errorf("%s: %v", in, err)
			}
		} else if err != nil || len(items) != n {
			t.Errorf("%s: %d items, %v", in, len(items), err)
		}
	}
}

// A submission that is refused must leave the review as it was, byte for byte.
func TestRefusalChangesNothing(t *testing.T) {
	t.Parallel()
	r := begin(t, advocate.Assumptions)
	good := obj{"text": fact(1), "load_bearing": true, "evidence": "none"}
	play(t, r, good)
	before, err := r.MarshalFile()
	if err != nil {
		t.Fatal(err)
	}
	for _, items := range [][]any{{}, {good}, {obj{"text": fact(2), "load_bearing": true, "evidence": "none"}, obj{}}, {nil}} {
		if _, err := r.Submit(raw(t, items...), noon.Add(1e12)); err == nil {
			t.Errorf("%v was accepted", items)
		}
		if _, err := r.Abandon("  \n ", noon.Add(1e12)); codeOf(err) != advocate.ReasonMissing {
			t.Errorf("abandoned without a reason: %v", err)
		}
	}
	if after, _ := r.MarshalFile(); string(after) != string(before) {
		t.Errorf("changed to %s", after)
	}
}

func TestFinishedReviewsAreFinal(t *testing.T) {
	t.Parallel()
	done := begin(t, advocate.Steelman)
	new(numbers).points(t, done, 1, 2)
	gone := begin(t, advocate.Steelman)
	if a, err := gone.Abandon("  no longer needed ", noon); err != nil || a.Reason != "no longer needed" || a.Status != advocate.Abandoned {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, c := range []struct {
		review *advocate.Review
		code   advocate.Code
	}{{done, advocate.AlreadyComplete}, {gone, advocate.AlreadyAbandoned}} {
		if _, err := c.review.Submit(raw(t, obj{"text": fact(99)}), noon); codeOf(err) != c.code {
			t.Errorf("submit: %v", err)
		}
		if _, err := c.review.Abandon("again", noon); codeOf(err) != c.code {
			t.Errorf("abandon: %v", err)
		}
		s := c.review.Standing()
		if s.Phase != nil || s.Step != nil || s.Missing != nil || s.Instructions != nil {
			t.Errorf("standing: %+v", s)
		}
	}
	if _, err := gone.Verdict(); codeOf(err) != advocate.AlreadyAbandoned {
		t.Errorf("verdict: %v", err)
	}
	if _, err := begin(t, advocate.Steelman).Verdict(); codeOf(err) != advocate.NotComplete {
		t.Errorf("verdict: %v", err)
	}
}

func TestStartIsChecked(t *testing.T) {
	t.Parallel()
	for claim, ok := range map[string]bool{
		"0123456789": true, "  012345678  ": false, "Añadir VPN": true, "": false, "🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂": true, "\u00a0\u3000012345678": false,
	} {
		_, err := advocate.New("rev-test", claim, advocate.Steelman, "", noon)
		if ok != (err == nil) || !ok && codeOf(err) != advocate.ClaimTooShort {
			t.Errorf("%q: %v", claim, err)
		}
	}
	if _, err := advocate.New("rev-test", "0123456789", "Steelman", "", noon); codeOf(err) != advocate.UnknownMode || !strings.Contains(err.Error(), "gauntlet") {
		t.Errorf("unknown mode: %v", err)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	r, n := begin(t, advocate.DevilsAdvocate), &numbers{}
	count := func(want int) {
		t.Helper()
		if missing := r.Missing(); len(missing) != want {
			t.Errorf("missing %v, want %d entries", missing, want)
		}
	}
	count(2)
	play(t, r, obj{"text": n.next(), "category": "scope", "severity": 3}, obj{"text": n.next(), "category": "scope", "severity": 3})
	count(2)
	play(t, r, obj{"text": n.next(), "category": "scope", "severity": 3})
	count(1)
	if m := r.Missing()[0]; m.Kind != advocate.NeedCategories || m.Have != 1 || m.Need != 2 {
		t.Errorf("missing %+v", m)
	}
	if result := play(t, r, obj{"text": n.next(), "category": "evidence", "severity": 1}); result.Status != advocate.PhaseComplete {
		t.Errorf("status %s", result.Status)
	}
	count(3)
	play(t, r, obj{"index": 1, "verdict": "holds", "justification": n.next()})
	count(2)
}

// noNulls fails when a list is null somewhere in the JSON; the named members may be.
func noNulls(t *testing.T, what string, v any, but ...string) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, name := range but {
		text = strings.ReplaceAll(text, fmt.Sprintf("%q:null", name), "")
	}
	if strings.Contains(text, "null") {
		t.Errorf("%s has null: %s", what, data)
	}
}

func TestResultsAsJSON(t *testing.T) {
	t.Parallel()
	for _, mode := range advocate.Modes() {
		noNulls(t, "start", begin(t, mode).Started())
		noNulls(t, "standing", begin(t, mode).Standing())
	}
	r := begin(t, advocate.Premortem)
	noNulls(t, "phase_complete", play(t, r, obj{"horizon": " 2y "}))
	noNulls(t, "in_progress", play(t, r, obj{"text": fact(1), "likelihood": 3, "impact": 3, "extra": 5}))
	result := play(t, r, obj{"text": fact(2), "likelihood": 3, "impact": 5}, obj{"text": fact(3), "likelihood": 1, "impact": 1}, obj{"text": fact(4), "likelihood": 1, "impact": 1})
	data, _ := json.Marshal(result)
	if want := fmt.Sprintf(`"targets":[{"index":0,"text":%q,"likelihood":3,"impact":3},{"index":1,`, fact(1)); !strings.Contains(string(data), want) {
		t.Errorf("no %s in %s", want, data)
	}
	if strings.Contains(string(data), "extra") {
		t.Errorf("an unknown field was kept: %s", data)
	}
	play(t, r, obj{"index": 0, "action": fact(5), "residual_risk": "low"})
	result = play(t, r, obj{"index": 1, "action": fact(6), "residual_risk": "low"})
	data, _ = json.Marshal(result)
	if want := `{"review_id":"rev-test","status":"complete","completed_phase":"mitigations","accepted":1,"skipped_phases":[],"message":`; !strings.HasPrefix(string(data), want) {
		t.Errorf("complete is %s", data)
	}
	noNulls(t, "standing", r.Standing(), "phase", "step")
	noNulls(t, "row", r.Row(), "phase", "step")
	if row := r.Row(); row.Assessment != advocate.Survives && row.Assessment != advocate.NeedsRevision {
		t.Errorf("row %+v", row)
	}
}

// The thresholds that the gate judges by are the ones that a model is told of.
func TestInstructionsNameTheThresholds(t *testing.T) {
	t.Parallel()
	checks := strings.Join(begin(t, advocate.DevilsAdvocate).Instructions().QualityChecks, "\n")
	for _, n := range []int{gate.MinWordsOpening, gate.DominanceFrom, gate.MaxDominance, gate.MaxCoverage, gate.MinNewWords, gate.DuplicateOverlap} {
		if !strings.Contains(checks, fmt.Sprint(n)) {
			t.Errorf("no %d in %s", n, checks)
		}
	}
	if checks := begin(t, advocate.Premortem).Instructions().QualityChecks; len(checks) != 0 {
		t.Errorf("setup has quality checks: %v", checks)
	}
}

func TestRowCutsTheClaim(t *testing.T) {
	t.Parallel()
	r, err := advocate.New("rev-test", strings.Repeat("щ", 69)+"🙂и дальше", advocate.Steelman, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Row().Claim; got != strings.Repeat("щ", 69)+"🙂" {
		t.Errorf("%q", got)
	}
}

func FuzzSubmit(f *testing.F) {
	for _, s := range []string{
		`[{"text":"Three of five deployments needed a weekend hotfix","category":"evidence","severity":3}]`,
		`[{"index":0,"verdict":"holds","justification":"x"}]`, `"[{}]"`, `[null,1,{"severity":1e400,"index":-0}]`, `[[[[]]]]`,
		`[{"text":"\ud800","category":"\u0000"}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := advocate.DecodeItems(data)
		if err != nil {
			return
		}
		for _, mode := range advocate.Modes() {
			r := begin(t, mode)
			before, _ := r.MarshalFile()
			_, err := r.Submit(items, noon)
			after, marshalErr := r.MarshalFile()
			if marshalErr != nil {
				t.Fatalf("can't be saved: %v", marshalErr)
			}
			if err != nil && string(after) != string(before) {
				t.Fatalf("a refused submission changed the review: %s", after)
			}
			if _, loadErr := advocate.UnmarshalFile(after); loadErr != nil {
				t.Fatalf("what was saved does not load: %v\n%s", loadErr, after)
			}
		}
	})
}

// A submission that no person could weigh is refused before anything is compared, in one sentence.
func TestTooManyItems(t *testing.T) {
	t.Parallel()
	r := begin(t, advocate.Assumptions)
	var items []any
	for i := range advocate.MaxItems + 1 {
		items = append(items, obj{"text": fact(i), "load_bearing": false, "evidence": "none"})
	}
	_, err := r.Submit(items, noon)
	if codeOf(err) != advocate.TooManyItems || len(err.Error()) > 300 || len(r.Items(advocate.AssumptionList)) > 0 {
		t.Errorf("%d items: %.300v, %d saved", len(items), err, len(r.Items(advocate.AssumptionList)))
	}
	r = begin(t, advocate.Assumptions)
	if _, err := r.Submit(items[:3], noon); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Submit(items[3:], noon); codeOf(err) != advocate.TooManyItems {
		t.Errorf("with the saved ones there are too many: %v", err)
	}
	if _, err := r.Submit(items[4:], noon); err != nil {
		t.Errorf("as many as are taken: %v", err)
	}
}
