package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/memo"
	"github.com/qa-orch/qa-orch/locales/play"
	server "github.com/qa-orch/qa-orch/server/advocate"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type advocateDemoOptions struct {
	*App
	Mode     string
	MemoOnly bool
}

func newAdvocateDemo(a *App) *cobra.Command {
	o := &advocateDemoOptions{App: a, Mode: string(advocate.DevilsAdvocate)}
	var modes []string
	for _, m := range advocate.Modes() {
		modes = append(modes, string(m))
	}
	cmd := &cobra.Command{
		Use:  "demo",
		RunE: func(*cobra.Command, []string) error { return runAdvocateDemo(o) },
	}
	cmd.Flags().Var(oneOf(&o.Mode, modes...), "mode", "")
	cmd.Flags().BoolVar(&o.MemoOnly, "memo-only", false, "")
	addDataDir(cmd, new(advocateOptions)) // every command here takes it; this one keeps nothing
	return cmd
}

// demoReview is the id of the review in the demo, demoStart the time at which it is said to begin: the
// output is the same bytes each time.
const demoReview = "rev-demo"

var demoStart = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// runAdvocateDemo plays a stress test through the engine: in some phases a lazy attempt first.
func runAdvocateDemo(o *advocateDemoOptions) error {
	script, err := play.In(o.Lang())
	if err != nil {
		return err
	}
	clock := demoStart
	now := func() time.Time { clock = clock.Add(time.Minute); return clock }
	r, err := advocate.New(demoReview, script.Claim, advocate.Mode(o.Mode), script.Context, clock)
	if err != nil {
		return o.refused(err)
	}
	p := &performance{App: o.App, silent: o.MemoOnly}
	p.say(o.T("advocate.demo.intro"))
	p.say("")
	p.say(o.command(server.StartTool) + " mode=" + o.Mode)
	p.text(o.T("advocate.demo.claim", locales.Vars{"Claim": script.Claim}))
	p.text(o.T("advocate.demo.context", locales.Vars{"Context": script.Context}))
	for r.Status == advocate.Active {
		if err := p.phase(r, script.Of(r.Phase()), now); err != nil {
			return err
		}
	}
	p.say("")
	p.say(o.Theme().Paint(theme.Title, o.T("advocate.demo.verdict")))
	p.say("")
	o.printReview(r)
	return nil
}

// command writes a tool call.
func (a *App) command(tool string) string { return a.Theme().Paint(theme.Command, "→ "+tool) }

// performance prints what the client and the engine say to each other.
type performance struct {
	*App
	silent bool
}

func (p *performance) say(line string) {
	if !p.silent {
		p.Println(fold.Text(line, p.Columns()))
	}
}

// text prints a line of an exchange under its call.
func (p *performance) text(line string) {
	if !p.silent {
		p.Println(indent(fold.Text(line, p.Columns()-2)))
	}
}

func (p *performance) phase(r *advocate.Review, script play.Phase, now func() time.Time) error {
	t, skipped := p.Theme(), len(r.Skipped)
	p.say("")
	p.say(t.Paint(theme.Title, p.T("advocate.demo.phase", locales.Vars{"Step": r.Step(), "Phase": memo.Name(p.Printer, r.Phase())})))
	if len(script.Lazy) > 0 {
		p.say(p.T("advocate.demo.lazy"))
		_, err := p.submit(r, script.Lazy, now())
		var e *advocate.Error
		if !errors.As(err, &e) || e.Code != advocate.Rejected {
			return failed(locales.M("advocate.demo.not-refused"), err)
		}
		p.rejection(e)
		p.say(p.T("advocate.demo.again"))
	}
	result, err := p.submit(r, script.Items, now())
	if err != nil {
		return p.refused(err)
	}
	text := t.Paint(theme.Good, p.N("advocate.demo.accepted", result.Accepted))
	if result.Status != advocate.InProgress {
		text += ". " + p.T("advocate.demo.complete")
	}
	p.text(text)
	if len(r.Skipped) > skipped {
		var names []string
		for _, phase := range r.Skipped[skipped:] {
			names = append(names, memo.Name(p.Printer, phase))
		}
		p.text(p.T("advocate.demo.skipped", locales.Vars{"Phases": strings.Join(names, ", ")}))
	}
	return nil
}

// submit prints the items and submits them.
func (p *performance) submit(r *advocate.Review, items []map[string]any, at time.Time) (*advocate.SubmitResult, error) {
	submission, err := play.Submission(items)
	if err != nil {
		return nil, err
	}
	p.say(p.command(server.SubmitTool))
	p.items(items)
	return r.Submit(submission, at)
}

// items prints what is submitted: each text and, after it, the other fields as they are sent.
func (p *performance) items(items []map[string]any) {
	for i, item := range items {
		text := ""
		var fields []string
		for _, name := range []string{"text", "justification", "action", "test", "horizon"} {
			if s, ok := item[name].(string); ok {
				text = s
			}
		}
		for _, name := range []string{"index", "category", "severity", "likelihood", "impact", "load_bearing", "evidence", "verdict", "residual_risk", "stance"} {
			if v, ok := item[name]; ok {
				fields = append(fields, fmt.Sprintf("%s=%v", name, v))
			}
		}
		number := fmt.Sprintf("%d. ", i+1)
		if len(fields) > 0 {
			text += " " + p.Theme().Paint(theme.Muted, "("+strings.Join(fields, ", ")+")")
		}
		if !p.silent {
			p.Println("  " + number + hang(text, p.Columns()-2-len(number), 2+len(number)))
		}
	}
}

// rejection prints why a submission was refused.
func (p *performance) rejection(e *advocate.Error) {
	head, problems := explain.Rejection(p.Printer, e)
	p.text(p.Theme().Paint(theme.Bad, p.T("advocate.demo.refused", locales.Vars{"Problem": head})))
	for _, problem := range problems {
		p.refusal(problem)
	}
}

// refusal prints a line of a refusal.
func (p *performance) refusal(line string) {
	if !p.silent {
		p.Println("    " + hang(line, p.Columns()-4, 4))
	}
}
