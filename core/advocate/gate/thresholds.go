package gate

// The thresholds of the gate, all in one place. They are whole numbers, and shares are percentages,
// so that a text at the very edge is judged without rounding.
const (
	// MinWordsOpening is the least number of distinct content words of a counterargument or of a point
	// of the strongest case.
	MinWordsOpening = 4
	// MinWords is the least number of distinct content words of every other free text.
	MinWords = 3
	// DominanceFrom is the number of content words from which on one word may not dominate.
	DominanceFrom = 6
	// MaxDominance is the largest share, in percent, that one word may have in such a text.
	MaxDominance = 50
	// DuplicateOverlap is the Jaccard overlap of two sets of content words, in percent, from which on
	// they are near-duplicates.
	DuplicateOverlap = 80
	// MaxCoverage is the share of a text's distinct content words, in percent, from which on the text
	// repeats the one that these words are from.
	MaxCoverage = 80
	// MinNewWords is the least number of distinct content words that a text must add to the one it
	// speaks about.
	MinNewWords = 2
	// MashRun is the number of equal letters in a row that makes a token a slip of the keyboard.
	MashRun = 4
)
