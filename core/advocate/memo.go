package advocate

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Labels are the words that a memo has of its own, so that it can be written in another language than
// English. Every field must be set; none is escaped.
type Labels struct {
	Title       string // before the claim
	Review      string
	Mode        string
	Assessment  string
	RiskScore   string
	Started     string
	Completed   string
	Horizon     string
	Skipped     string
	Context     string
	Verdict     string
	Lenses      string
	Lens        string
	NextActions string
	Done        string // the ticked line when nothing is left to do
	Severity    string
	Likelihood  string
	Impact      string
	LoadBearing string
	NotBearing  string
	Evidence    string
	Residual    string
	// Rebuttal, Mitigation, Test and Response head an answer.
	Rebuttal, Mitigation, Test, Response string
	// NoAnswer says why an item of the phase has none.
	NoAnswer func(Phase, Item) string
	// Address, Settle, Run, CarryOut and Accept head the next actions: counterarguments that hold and
	// that partially hold, tests, mitigations, conceded points.
	Address, Settle, Run, CarryOut, Accept string
	// The labels of an unfinished review: Progress stands before its claim, Reasoned before the reason
	// why it was abandoned.
	Progress, Status, Reasoned, Phase, Updated, ItemsPerPhase, Missing string
	// Requirement says one thing that the phase still needs.
	Requirement func(Requirement) string
	// Time writes when something was.
	Time func(time.Time) string
	// Number writes a risk score.
	Number func(string) string
	// Name gives the word for a mode, phase, category, assessment or any other name of the contract.
	Name func(string) string
	// Reason says what was counted and which rule decided.
	Reason func(Outcome) string
	// Scale says what the risk score means.
	Scale func(Outcome) string
}

// English are the labels of an English memo.
func English() Labels {
	return Labels{
		Title: "Decision memo", Review: "Review", Mode: "Mode", Assessment: "Assessment", RiskScore: "Risk score",
		Started: "Started", Completed: "Completed", Horizon: "Horizon", Skipped: "Skipped phases",
		Context: "Context", Verdict: "Verdict", Lenses: "Lenses", Lens: "Lens",
		NextActions: "Next actions", Done: "Nothing is left to do",
		Severity: "severity", Likelihood: "likelihood", Impact: "impact",
		LoadBearing: "load-bearing", NotBearing: "not load-bearing", Evidence: "evidence", Residual: "residual risk",
		Rebuttal: "Rebuttal", Mitigation: "Mitigation", Test: "Test", Response: "Response",
		NoAnswer: note,
		Address:  "Address the counterargument that holds", Settle: "Settle the counterargument that partially holds",
		Run: "Run the test", CarryOut: "Carry out the mitigation", Accept: "Act on the conceded point",
		Progress: "Stress test", Status: "Status", Reasoned: "Reason", Phase: "Phase", Updated: "Updated",
		ItemsPerPhase: "Items per phase", Missing: "Missing",
		Requirement: Requirement.inWords,
		Time:        Stamp,
		Number:      func(number string) string { return number },
		Name:        inWords,
		Reason:      Outcome.Reason,
		Scale: func(o Outcome) string {
			s := o.riskScore()
			return s.Scale + ": " + s.Explanation
		},
	}
}

// Memo writes the verdict as a decision memo in Markdown. What was submitted can't change its
// structure: it stays on its line and is escaped. The same verdict and labels give the same bytes.
func (v *Verdict) Memo(l Labels) string { return v.Document(l).Markdown() }

// Document is the decision memo.
func (v *Verdict) Document(l Labels) Document {
	o := v.outcome
	head := []ListItem{
		l.fact(l.Review, v.ReviewID),
		l.fact(l.Mode, l.Name(string(v.Mode))),
		{Line: Line{strong(l.Assessment + ":"), plain(" "), {Text: l.Name(string(v.Assessment)), Assessment: v.Assessment}}},
		l.fact(l.RiskScore, fmt.Sprintf("%s (%s)", l.Number(o.RiskNumber()), l.Scale(o))),
		l.fact(l.Started, l.Time(v.created)),
		l.fact(l.Completed, l.Time(v.completed)),
	}
	if v.Horizon != "" {
		head = append(head, ListItem{Line: Line{strong(l.Horizon + ":"), plain(" "), submitted(v.Horizon)}})
	}
	if len(v.SkippedPhases) > 0 {
		head = append(head, l.fact(l.Skipped, l.names(v.SkippedPhases)))
	}
	d := Document{
		heading(1, plain(l.Title+": "), submitted(v.Claim)),
		{Kind: Bullets, List: head},
	}
	if v.Context != "" {
		d = append(d, Block{Kind: Paragraph, Line: Line{strong(l.Context + ":"), plain(" "), submitted(v.Context)}})
	}
	d = append(d,
		heading(2, plain(l.Verdict)),
		Block{Kind: Paragraph, Line: Line{
			{Text: upperFirst(l.Name(string(v.Assessment))) + ".", Style: Strong, Assessment: v.Assessment}, plain(" " + l.Reason(o)),
		}},
	)
	if len(o.Lenses) > 0 {
		table := Block{Kind: Table, Rows: [][]string{{l.Lens, l.Assessment, l.RiskScore, l.Verdict}}}
		for _, lens := range o.Lenses {
			table.Rows = append(table.Rows, []string{l.Name(string(lens.Mode)), l.Name(string(lens.Assessment)), l.Number(lens.RiskNumber()), l.Reason(lens)})
		}
		d = append(d, heading(3, plain(l.Lenses)), table)
	}
	for _, group := range v.Phases {
		p := Phase(group.Name)
		items := Block{Kind: Numbered}
		for _, item := range group.Value {
			under := Line{emphasis(l.NoAnswer(p, item.Item))}
			if answer := item.answer(); answer != nil {
				under = l.answerLine(p, *answer)
			}
			items.List = append(items.List, ListItem{Line: l.itemLine(p, item.Item), Under: under})
		}
		d = append(d, heading(2, plain(upperFirst(l.Name(group.Name)))), items)
	}
	todo := Block{Kind: Checklist}
	for _, a := range v.NextActions() {
		todo.List = append(todo.List, ListItem{Line: Line{plain(l.actionHead(a) + ": "), submitted(a.Text)}})
	}
	if len(todo.List) == 0 {
		todo.List = []ListItem{{Line: Line{plain(l.Done)}, Done: true}}
	}
	return append(d, heading(2, plain(l.NextActions)), todo)
}

// fact is a line of what is known: a name and a value.
func (l Labels) fact(name, value string) ListItem {
	return ListItem{Line: Line{strong(name + ":"), plain(" " + value)}}
}

func (l Labels) names(phases []Phase) string {
	var names []string
	for _, p := range phases {
		names = append(names, l.Name(string(p)))
	}
	return strings.Join(names, ", ")
}

// itemLine is an item with its figures. The figures come first: a text written from right to left
// would draw what follows it to its side.
func (l Labels) itemLine(p Phase, item Item) Line {
	var figures string
	switch p {
	case Counterarguments:
		figures = fmt.Sprintf("%s, %s %d:", l.Name(item.Category), l.Severity, item.Severity)
	case FailureCauses:
		figures = fmt.Sprintf("%s %d × %s %d = %d:", l.Likelihood, item.Likelihood, l.Impact, item.Impact, item.Likelihood*item.Impact)
	case AssumptionList:
		bearing := l.NotBearing
		if item.bears() {
			bearing = l.LoadBearing
		}
		figures = fmt.Sprintf("%s (%s: %s):", bearing, l.Evidence, l.Name(item.Evidence))
	default:
		return Line{submitted(item.Text)}
	}
	return Line{strong(figures), plain(" "), submitted(item.Text)}
}

// answerLine is the answer to an item of the phase.
func (l Labels) answerLine(p Phase, a Item) Line {
	head, text := fmt.Sprintf("%s (%s):", l.Response, l.Name(a.Stance)), a.Text
	switch p {
	case Counterarguments:
		head, text = fmt.Sprintf("%s (%s):", l.Rebuttal, l.Name(a.Verdict)), a.Justification
	case FailureCauses:
		head, text = fmt.Sprintf("%s (%s: %s):", l.Mitigation, l.Residual, l.Name(a.ResidualRisk)), a.Action
	case AssumptionList:
		head, text = l.Test+":", a.Test
	}
	return Line{strong(head), plain(" "), submitted(text)}
}

// Action is something that a verdict leaves to do.
type Action struct {
	Kind ActionKind
	Text string // as it was submitted
}

// ActionKind is what is to be done with the text of an Action.
type ActionKind int

// The kinds of action.
const (
	AddressArgument ActionKind = iota + 1 // a counterargument that holds
	SettleArgument                        // one that partially holds
	RunTest
	CarryOut // a mitigation
	AcceptPoint
)

// NextActions lists what the verdict leaves to do, in the order of the phases.
func (v *Verdict) NextActions() []Action {
	var actions []Action
	for _, group := range v.Phases {
		for _, item := range group.Value {
			switch {
			case item.Rebuttal != nil && item.Rebuttal.Verdict == "holds":
				actions = append(actions, Action{AddressArgument, item.Text})
			case item.Rebuttal != nil && item.Rebuttal.Verdict == "partially_holds":
				actions = append(actions, Action{SettleArgument, item.Text})
			case item.TestToRun != nil:
				actions = append(actions, Action{RunTest, item.TestToRun.Test})
			case item.Mitigation != nil:
				actions = append(actions, Action{CarryOut, item.Mitigation.Action})
			case item.Response != nil && item.Response.Stance == "concede":
				actions = append(actions, Action{AcceptPoint, item.Text})
			}
		}
	}
	return actions
}

func (l Labels) actionHead(a Action) string {
	switch a.Kind {
	case AddressArgument:
		return l.Address
	case SettleArgument:
		return l.Settle
	case RunTest:
		return l.Run
	case CarryOut:
		return l.CarryOut
	}
	return l.Accept
}

// inWords makes a name of the contract a word for people.
func inWords(name string) string {
	if name == string(DevilsAdvocate) {
		return "devil's advocate"
	}
	return strings.ReplaceAll(name, "_", " ")
}

func upperFirst(s string) string {
	for i, c := range s {
		return string(unicode.ToUpper(c)) + s[i+len(string(c)):]
	}
	return s
}

// Progress writes where an unfinished review stands as Markdown, in English.
func (r *Review) Progress() string { return r.Document(English()).Markdown() }

// Document is the decision memo of a complete review, and of another one where it stands.
func (r *Review) Document(l Labels) Document {
	if v, err := r.Verdict(); err == nil {
		return v.Document(l)
	}
	head := []ListItem{
		l.fact(l.Review, r.ID),
		l.fact(l.Mode, l.Name(string(r.Mode))),
		l.fact(l.Status, l.Name(string(r.Status))),
	}
	if r.AbandonReason != "" {
		head = append(head, ListItem{Line: Line{strong(l.Reasoned + ":"), plain(" "), submitted(r.AbandonReason)}})
	}
	if p := r.Phase(); p != "" {
		head = append(head, l.fact(l.Phase, fmt.Sprintf("%s (%s)", l.Name(string(p)), r.Step())))
	}
	head = append(head, l.fact(l.Started, l.Time(r.Created)), l.fact(l.Updated, l.Time(r.Updated)))
	if h := r.Horizon(); h != "" {
		head = append(head, ListItem{Line: Line{strong(l.Horizon + ":"), plain(" "), submitted(h)}})
	}
	d := Document{heading(1, plain(l.Progress+": "), submitted(r.Claim)), {Kind: Bullets, List: head}}
	if r.Context != "" {
		d = append(d, Block{Kind: Paragraph, Line: Line{strong(l.Context + ":"), plain(" "), submitted(r.Context)}})
	}
	counts := Block{Kind: Bullets}
	for _, p := range r.Mode.Phases() {
		counts.List = append(counts.List, ListItem{Line: Line{plain(fmt.Sprintf("%s: %d", l.Name(string(p)), len(r.items[p])))}})
	}
	d = append(d, heading(2, plain(l.ItemsPerPhase)), counts)
	if missing := r.Missing(); len(missing) > 0 {
		list := Block{Kind: Checklist}
		for _, m := range missing {
			list.List = append(list.List, ListItem{Line: Line{plain(l.Requirement(m))}})
		}
		d = append(d, heading(2, plain(l.Missing)), list)
	}
	return d
}

// Format is a form of a report.
type Format string

// The formats of a report.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// ParseFormat reads a format's name; empty means Markdown, md is short for it.
func ParseFormat(name string) (Format, error) {
	switch name {
	case "", "md", string(Markdown):
		return Markdown, nil
	case string(JSON):
		return JSON, nil
	}
	return "", &Error{Code: UnknownFormat}
}

// Report is a verdict as a text.
type Report struct {
	ReviewID   string     `json:"review_id"`
	Format     Format     `json:"format"`
	Assessment Assessment `json:"assessment"`
	Content    string     `json:"content"`
}

// Report writes the verdict of a complete review in the format. The labels are those of the Markdown;
// JSON is in English always.
func (r *Review) Report(f Format, l Labels) (*Report, error) {
	v, err := r.Verdict()
	if err != nil {
		return nil, err
	}
	report := &Report{ReviewID: r.ID, Format: f, Assessment: v.Assessment}
	if f == JSON {
		report.Content, err = indented(v)
		return report, err
	}
	report.Content = v.Memo(l)
	return report, nil
}
