// Package gate judges whether a text says something: it refuses texts without information, texts
// that repeat the claim or what they answer, and texts that were said before. It knows nothing of
// meaning: it compares content words, in English, Spanish and Russian, by fixed rules, so the same
// texts always get the same judgement.
package gate

// Check names one of the gate's checks.
type Check string

// The checks, in the order in which they apply.
const (
	LowInformation Check = "low_information"
	RestatesClaim  Check = "restates_claim"
	ParrotsTarget  Check = "parrots_target"
	NearDuplicate  Check = "near_duplicate"
)

// Finding is why a text was refused, with the figures that decided. Which fields are set depends on
// the check.
type Finding struct {
	Check Check
	// Distinct and Need are the distinct content words of the text and how many it needs (too few).
	Distinct, Need int
	// Top and Total are the occurrences of the most frequent word and of all of them (repetitive).
	Top, Total int
	// Shared and New are the distinct content words that the text has from the claim or its target
	// and those it adds; Distinct is their sum.
	Shared, New int
	// Earlier is the position, in Text.Earlier, of the text that this one duplicates, and Overlap how
	// much of the two is the same, in percent, rounded down.
	Earlier, Overlap int
}

// Repetitive tells whether the text lacks information because one word dominates it, not because it
// has too few.
func (f Finding) Repetitive() bool { return f.Check == LowInformation && f.Total > 0 }

// Text is a text to judge with all it is compared with. All Words must be of one Reader.
type Text struct {
	Words Words
	// MinWords is the least number of distinct content words.
	MinWords int
	// Claim and Target are the texts that it must add to; nil where the check does not apply.
	Claim, Target *Words
	// Earlier are the texts that it must differ from.
	Earlier []Words
}

// Judge returns the first finding against the text, in the order of the checks, or false when the
// text passes.
func Judge(t Text) (Finding, bool) {
	w := t.Words
	if w.Distinct() < t.MinWords {
		return Finding{Check: LowInformation, Distinct: w.Distinct(), Need: t.MinWords}, true
	}
	if w.total >= DominanceFrom && w.top*100 > w.total*MaxDominance {
		return Finding{Check: LowInformation, Distinct: w.Distinct(), Top: w.top, Total: w.total}, true
	}
	if t.Claim != nil {
		if f, repeats := w.repeats(*t.Claim); repeats {
			f.Check = RestatesClaim
			return f, true
		}
	}
	if t.Target != nil {
		if f, repeats := w.repeats(*t.Target); repeats {
			f.Check = ParrotsTarget
			return f, true
		}
	}
	for i, e := range t.Earlier {
		if overlap, near := w.near(e); near {
			return Finding{Check: NearDuplicate, Earlier: i, Overlap: overlap}, true
		}
	}
	return Finding{}, false
}

// repeats tells whether the text has nearly all its words from the other, or adds too few.
func (w Words) repeats(other Words) (Finding, bool) {
	n := w.Distinct()
	shared := w.shared(other)
	f := Finding{Distinct: n, Shared: shared, New: n - shared}
	return f, shared*100 >= n*MaxCoverage || f.New < MinNewWords
}
