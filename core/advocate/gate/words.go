package gate

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	enstem "github.com/blevesearch/snowballstem/english"
	rustem "github.com/blevesearch/snowballstem/russian"
	esstem "github.com/blevesearch/snowballstem/spanish"
	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"golang.org/x/text/unicode/norm"
)

// Words are the content words of one text, as the Reader that read it numbers them. Two Words can be
// compared only when the same Reader made them.
type Words struct {
	total    int     // content words, repeated ones counted each time
	top      int     // how often the most frequent one occurs
	distinct []int32 // sorted
}

// Total is the number of content words, repeated ones counted each time.
func (w Words) Total() int { return w.total }

// Distinct is the number of different content words.
func (w Words) Distinct() int { return len(w.distinct) }

// near tells whether the overlap of the two texts makes them near-duplicates, and how large it is in
// percent. It gives up as soon as too few words can be left that they share: there may be thousands of
// pairs to compare.
func (w Words) near(o Words) (int, bool) {
	a, b := w.distinct, o.distinct
	// shared/union >= D/100 means shared >= (a+b) * D/(100+D)
	least := ((len(a)+len(b))*DuplicateOverlap + 99 + DuplicateOverlap) / (100 + DuplicateOverlap)
	spareA, spareB := len(a)-least, len(b)-least // how many words of each may be the other's not
	i, j := 0, 0
	for least > 0 && spareA >= 0 && spareB >= 0 && i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
			spareA--
		case a[i] > b[j]:
			j++
			spareB--
		default:
			i, j = i+1, j+1
		}
	}
	spareA, spareB = spareA-(len(a)-i), spareB-(len(b)-j)
	if least == 0 || spareA < 0 || spareB < 0 {
		return 0, false
	}
	shared := least + spareA // all of a but those that b lacks
	return shared * 100 / (len(a) + len(b) - shared), true
}

// shared counts the content words that both texts have.
func (w Words) shared(o Words) int {
	n, i, j := 0, 0, 0
	for i < len(w.distinct) && j < len(o.distinct) {
		switch a, b := w.distinct[i], o.distinct[j]; {
		case a < b:
			i++
		case a > b:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// dropped marks a token that is no content word.
const dropped = int32(-1)

// Reader turns texts into content words. It remembers every token it has met, so that reading is
// linear in the text and a word is stemmed once. It must not be used by two goroutines at once; the
// zero value is ready to use.
type Reader struct {
	tokens map[string]int32
	stems  map[string]int32
	env    *snowballstem.Env
	buf    []byte
}

// Read returns the content words of the text: compatibility-normalized, lowercased, without accents
// and punctuation, without words that carry no content, stemmed.
func (r *Reader) Read(text string) Words {
	if r.tokens == nil {
		r.tokens, r.stems = map[string]int32{}, map[string]int32{}
		r.env = snowballstem.NewEnv("")
	}
	var ids []int32
	emit := func(token []byte) {
		id, known := r.tokens[string(token)]
		if !known {
			id = r.number(string(token))
			r.tokens[string(token)] = id
		}
		if id != dropped {
			ids = append(ids, id)
		}
	}
	r.split(text, emit)
	return count(ids)
}

// count sums up the occurrences of content words.
func count(ids []int32) Words {
	w := Words{total: len(ids)}
	slices.Sort(ids)
	run := 0
	for i, id := range ids {
		if i > 0 && id == ids[i-1] {
			run++
		} else {
			run = 1
			w.distinct = append(w.distinct, id)
		}
		w.top = max(w.top, run)
	}
	return w
}

// split calls emit with each token of the text: a run of letters and digits, folded. The token is
// valid during the call only.
func (r *Reader) split(text string, emit func([]byte)) {
	if !composed(text) {
		text = norm.NFKC.String(text)
	}
	buf := r.buf[:0]
	var (
		pair    bool // the token is of a script that puts no spaces between words
		flush   = func() { emitToken(buf, pair, emit); buf = buf[:0] }
		isToken = func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.Is(unicode.Mc, c) }
	)
	for _, c := range text {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case 'а' <= c && c <= 'я':
		case 'А' <= c && c <= 'Я':
			c += 'а' - 'А'
		case c < utf8.RuneSelf:
			flush()
			continue
		case 'À' <= c && c <= 'ÿ' && c != '×' && c != '÷':
			c = unicode.ToLower(c)
		case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
			continue // a mark of the letter before, or invisible
		case !isToken(c):
			flush()
			continue
		default:
			c = unicode.ToLower(c)
		}
		if p := unspaced(c); p != pair {
			flush()
			pair = p
		}
		if c < utf8.RuneSelf {
			buf = append(buf, byte(c)) // #nosec G115 -- it is ASCII
			continue
		}
		switch {
		case c == 'ё':
			c = 'е'
		case c == 'й' || 'а' <= c && c <= 'я':
		default:
			start := len(buf)
			buf = utf8.AppendRune(buf, c)
			if parts := norm.NFD.Properties(buf[start:]).Decomposition(); parts != nil {
				buf = buf[:start]
				for _, part := range string(parts) {
					if !unicode.Is(unicode.Mn, part) {
						buf = utf8.AppendRune(buf, part)
					}
				}
			}
			continue
		}
		buf = utf8.AppendRune(buf, c)
	}
	flush()
	r.buf = buf[:0]
}

// composed tells whether the text consists of characters only that normalization leaves alone, as
// nearly all texts in English, Spanish and Russian do; it is much faster than the normalization.
func composed(text string) bool {
	for _, c := range text {
		switch {
		case c < 0xA0, 0xC0 <= c && c <= 0xFF, 0x400 <= c && c <= 0x45F:
		case c == '¡', c == '«', c == '»', c == '¿', '‒' <= c && c <= '―', '‘' <= c && c <= '‟':
		default:
			return false
		}
	}
	return true
}

// emitToken passes one run of letters on. A script without spaces is cut into overlapping pairs, for
// want of words.
func emitToken(token []byte, pairs bool, emit func([]byte)) {
	if len(token) == 0 {
		return
	}
	if !pairs {
		emit(token)
		return
	}
	_, first := utf8.DecodeRune(token)
	for start, next := 0, first; next < len(token); {
		_, n := utf8.DecodeRune(token[next:])
		emit(token[start : next+n])
		start, next = next, next+n
	}
}

// unspaced tells whether the letter's script is written without spaces between words.
func unspaced(c rune) bool {
	return c >= 0x0E00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// number gives a token its number: the same for all tokens with one stem, or dropped.
func (r *Reader) number(token string) int32 {
	if empty(token) {
		return dropped
	}
	lists := emptyWords()
	if lists.words[token] || stopWord(token) {
		return dropped
	}
	stem := stem(r.env, token)
	if lists.stems[stem] {
		return dropped
	}
	id, known := r.stems[stem]
	if !known {
		id = int32(len(r.stems)) // #nosec G115 -- of texts of a few megabytes at most
		r.stems[stem] = id
	}
	return id
}

// empty tells whether a token can't be a content word whatever the language: a single letter, or the
// same letter many times in a row. Numbers are never empty.
func empty(token string) bool {
	run, letters := 0, 0
	var last rune
	for _, c := range token {
		letters++
		if c == last && unicode.IsLetter(c) {
			run++
		} else {
			run = 1
		}
		if run >= MashRun {
			return true
		}
		last = c
	}
	return letters == 1 && !unicode.IsDigit(last)
}

// stem reduces a token to what its forms have in common. The script decides: Cyrillic tokens go
// through the Russian stemmer. A Latin token may be English or Spanish, and one word is too little to
// tell which, so it goes through both, Spanish again at the end because English can uncover a
// Spanish-looking ending; what matters is that forms of one word meet, not that the stem looks well.
func stem(env *snowballstem.Env, token string) string {
	if strings.ContainsAny(token, "0123456789") {
		return token
	}
	c, _ := utf8.DecodeRuneInString(token)
	switch {
	case unicode.Is(unicode.Cyrillic, c):
		env.SetCurrent(token)
		rustem.Stem(env)
	case c < utf8.RuneSelf || unicode.Is(unicode.Latin, c):
		// The Spanish stemmer knows this ending with its accent only, and accents are gone by now.
		if strings.HasSuffix(token, "cion") {
			token = strings.TrimSuffix(token, "on") + "ón"
		}
		env.SetCurrent(token)
		esstem.Stem(env)
		env.SetCurrent(env.Current())
		enstem.Stem(env)
		env.SetCurrent(env.Current())
		esstem.Stem(env)
	default:
		return token
	}
	return env.Current()
}

//go:embed data/en.txt
var englishData string

//go:embed data/es.txt
var spanishData string

//go:embed data/ru.txt
var russianData string

// wordLists are the words that carry no content: as they are written, and by stem.
type wordLists struct {
	words map[string]bool
	stems map[string]bool
}

// emptyWords reads the embedded lists, once.
var emptyWords = sync.OnceValue(func() wordLists {
	lists := wordLists{words: map[string]bool{}, stems: map[string]bool{}}
	var r Reader
	env := snowballstem.NewEnv("")
	for line := range strings.Lines(englishData + spanishData + russianData) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			word, byStem := strings.CutSuffix(word, "~")
			r.split(word, func(token []byte) {
				if byStem {
					lists.stems[stem(env, string(token))] = true
				} else {
					lists.words[string(token)] = true
				}
			})
		}
	}
	return lists
})

// stopWord tells whether the library lists the token as a stop word of its script's languages.
func stopWord(token string) bool {
	return english.IsStopWord(token) || spanish.IsStopWord(token) || russian.IsStopWord(token)
}
