// Package catalog holds the fixed vocabulary of a QA review: task types,
// reviewer profiles with their checklists, bundles of profiles, and the
// catalogue of models. Everything here is data; nothing depends on a session.
//
// The slices that this package returns are shared and must not be changed by
// callers: the state machine hands them out without copying.
package catalog

import "slices"

// TaskType says what kind of QA work a review is about.
type TaskType string

// The task types, in the order in which they are listed.
const (
	OrdinaryReview         TaskType = "ordinary_review"
	WidgetReview           TaskType = "widget_review"
	EpicAnalysis           TaskType = "epic_analysis"
	RequirementsAnalysis   TaskType = "requirements_analysis"
	QAPlanning             TaskType = "qa_planning"
	AutotestImplementation TaskType = "autotest_implementation"
	OtherTask              TaskType = "other"
)

// Profile names one reviewer perspective.
type Profile string

// The profiles, in the order in which they are listed.
const (
	PRTestAnalyzer      Profile = "pr_test_analyzer"
	CodeReviewer        Profile = "code_reviewer"
	SecurityReviewer    Profile = "security_reviewer"
	SilentFailureHunter Profile = "silent_failure_hunter"
	CodeExplorer        Profile = "code_explorer"
	TypeScriptReviewer  Profile = "typescript_reviewer"
	ReactReviewer       Profile = "react_reviewer"
	RubyReviewer        Profile = "ruby_reviewer"
	PythonReviewer      Profile = "python_reviewer"
	MobileReviewer      Profile = "mobile_reviewer"
)

// Bundle names an ordered set of profiles.
type Bundle string

// The bundles, in the order in which they are listed.
const (
	OrdinaryMR    Bundle = "ordinary_mr"
	Widget        Bundle = "widget"
	WidgetJS      Bundle = "widget_js"
	RubyBackend   Bundle = "ruby_backend"
	PythonBackend Bundle = "python_backend"
	Mobile        Bundle = "mobile"
	Security      Bundle = "security"
	Autotest      Bundle = "autotest"
	Requirements  Bundle = "requirements"
)

// Kind groups profiles by the shape of their answer.
type Kind string

// The kinds of profile.
const (
	Evidence       Kind = "evidence"
	TestAnalysis   Kind = "test_analysis"
	Implementation Kind = "implementation"
	Specialist     Kind = "specialist"
)

var (
	taskTypes = []TaskType{
		OrdinaryReview, WidgetReview, EpicAnalysis, RequirementsAnalysis,
		QAPlanning, AutotestImplementation, OtherTask,
	}

	profiles = []Profile{
		PRTestAnalyzer, CodeReviewer, SecurityReviewer, SilentFailureHunter, CodeExplorer,
		TypeScriptReviewer, ReactReviewer, RubyReviewer, PythonReviewer, MobileReviewer,
	}

	bundles = []Bundle{
		OrdinaryMR, Widget, WidgetJS, RubyBackend, PythonBackend, Mobile, Security, Autotest, Requirements,
	}

	bundleProfiles = map[Bundle][]Profile{
		OrdinaryMR:    {CodeExplorer, CodeReviewer, PRTestAnalyzer},
		Widget:        {CodeExplorer, ReactReviewer, TypeScriptReviewer, PRTestAnalyzer},
		WidgetJS:      {CodeExplorer, CodeReviewer, ReactReviewer, PRTestAnalyzer},
		RubyBackend:   {CodeExplorer, RubyReviewer, PRTestAnalyzer},
		PythonBackend: {CodeExplorer, PythonReviewer, PRTestAnalyzer},
		Mobile:        {CodeExplorer, MobileReviewer, PRTestAnalyzer},
		Security:      {CodeExplorer, SecurityReviewer, SilentFailureHunter},
		Autotest:      {CodeReviewer, PRTestAnalyzer, TypeScriptReviewer},
		Requirements:  {CodeExplorer, CodeReviewer},
	}

	recommended = map[TaskType][]Bundle{
		OrdinaryReview:         {OrdinaryMR},
		WidgetReview:           {Widget, WidgetJS},
		EpicAnalysis:           {Requirements},
		RequirementsAnalysis:   {Requirements},
		QAPlanning:             {Requirements},
		AutotestImplementation: {Autotest, OrdinaryMR},
		OtherTask:              {},
	}

	// soleProfile gives each profile as a route of its own without allocating.
	soleProfile = func() map[Profile][]Profile {
		m := make(map[Profile][]Profile, len(profiles))
		for i, p := range profiles {
			m[p] = profiles[i : i+1 : i+1]
		}
		return m
	}()
)

// TaskTypes returns every task type in listing order.
func TaskTypes() []TaskType { return taskTypes }

// Profiles returns every profile in listing order.
func Profiles() []Profile { return profiles }

// Bundles returns every bundle in listing order.
func Bundles() []Bundle { return bundles }

// Valid reports whether t is one of TaskTypes.
func (t TaskType) Valid() bool { return slices.Contains(taskTypes, t) }

// Valid reports whether p is one of Profiles.
func (p Profile) Valid() bool { return slices.Contains(profiles, p) }

// Valid reports whether b is one of Bundles.
func (b Bundle) Valid() bool { return slices.Contains(bundles, b) }

// Profiles returns the bundle's profiles in review order, nil for an unknown bundle.
func (b Bundle) Profiles() []Profile { return bundleProfiles[b] }

// Route returns the profile as a review route of one, nil for an unknown profile.
func (p Profile) Route() []Profile { return soleProfile[p] }

// Recommended returns the shortlist of bundles for the task type: advice only,
// it narrows nothing. The list is empty, not nil, where there is none.
func (t TaskType) Recommended() []Bundle {
	if list, ok := recommended[t]; ok {
		return list
	}
	return recommended[OtherTask]
}
