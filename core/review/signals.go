package review

// Signal is a risk signal that the host derives from its evidence.
type Signal string

// The risk signals, in listing order.
const (
	HighRiskDomain          Signal = "high_risk_domain"
	EvidenceUncertain       Signal = "evidence_uncertain"
	CrossSystemScope        Signal = "cross_system_scope"
	MultiplePlausibleCauses Signal = "multiple_plausible_causes"
	EvidenceConflict        Signal = "evidence_conflict"
	NonReproducible         Signal = "non_reproducible"
	HighBlastRadius         Signal = "high_blast_radius"
)

var signals = []Signal{
	HighRiskDomain, EvidenceUncertain, CrossSystemScope, MultiplePlausibleCauses,
	EvidenceConflict, NonReproducible, HighBlastRadius,
}

// SignalNames returns every risk signal in listing order.
func SignalNames() []Signal { return signals }

// Signals is a set of risk signals.
type Signals uint8

// bit is 0 for a name that is no signal.
func bit(s Signal) Signals {
	for i, name := range signals {
		if name == s {
			return 1 << i
		}
	}
	return 0
}

// NewSignals returns the set of the named signals. Unknown names are left out.
func NewSignals(names ...Signal) Signals {
	var set Signals
	for _, n := range names {
		set |= bit(n)
	}
	return set
}

// Has reports whether s is in the set.
func (set Signals) Has(s Signal) bool { return set&bit(s) != 0 }

// Rule is a fixed rule that calls for a deep review.
type Rule string

// The rules, in the order in which they are tried.
const (
	HighRiskWithUncertainty   Rule = "high_risk_with_uncertainty"
	MultipleComplexitySignals Rule = "multiple_complexity_signals"
	CriticalEvidenceConflict  Rule = "critical_evidence_conflict"
)

// Rules returns every rule in the order in which they are tried.
func Rules() []Rule {
	return []Rule{HighRiskWithUncertainty, MultipleComplexitySignals, CriticalEvidenceConflict}
}

// Reason is a code that says why a deep review is due.
type Reason string

// The reason codes.
const (
	ReasonHighRiskDomain   Reason = "high_risk_domain"
	ReasonEvidenceGap      Reason = "evidence_gap"
	ReasonCrossRepository  Reason = "cross_repository"
	ReasonRootCause        Reason = "root_cause"
	ReasonNonReproducible  Reason = "non_reproducible"
	ReasonHighBlastRadius  Reason = "high_blast_radius"
	ReasonEvidenceConflict Reason = "evidence_conflict"
)

// Reasons returns every reason code.
func Reasons() []Reason {
	return []Reason{
		ReasonHighRiskDomain, ReasonEvidenceGap, ReasonCrossRepository, ReasonRootCause,
		ReasonNonReproducible, ReasonHighBlastRadius, ReasonEvidenceConflict,
	}
}

// complexity pairs each complexity signal with its reason, in order.
var complexity = []struct {
	signal Signal
	reason Reason
}{
	{CrossSystemScope, ReasonCrossRepository},
	{MultiplePlausibleCauses, ReasonRootCause},
	{NonReproducible, ReasonNonReproducible},
	{HighBlastRadius, ReasonHighBlastRadius},
}

// Assessment says whether a deep review is due, and why. It is shared between
// sessions and must not be changed.
type Assessment struct {
	Escalate         bool     `json:"should_escalate"`
	Rules            []Rule   `json:"triggered_rules"`
	Reasons          []Reason `json:"reason_codes"`
	ComplexitySignal int      `json:"complexity_signal_count"`
}

// assessments holds the answer for each of the 128 sets: assessing is a look-up
// that allocates nothing.
var assessments = func() (table [1 << 7]*Assessment) {
	for set := range table {
		table[set] = assess(Signals(set))
	}
	return table
}()

// Assess applies the fixed rules to a set of risk signals.
func Assess(set Signals) *Assessment { return assessments[set&(1<<7-1)] }

func assess(set Signals) *Assessment {
	a := &Assessment{Rules: []Rule{}, Reasons: []Reason{}}
	add := func(r Reason) {
		for _, have := range a.Reasons {
			if have == r {
				return
			}
		}
		a.Reasons = append(a.Reasons, r)
	}
	for _, c := range complexity {
		if set.Has(c.signal) {
			a.ComplexitySignal++
		}
	}
	if set.Has(HighRiskDomain) && set.Has(EvidenceUncertain) {
		a.Rules = append(a.Rules, HighRiskWithUncertainty)
		add(ReasonHighRiskDomain)
		add(ReasonEvidenceGap)
	}
	if a.ComplexitySignal >= 2 {
		a.Rules = append(a.Rules, MultipleComplexitySignals)
		for _, c := range complexity {
			if set.Has(c.signal) {
				add(c.reason)
			}
		}
	}
	if set.Has(EvidenceConflict) && (set.Has(HighRiskDomain) || set.Has(CrossSystemScope) || set.Has(HighBlastRadius)) {
		a.Rules = append(a.Rules, CriticalEvidenceConflict)
		add(ReasonEvidenceConflict)
		if set.Has(HighBlastRadius) {
			add(ReasonHighBlastRadius)
		}
	}
	a.Escalate = len(a.Rules) > 0
	return a
}
