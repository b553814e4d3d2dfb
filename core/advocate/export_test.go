package advocate

// Outcome is what was counted.
func (v *Verdict) Outcome() Outcome { return v.outcome }
