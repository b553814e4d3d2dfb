// Package playtest plays the performances of the devil's advocate for tests.
package playtest

import (
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play"
)

// All is more phases than any mode has.
const All = 99

// Review plays a mode through its first phases. The claim is that of the
// performance unless a test brings its own, which is the context too then.
func Review(t testing.TB, lang locales.Lang, id, claim string, mode advocate.Mode, phases int, at time.Time) *advocate.Review {
	t.Helper()
	s, err := play.In(lang)
	if err != nil {
		t.Fatal(err)
	}
	if claim != "" {
		s.Claim, s.Context = claim, claim
	}
	r, err := advocate.New(id, s.Claim, mode, s.Context, at)
	if err != nil {
		t.Fatal(err)
	}
	for ; phases > 0 && r.Status == advocate.Active; phases-- {
		items, err := play.Submission(s.Of(r.Phase()).Items)
		if err == nil {
			_, err = r.Submit(items, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}
