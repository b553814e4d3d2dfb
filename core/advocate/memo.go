package advocate

import (
	"fmt"
	"strconv"
	"strings"
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
		Name:   func(name string) string { return strings.ReplaceAll(name, "_", " ") },
		Reason: Outcome.Reason,
		Scale: func(o Outcome) string {
			s := o.riskScore()
			return s.Scale + ": " + s.Explanation
		},
	}
}

// Memo writes the verdict as a decision memo in Markdown. What was submitted can't change its
// structure: it stays on its line and is escaped. The same verdict and labels give the same bytes.
func (v *Verdict) Memo(l Labels) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	fact := func(name, value string) { line("- **%s:** %s", name, value) }
	o := v.outcome

	line("# %s: %s\n", l.Title, escape(v.Claim))
	fact(l.Review, v.ReviewID)
	fact(l.Mode, l.Name(string(v.Mode)))
	fact(l.Assessment, l.Name(string(v.Assessment)))
	fact(l.RiskScore, fmt.Sprintf("%s (%s)", o.RiskNumber(), l.Scale(o)))
	fact(l.Started, v.CreatedAt)
	fact(l.Completed, v.CompletedAt)
	if v.Horizon != "" {
		fact(l.Horizon, escape(v.Horizon))
	}
	if len(v.SkippedPhases) > 0 {
		var names []string
		for _, p := range v.SkippedPhases {
			names = append(names, l.Name(string(p)))
		}
		fact(l.Skipped, strings.Join(names, ", "))
	}
	if v.Context != "" {
		line("\n**%s:** %s", l.Context, escape(v.Context))
	}

	line("\n## %s\n", l.Verdict)
	line("**%s.** %s", upperFirst(l.Name(string(v.Assessment))), l.Reason(o))
	if len(o.Lenses) > 0 {
		line("\n### %s\n", l.Lenses)
		line("| %s | %s | %s | %s |", l.Lens, l.Assessment, l.RiskScore, l.Verdict)
		line("| --- | --- | --- | --- |")
		for _, lens := range o.Lenses {
			line("| %s | %s | %s | %s |", l.Name(string(lens.Mode)), l.Name(string(lens.Assessment)), lens.RiskNumber(), l.Reason(lens))
		}
	}
	for _, group := range v.Phases {
		p := Phase(group.Name)
		line("\n## %s\n", upperFirst(l.Name(group.Name)))
		for i, item := range group.Value {
			number := strconv.Itoa(i+1) + ". "
			indent := strings.Repeat(" ", len(number))
			line("%s%s", number, l.itemLine(p, item.Item))
			if answer := item.answer(); answer != nil {
				line("%s- %s", indent, l.answerLine(p, *answer))
			} else {
				line("%s- *%s*", indent, l.NoAnswer(p, item.Item))
			}
		}
	}
	line("\n## %s\n", l.NextActions)
	actions := v.NextActions()
	for _, a := range actions {
		line("- [ ] %s: %s", l.actionHead(a), escape(a.Text))
	}
	if len(actions) == 0 {
		line("- [x] %s", l.Done)
	}
	return b.String()
}

// itemLine is an item with its figures. The figures come first: a text written from right to left
// would draw what follows it to its side.
func (l Labels) itemLine(p Phase, item Item) string {
	var figures string
	switch p {
	case Counterarguments:
		figures = fmt.Sprintf("**%s, %s %d:** ", l.Name(item.Category), l.Severity, item.Severity)
	case FailureCauses:
		figures = fmt.Sprintf("**%s %d × %s %d = %d:** ", l.Likelihood, item.Likelihood, l.Impact, item.Impact, item.Likelihood*item.Impact)
	case AssumptionList:
		bearing := l.NotBearing
		if item.bears() {
			bearing = l.LoadBearing
		}
		figures = fmt.Sprintf("**%s, %s: %s:** ", bearing, l.Evidence, l.Name(item.Evidence))
	}
	return figures + escape(item.Text)
}

// answerLine is the answer to an item of the phase.
func (l Labels) answerLine(p Phase, a Item) string {
	switch p {
	case Counterarguments:
		return fmt.Sprintf("**%s (%s):** %s", l.Rebuttal, l.Name(a.Verdict), escape(a.Justification))
	case FailureCauses:
		return fmt.Sprintf("**%s (%s: %s):** %s", l.Mitigation, l.Residual, l.Name(a.ResidualRisk), escape(a.Action))
	case AssumptionList:
		return fmt.Sprintf("**%s:** %s", l.Test, escape(a.Test))
	}
	return fmt.Sprintf("**%s (%s):** %s", l.Response, l.Name(a.Stance), escape(a.Text))
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

func upperFirst(s string) string {
	for i, c := range s {
		return string(unicode.ToUpper(c)) + s[i+len(string(c)):]
	}
	return s
}

// Plain makes a submitted text safe for one line of any output: every kind of white space becomes a
// space, and what is invisible, steers a terminal or turns the direction of writing is dropped, except
// the joiners inside emoji and words.
func Plain(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			space = true
			continue
		case c == '\u200c' || c == '\u200d':
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(c)
	}
	return b.String()
}

// escape makes a submitted text inert in Markdown, on one line.
func escape(text string) string {
	text = Plain(text)
	var b strings.Builder
	b.Grow(len(text) + 8)
	start := true // nothing but digits so far, where a list number or a block could begin
	for i, c := range text {
		switch c {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '~', '&', '#', '$', '^', '{', '}':
			b.WriteByte('\\')
		case '-', '+', '=':
			if i == 0 {
				b.WriteByte('\\')
			}
		case '.', ')':
			if start && i > 0 {
				b.WriteByte('\\')
			}
		}
		start = start && '0' <= c && c <= '9'
		b.WriteRune(c)
	}
	return b.String()
}

// Progress writes where an unfinished review stands as Markdown, in English.
func (r *Review) Progress() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Stress test: %s\n\n- **Review:** %s\n- **Mode:** %s\n- **Status:** %s\n",
		escape(r.Claim), r.ID, strings.ReplaceAll(string(r.Mode), "_", " "), r.Status)
	if r.AbandonReason != "" {
		fmt.Fprintf(&b, "- **Reason:** %s\n", escape(r.AbandonReason))
	}
	if p := r.Phase(); p != "" {
		fmt.Fprintf(&b, "- **Phase:** %s (%s)\n", strings.ReplaceAll(string(p), "_", " "), r.Step())
	}
	fmt.Fprintf(&b, "- **Started:** %s\n- **Updated:** %s\n\n## Items per phase\n\n", stamp(r.Created), stamp(r.Updated))
	for _, p := range r.Mode.Phases() {
		fmt.Fprintf(&b, "- %s: %s\n", strings.ReplaceAll(string(p), "_", " "), strconv.Itoa(len(r.items[p])))
	}
	if missing := r.Missing(); len(missing) > 0 {
		b.WriteString("\n## Missing\n\n")
		for _, m := range missing {
			fmt.Fprintf(&b, "- [ ] %s\n", strings.ReplaceAll(m.String(), "_", " "))
		}
	}
	return b.String()
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
