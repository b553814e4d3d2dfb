package gate

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// same tells whether two texts have the same content words.
func same(a, b string) bool {
	var r Reader
	return slices.Equal(r.Read(a).distinct, r.Read(b).distinct)
}

func TestTextsWithTheSameWords(t *testing.T) {
	for name, pair := range map[string][2]string{
		"case, punctuation":       {"Retries overload the ledger", "RETRIES... overload; the, ledger?!"},
		"order, stop words":       {"retries overload ledger", "and the ledger is what retries do overload"},
		"forms, en":               {"rewrite service quickly", "Rewriting services quickly"},
		"forms of -ed, en":        {"the tenants used cached replicas", "tenant using the cache of a replica"},
		"negation, en":            {"We should ship the portal", "We should not, cannot, shouldn't and don't ever ship the portal"},
		"curly apostrophes, en":   {"today’s ledger won’t balance", "today's ledger won't balance"},
		"filler, en":              {"ship the portal", "Clearly it is really a terribly bad idea to ship the portal"},
		"accents, es":             {"La auditoría falló en la nómina", "La auditoria fallo en la nomina"},
		"composed or not, es":     {"La auditoría de mañana falló", norm.NFD.String("La auditoría de mañana falló")},
		"forms, es":               {"la automatización de la factura", "las automatizaciones de las facturas"},
		"negation, es":            {"Debemos migrar la nómina", "No debemos migrar nunca la nómina, tampoco"},
		"filler, es":              {"migrar la nómina", "Claramente es una mala idea migrar la nómina, realmente"},
		"stop words sans accents": {"él está más también así", "el esta mas tambien asi"},
		"composed or not, ru":     {"Новый учёт ведёт сторонний центр", norm.NFD.String("Новый учёт ведёт сторонний центр")},
		"ё, ru":                   {"Счёт утверждён, отчёт принят, ёмкость учтена", "Счет утвержден, отчет принят, емкость учтена"},
		"stress marks, ru":        {"за́мок на две́ри", "замок на двери"},
		"forms, ru":               {"перенос монолита в контейнеры", "переносом монолитов в контейнер"},
		"й and forms, ru":         {"иностранной компанией", "иностранными компаниями"},
		"negation, ru":            {"Релиз готов к выкладке", "Релиз не готов к выкладке, нет, никогда, нельзя, ни за что"},
		"filler, ru":              {"покупатели оформляют заказы", "Конечно, очевидно, что покупатели действительно оформляют заказы; это очень плохая идея"},
		"full width":              {"Ｋｉｌｌ ｔｈｅ ｐｒｏｃｅｓｓ", "kill process"},
		"ligatures, superscripts": {"oﬃce ﬁle m²", "office file m2"},
		"invisible characters":    {"re\u200btry the led\u00adger", "retry the ledger"},
		"letters alone, mash":     {"retry ledger", "a b c я retry zzzz ledger soooo ааааа"},
	} {
		if !same(pair[0], pair[1]) {
			t.Errorf("%s: %q and %q differ", name, pair[0], pair[1])
		}
	}
}

func TestTextsWithOtherWords(t *testing.T) {
	for name, pair := range map[string][2]string{
		"numbers are kept":             {"Rack 14 overheats", "Rack 22 overheats"},
		"single digits are kept":       {"Queue 7 stalls", "Queue 3 stalls"},
		"zeros are no mash":            {"lost 10000 rows", "lost rows"},
		"й is not и":                   {"майка", "маика"},
		"scripts don't meet":           {"nota", "нота"},
		"filler by stem spares others": {"clear protocol", "protocol"},
	} {
		if same(pair[0], pair[1]) {
			t.Errorf("%s: %q and %q have the same words", name, pair[0], pair[1])
		}
	}
}

func TestNothingToRead(t *testing.T) {
	var r Reader
	for _, text := range []string{"", " ", ".,;:!?", "🙂🙂🔥", "a b c d", "а б в", "xxxxxxxx", "no, not, never", "\u0301\u0301", "не надо, и всё"} {
		if w := r.Read(text); w.Total() != 0 || w.Distinct() != 0 {
			t.Errorf("%q has %d content words", text, w.Total())
		}
	}
}

// A script without spaces has no words that could be told apart; honest texts must pass all the same.
func TestScriptsWithoutSpaces(t *testing.T) {
	var r Reader
	if n := r.Read("上周的发布没有经过回归测试").Distinct(); n < MinWordsOpening {
		t.Errorf("a Chinese sentence has %d content words", n)
	}
	if n := r.Read("测测测测测测测测测").Distinct(); n >= MinWords {
		t.Errorf("one repeated character has %d content words", n)
	}
	if n := r.Read("测").Distinct(); n != 0 {
		t.Errorf("one character has %d content words", n)
	}
}

func TestCounts(t *testing.T) {
	var r Reader
	w := r.Read("cost, costs and more cost: the vendor")
	if w.Total() != 4 || w.Distinct() != 2 || w.top != 3 {
		t.Errorf("total %d, distinct %d, top %d, want 4, 2, 3", w.Total(), w.Distinct(), w.top)
	}
}

// words builds Words of given numbers: the first n distinct ones, from an offset.
func words(from, n int) Words {
	w := Words{total: n, top: 1}
	for i := range n {
		w.distinct = append(w.distinct, int32(from+i))
	}
	return w
}

func TestThresholds(t *testing.T) {
	claim := func(w Words) Text { return Text{Words: words(0, 10), Claim: &w} }
	target := func(w Words) Text { return Text{Words: words(0, 10), Target: &w} }
	twin := func(w Words) Text { return Text{Words: words(0, 10), Earlier: []Words{words(90, 5), w}} }
	for name, c := range map[string]struct {
		text Text
		want Check
	}{
		"one word too few":        {Text{Words: words(0, 3), MinWords: 4}, LowInformation},
		"just enough words":       {Text{Words: words(0, 4), MinWords: 4}, ""},
		"half of six":             {Text{Words: Words{total: 6, top: 3, distinct: words(0, 4).distinct}}, ""},
		"four of seven":           {Text{Words: Words{total: 7, top: 4, distinct: words(0, 4).distinct}}, LowInformation},
		"too short to dominate":   {Text{Words: Words{total: 5, top: 3, distinct: words(0, 3).distinct}}, ""},
		"8 of 10 the claim's":     {claim(words(0, 8)), RestatesClaim},
		"7 of 10 the claim's":     {claim(words(0, 7)), ""},
		"1 new to the claim":      {Text{Words: words(0, 4), Claim: ptr(words(0, 3))}, RestatesClaim},
		"2 new to the claim":      {Text{Words: words(0, 4), Claim: ptr(words(0, 2))}, ""},
		"8 of 10 the target's":    {target(words(0, 8)), ParrotsTarget},
		"7 of 10 the target's":    {target(words(0, 7)), ""},
		"overlap 8 of 10":         {twin(words(0, 8)), NearDuplicate},
		"overlap 7 of 10":         {twin(words(0, 7)), ""},
		"overlap 9 of 11":         {twin(words(1, 10)), NearDuplicate},
		"overlap 8 of 12":         {twin(words(2, 10)), ""},
		"claim before duplicate":  {Text{Words: words(0, 10), Claim: ptr(words(0, 10)), Target: ptr(words(0, 10)), Earlier: []Words{words(0, 10)}}, RestatesClaim},
		"target before duplicate": {Text{Words: words(0, 10), Target: ptr(words(0, 10)), Earlier: []Words{words(0, 10)}}, ParrotsTarget},
		"two texts of nothing":    {Text{Words: words(0, 0), Earlier: []Words{words(0, 0)}}, ""},
	} {
		finding, refused := Judge(c.text)
		if refused != (c.want != "") || finding.Check != c.want {
			t.Errorf("%s: %q, want %q", name, finding.Check, c.want)
		}
	}
	finding, _ := Judge(twin(words(0, 8)))
	if finding.Earlier != 1 || finding.Overlap != 80 {
		t.Errorf("twin %d with an overlap of %d %%, want 1 and 80", finding.Earlier, finding.Overlap)
	}
}

// near must say what the definition says, for all sizes and overlaps.
func TestNearIsJaccard(t *testing.T) {
	for a := range 14 {
		for b := range 14 {
			for shared := 0; shared <= min(a, b); shared++ {
				for _, first := range []bool{true, false} {
					// b begins so that the last, or the first, of its words are a's
					x, y := words(100, a), words(100+a-shared, b)
					if first {
						x, y = y, x
					}
					union := a + b - shared
					want := union > 0 && shared*100 >= union*DuplicateOverlap
					overlap, near := x.near(y)
					if near != want || want && overlap != shared*100/union {
						t.Errorf("%d and %d words, %d shared: %d %%, %v", a, b, shared, overlap, near)
					}
				}
			}
		}
	}
	// differences spread over both
	var x, y Words
	for i := range int32(40) {
		if i%10 != 3 {
			x.distinct = append(x.distinct, i)
		}
		if i%20 != 7 {
			y.distinct = append(y.distinct, i)
		}
	}
	if overlap, near := x.near(y); !near || overlap != 34*100/40 {
		t.Errorf("34 of 40 shared: %d %%, %v", overlap, near)
	}
}

func ptr(w Words) *Words { return &w }

// The lists are matched against folded tokens: an entry that is none would never be found, and one
// that the library knows is needless.
func TestLists(t *testing.T) {
	for name, data := range map[string]string{"en": englishData, "es": spanishData, "ru": russianData} {
		seen := map[string]bool{}
		for line := range strings.Lines(data) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, word := range strings.Fields(line) {
				var tokens []string
				var r Reader
				r.split(strings.TrimSuffix(word, "~"), func(token []byte) { tokens = append(tokens, string(token)) })
				if len(tokens) != 1 {
					t.Errorf("%s: %q is %d tokens", name, word, len(tokens))
					continue
				}
				if stopWord(tokens[0]) {
					t.Errorf("%s: %q is a stop word of the library", name, word)
				}
				if seen[tokens[0]] && !strings.HasSuffix(word, "~") {
					t.Errorf("%s: %q stands there twice", name, word)
				}
				seen[tokens[0]] = true
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"Three of the last five deployments needed a hotfix", "Учёт переключений ведётся в журнале", "¿Evitará las caídas?",
		norm.NFD.String("й ё é ñ ї"), "ﷺ½Ⅷ\u200b漢字仮名İẞ", "\xff\xfe broken", strings.Repeat("ационная", 50), "각 한글",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if composed(text) && norm.NFKC.String(text) != text && utf8.ValidString(text) {
			t.Errorf("%q counts as composed and is not", text)
		}
		var r Reader
		w := r.Read(text)
		if again := r.Read(text); !slices.Equal(w.distinct, again.distinct) || w.total != again.total {
			t.Errorf("%q is read differently the second time", text)
		}
		if w.Distinct() > w.total || w.top > w.total || w.total > 0 && w.top == 0 {
			t.Errorf("%q: total %d, distinct %d, top %d", text, w.total, w.Distinct(), w.top)
		}
		if utf8.ValidString(text) && !same(norm.NFC.String(text), norm.NFD.String(text)) {
			t.Errorf("%q composed and decomposed differ", text)
		}
		r.split(text, func(token []byte) {
			for _, c := range string(token) {
				if unicode.IsSpace(c) || unicode.IsUpper(c) && unicode.ToLower(c) != c {
					t.Errorf("%q gives the token %q", text, token)
				}
			}
		})
	})
}
