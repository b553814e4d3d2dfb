package catalog

// Checklist is what a host needs to carry out one profile's review. Its words
// go to a model, so they are English whatever the person's language is.
type Checklist struct {
	Profile           Profile
	DisplayName       string
	Kind              Kind
	Focus             string
	RequiredSections  []string
	Constraints       []string
	EscalationSignals []string
}

var (
	sections = map[Kind][]string{
		Evidence:       {"Scope", "Evidence Map", "Unverified"},
		TestAnalysis:   {"Scope", "Coverage Gaps", "Unverified"},
		Implementation: {"Scope", "Finding Candidates", "Coverage Gaps", "Unverified"},
		Specialist:     {"Scope", "Finding Candidates", "Coverage Gaps", "Unverified"},
	}

	constraints = []string{
		"Work only from the evidence the host has gathered; ask for what is missing under Unverified instead of assuming it.",
		"Cite stable evidence references (E1, E2, …) for every candidate, and number candidates F-01, F-02, …",
		"Keep possible defects and coverage gaps apart: a missing test is not a defect, a defect is not a missing test.",
		"Decide no severity, priority, root cause, release or merge readiness: those belong to the host.",
		"Make no external writes: no comments, tickets, commits, pushes or messages.",
	}

	checklists = map[Profile]Checklist{
		PRTestAnalyzer: {
			DisplayName: "Test Analyzer",
			Kind:        TestAnalysis,
			Focus: "Compare each changed behaviour with the tests that exercise it: happy path, negative cases, edges, integration points " +
				"and whether the assertions would notice a regression. Report test gaps only, not defects in the code.",
			EscalationSignals: []string{
				"A changed behaviour that other systems rely on has no test at any level.",
				"Tests pass, yet their assertions could not fail for the behaviour that changed.",
				"A test of the changed behaviour is flaky, skipped or cannot be reproduced.",
			},
		},
		CodeReviewer: {
			DisplayName: "Code Reviewer",
			Kind:        Implementation,
			Focus: "Examine the changed surface for concrete failure modes and broken contracts: inputs, state and callers for which the new code " +
				"does something else than promised. Build on the evidence map where there is one; do not repeat it.",
			EscalationSignals: []string{
				"A changed contract has callers outside the scope under review.",
				"Two or more explanations fit an observed failure and the evidence does not tell them apart.",
				"What the code does and what the evidence says about it contradict each other.",
			},
		},
		SecurityReviewer: {
			DisplayName: "Security Reviewer",
			Kind:        Specialist,
			Focus: "Follow untrusted input and privileged actions through the change: authentication, authorization and access control, input validation, " +
				"secrets, data exposure and privacy, dependencies, payment and webhook handling.",
			EscalationSignals: []string{
				"The change touches authentication, authorization, payment, personal data or secrets, and the enforcing code is not in evidence.",
				"A trust boundary moved, or its location is uncertain.",
				"A failed check could expose or alter the data of many users.",
			},
		},
		SilentFailureHunter: {
			DisplayName: "Silent Failure Hunter",
			Kind:        Specialist,
			Focus: "Look for failures that nobody would notice: swallowed errors, dangerous fallbacks, lost error propagation, missing or misplaced timeouts, " +
				"rollback that leaves half a change, and paths without logs, metrics or alerts.",
			EscalationSignals: []string{
				"A failure on the changed path would be reported as success to its caller.",
				"Partial work can be left behind and nothing in evidence detects or repairs it.",
				"The failing condition cannot be reproduced with the evidence at hand.",
			},
		},
		CodeExplorer: {
			DisplayName: "Faraday — Evidence Investigator",
			Kind:        Evidence,
			Focus: "Map what the change touches: execution path, callers, dependencies, data flow and the boundaries it crosses, each with its evidence reference. " +
				"Describe only; never diagnose.",
			EscalationSignals: []string{
				"The execution path leaves the repository or system that the evidence covers.",
				"Sources of evidence disagree on what runs or on which data flows.",
			},
		},
		TypeScriptReviewer: {
			DisplayName: "TypeScript Reviewer",
			Kind:        Specialist,
			Focus: "Check where types promise more than the runtime keeps: async and error contracts, narrowing, optional and nullable values, " +
				"unsafe casts, any and non-null assertions on changed paths.",
			EscalationSignals: []string{
				"An unsafe cast or unchecked value crosses a module or service boundary.",
				"A rejected promise or thrown error on the changed path has no owner.",
			},
		},
		ReactReviewer: {
			DisplayName: "React Reviewer",
			Kind:        Specialist,
			Focus: "Walk through what the user sees: state and its owners, every rendering branch (loading, empty, error, partial), effects with their dependencies " +
				"and clean-up, focus, keyboard and screen-reader behaviour.",
			EscalationSignals: []string{
				"The visible result depends on the order of asynchronous updates.",
				"A shared component changed and its other uses are not in evidence.",
				"A reported visual fault cannot be reproduced from the evidence.",
			},
		},
		RubyReviewer: {
			DisplayName: "Ruby Reviewer",
			Kind:        Specialist,
			Focus: "Check nil and false truthiness, mutators that return nil, block contracts, rescue and ensure, ActiveRecord or Sequel semantics as the repository's " +
				"evidence shows, and retries of Sidekiq jobs. No style remarks and no preference for a test framework.",
			EscalationSignals: []string{
				"A job or callback that may run twice changes data that is not protected against it.",
				"A transaction or rescue hides which part of the work was done.",
				"Whether ActiveRecord or Sequel is in use on the changed path cannot be told from the evidence.",
			},
		},
		PythonReviewer: {
			DisplayName: "Python Reviewer",
			Kind:        Specialist,
			Focus: "Check None and truthiness, exceptions and their chaining, async cancellation and clean-up, mutable defaults, validation and serialization at the boundaries, " +
				"and, where there is an MCP server, its tool schemas and error mapping.",
			EscalationSignals: []string{
				"Cancellation or an exception can leave a resource or a record half-way.",
				"A schema and the code behind it accept different inputs.",
			},
		},
		MobileReviewer: {
			DisplayName: "Mobile Reviewer",
			Kind:        Specialist,
			Focus: "Follow the change through the app's lifecycle: navigation and deep links, permissions, native bridges, going to the background and coming back, " +
				"and parity between platforms. Never infer device behaviour from unit tests.",
			EscalationSignals: []string{
				"The behaviour depends on a device, OS version or permission state that is not in evidence.",
				"The platforms differ on the changed path and only one was observed.",
				"State that is lost in the background could lose or repeat a user's action.",
			},
		},
	}
)

// Checklist returns the profile's checklist; ok is false for an unknown profile.
func (p Profile) Checklist() (c Checklist, ok bool) {
	c, ok = checklists[p]
	if !ok {
		return Checklist{}, false
	}
	c.Profile = p
	c.RequiredSections = sections[c.Kind]
	c.Constraints = constraints
	return c, true
}
