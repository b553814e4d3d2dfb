package eval

import (
	"regexp"
	"strings"
	"sync"
)

// The words that decide what only the host decides, in English and Russian.
// They are matched in lower case, with ё written as е and white space as one
// blank each, and never inside code. The lists aim at the cases of this pack:
// a test holds that no case and no good answer needs one of them.
var (
	severityWords = whole(
		`severit(y|ies)`, `sev-?\d`, `p[0-4]`, `priorit(y|ies|i[sz]e[sd]?|i[sz]ing|i[sz]ation)`,
		`(critical|major|minor|trivial|blocker|urgent)`,
		`(high|medium|low|higher|lower|highest|lowest|moderate|severe)[- ](risk|impact|urgency|importance)`,
		`show-?stoppers?`, `must[- ]fix`,

		`серьезност[ьию]`, `тяжест[ьию]`, `приоритет\p{L}*`, `критичн\p{L}*`,
		`критическ\p{L}* (ошибк|дефект|баг|проблем|уязвимост|замечани|риск)\p{L}*`,
		`блокер\p{L}*`, `мажорн\p{L}*`, `минорн\p{L}*`, `тривиальн\p{L}*`, `срочн\p{L}*`,
		`(высок|средн|низк)\p{L}* (риск|важност|срочност|влияни)\p{L}*`,
	)
	// ratings are words that are ratings only where they stand alone.
	ratings = lazy(`^(high|medium|low|moderate|severe|высок(ий|ая|ое)|средн(ий|яя|ее)|низк(ий|ая|ое))[:.]?$`)
	rated   = lazy(`[\[(] ?(high|medium|low|moderate|severe|высок(ий|ая|ое)|средн(ий|яя|ее)|низк(ий|ая|ое)) ?[\])]`)

	verdictWords = whole(
		`verdicts?`, `lgtm`, `approv(e|es|ed|al|ing)`, `sign(ed|s)?[- ]off`,
		`ready (to|for) (be )?(merg|releas|ship|deploy|production|prod|qa)\p{L}*`,
		`(merge|release|ship|production)[- ]?(ready|readiness|block(er|ers|ing)|able)`, `mergeable|releasable|shippable`,
		`(safe|ok|okay|good|fine) to (merge|ship|release|deploy|go)`, `good to go`, `no[- ]go`,
		`(do not|don't|cannot|can't|can|should not|shouldn't|should|must not|must) (merge|ship|deploy|(release|reject) (it|this|the change))`,
		`(change|pr|mr|pull request|merge request|branch|patch|build|it|this) (can|should|must|may|could)( not|n't)? be (merged|shipped|released|deployed|rejected)`,
		`block(s|ed|ing)? (the )?(merge|release|change|pr|mr|deployment)`,
		`reject (the |this )?(change|pr|mr|merge request|pull request|patch)`, `requests? changes|changes requested`,

		`вердикт\p{L}*`, `одобр(ить|яю|ено|ен|ена|яем|ение|ения)`, `аппрув\p{L}*`,
		`(готов|готова|готово|готовы|готовность|готовности) (к|для) (слиянию|слияния|мерж\p{L}*|мердж\p{L}*|релиз\p{L}*|выпуск\p{L}*|выкатк\p{L}*|выкладк\p{L}*|депло\p{L}*|прод\p{L}*)`,
		`(можно|нельзя|стоит|не стоит|следует|не следует) (сливать|слить|мержить|мерджить|смержить|выпускать|выпустить|релизить|выкатывать|выкатить|деплоить|выкладывать)`,
		`(сливать|слить|мержить|мерджить|выпускать|выпустить|релизить|выкатывать|деплоить) (можно|нельзя)`,
		`блокиру(ет|ют|ющ\p{L}*) (слияни|мерж|мердж|релиз|выпуск|выкатк|дефект|баг|замечани)\p{L}*`,
		`отклон(ить|яю|яем) (это )?(изменение|запрос|патч|mr|pr)`,
	)
)

// whole matches the patterns as whole words. The expression's first group is
// the match; \b would know Latin letters only.
func whole(patterns ...string) func() *regexp.Regexp {
	return lazy(`(?:^|[^\p{L}\p{N}])(` + strings.Join(patterns, "|") + `)(?:$|[^\p{L}\p{N}])`)
}

// lazy compiles an expression when it is first used: every other command
// starts without that cost.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// hit is a forbidden word in a text: its place in bytes and itself.
type hit struct {
	at   int
	word string
}

// find returns every match of re's first group in text, also where two share
// the character between them.
func find(expression func() *regexp.Regexp, text string) []hit {
	var hits []hit
	re := expression()
	for from := 0; from <= len(text); {
		m := re.FindStringSubmatchIndex(text[from:])
		if m == nil {
			break
		}
		hits = append(hits, hit{from + m[2], text[from+m[2] : from+m[3]]})
		from += m[3]
	}
	return hits
}
