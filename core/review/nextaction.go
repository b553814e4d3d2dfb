package review

import "fmt"

// NextAction tells the host, in one English sentence, what to do now.
func (s *Session) NextAction() string {
	switch {
	case s.Finalized:
		return fmt.Sprintf("This review is finalized as %s; nothing more is due here.", s.Status)
	case s.Stopped():
		return fmt.Sprintf("The review stopped early at %s: call finish_qa_orchestration with outcome=%s to finalize it.", s.Step, s.Status)
	}
	switch s.Step {
	case Triage:
		return "Gather the evidence, choose one bundle for broad or high-risk work or one profile for a narrow change, " +
			"then call advance_qa_orchestration with completed_step=triage, status=completed and exactly one of selected_bundle or selected_profile."
	case PrimaryReview:
		p := s.Current()
		if s.LastProfile() {
			return fmt.Sprintf("Run the %s checklist (prepare_qa_orchestration), the last of the route, then call advance_qa_orchestration with "+
				"completed_step=primary_review, status=completed, completed_profile=%s and risk_signals ({} when none apply).", p, p)
		}
		return fmt.Sprintf("Run the %s checklist (prepare_qa_orchestration), profile %d of %d, then call advance_qa_orchestration with "+
			"completed_step=primary_review, status=completed and completed_profile=%s.", p, s.Done+1, len(s.Route()), p)
	case DeepReview:
		return fmt.Sprintf("Examine the escalated concern (%s) in depth against the evidence, then call advance_qa_orchestration with "+
			"completed_step=deep_review and status=completed.", s.DeepReason())
	case Synthesis:
		return "Merge the candidates and gaps of all profiles into one conclusion of your own, then call advance_qa_orchestration with " +
			"completed_step=synthesis and status=completed."
	default:
		return "Decide the outcome yourself and call finish_qa_orchestration with outcome=completed, partial or blocked."
	}
}
