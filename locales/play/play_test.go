package play_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/gate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play"
)

// texts are the fields that differ between languages.
var texts = []string{"text", "justification", "action", "test", "horizon"}

func script(t *testing.T, lang locales.Lang) *play.Script {
	t.Helper()
	s, err := play.In(lang)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The languages have the same performance: the same figures in the same places.
func TestLanguagesPlayTheSame(t *testing.T) {
	t.Parallel()
	en, ru := script(t, locales.En), script(t, locales.Ru)
	if len(en.Phases) != 9 || len(ru.Phases) != 9 {
		t.Fatalf("%d and %d phases", len(en.Phases), len(ru.Phases))
	}
	bare := func(items []map[string]any) []map[string]any {
		var out []map[string]any
		for _, item := range items {
			item = maps.Clone(item)
			for _, f := range texts {
				if item[f] != nil {
					item[f] = ""
				}
			}
			out = append(out, item)
		}
		return out
	}
	for i := range en.Phases {
		e, r := en.Phases[i], ru.Phases[i]
		if e.Name != r.Name || !slices.EqualFunc(bare(e.Items), bare(r.Items), maps.Equal) || !slices.EqualFunc(bare(e.Lazy), bare(r.Lazy), maps.Equal) {
			t.Errorf("%s differs between the languages", e.Name)
		}
	}
}

// In every mode and language the lazy attempts are refused, in both languages for the same reasons,
// and the real ones lead to the same verdict.
func TestEveryModePlays(t *testing.T) {
	t.Parallel()
	checks := map[advocate.Mode][]gate.Check{
		advocate.DevilsAdvocate: {gate.LowInformation, gate.RestatesClaim},
		advocate.Premortem:      {gate.ParrotsTarget},
		advocate.Assumptions:    {gate.NearDuplicate},
		advocate.Steelman:       {gate.LowInformation},
		advocate.Gauntlet:       {gate.LowInformation, gate.RestatesClaim, gate.NearDuplicate, gate.ParrotsTarget, gate.LowInformation},
	}
	verdicts := map[advocate.Mode]advocate.Assessment{
		advocate.DevilsAdvocate: advocate.NeedsRevision, advocate.Premortem: advocate.NeedsRevision,
		advocate.Assumptions: advocate.NeedsRevision, advocate.Steelman: advocate.Survives, advocate.Gauntlet: advocate.NeedsRevision,
	}
	for _, lang := range locales.Langs() {
		s := script(t, lang)
		for _, mode := range advocate.Modes() {
			r, err := advocate.New("rev-play", s.Claim, mode, s.Context, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			var refused []gate.Check
			for r.Status == advocate.Active {
				phase := s.Of(r.Phase())
				if lazy, _ := play.Submission(phase.Lazy); len(lazy) > 0 {
					_, err := r.Submit(lazy, time.Unix(0, 0))
					var e *advocate.Error
					if !errors.As(err, &e) || e.Code != advocate.Rejected {
						t.Fatalf("%v, %s: the lazy attempt at %s: %v", lang, mode, phase.Name, err)
					}
					for _, p := range e.Problems {
						if p.Kind != advocate.LowQuality {
							t.Errorf("%v, %s: %v", lang, mode, err)
						}
						refused = append(refused, p.Finding.Check)
					}
				}
				items, err := play.Submission(phase.Items)
				if err != nil {
					t.Fatal(err)
				}
				before := r.Phase()
				if _, err := r.Submit(items, time.Unix(0, 0)); err != nil || r.Phase() == before {
					t.Fatalf("%v, %s: %s: %v, now at %s", lang, mode, phase.Name, err, r.Phase())
				}
			}
			v, err := r.Verdict()
			if err != nil {
				t.Fatal(err)
			}
			if v.Assessment != verdicts[mode] || !slices.Equal(refused, checks[mode]) {
				t.Errorf("%v, %s: %s, refused for %v", lang, mode, v.Assessment, refused)
			}
		}
	}
}
