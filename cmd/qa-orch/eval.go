package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/eval"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// What people are told about the cases. A test holds that each case has its words.
var (
	caseTitles = locales.NewFamily("eval.title.",
		"cold-start-link", "discount-tests", "double-charge", "export-path", "invite-link", "late-response", "page-cursor",
		"rename-only", "retry-clock", "stale-rates", "tool-schema", "two-configs", "unchecked-json")
	caseGood = locales.NewFamily("eval.good.",
		"cold-start-link", "discount-tests", "double-charge", "export-path", "invite-link", "late-response", "page-cursor",
		"rename-only", "retry-clock", "stale-rates", "tool-schema", "two-configs", "unchecked-json")
	caseAvoid = locales.NewFamily("eval.avoid.",
		"cold-start-link", "discount-tests", "double-charge", "export-path", "invite-link", "late-response", "page-cursor",
		"rename-only", "retry-clock", "stale-rates", "tool-schema", "two-configs", "unchecked-json")

	answerProblems = locales.NewFamily("eval.problem.",
		"too_large", "encoding", "empty", "fenced", "missing_section", "misplaced_section", "duplicate_section", "foreign_section",
		"unexpected_section", "empty_section", "no_candidates", "unnumbered", "candidate_format", "candidate_number",
		"candidate_elsewhere", "uncited", "uncited_candidate", "unknown_evidence", "cyrillic_evidence", "severity_word", "verdict_word")
)

type evalOptions struct {
	*App
	Case  eval.Case
	File  string
	Judge bool
	JSON  bool
}

// newEval makes "qa-orch eval" and its commands.
func newEval(a *App) *cobra.Command {
	return newEvalWith(&evalOptions{App: a}, runEvalList, runEvalShow, runEvalCheck)
}

func newEvalWith(o *evalOptions, list, show, check func(*evalOptions) error) *cobra.Command {
	ids := eval.IDs()
	find := func(cmd *cobra.Command, args []string) error {
		var id string
		err := word(cmd, args, ids, &id)
		o.Case, _ = eval.Find(id)
		return err
	}
	group := &cobra.Command{Use: "eval", GroupID: groupLook}

	listCmd := &cobra.Command{Use: "list", RunE: func(*cobra.Command, []string) error { return list(o) }}
	listCmd.Flags().BoolVar(&o.JSON, "json", false, "")

	showCmd := &cobra.Command{
		Use:       "show",
		Args:      exactArgs(1, locales.M("help.eval.show.args")),
		ValidArgs: ids,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := find(cmd, args); err != nil {
				return err
			}
			return show(o)
		},
	}
	showCmd.Flags().BoolVar(&o.Judge, "judge", false, "")
	showCmd.Flags().BoolVar(&o.JSON, "json", false, "")

	checkCmd := &cobra.Command{
		Use:  "check",
		Args: exactArgs(2, locales.M("help.eval.check.args")),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return ids, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := find(cmd, args); err != nil {
				return err
			}
			o.File = args[1]
			return check(o)
		},
	}
	checkCmd.Flags().BoolVar(&o.JSON, "json", false, "")

	group.AddCommand(listCmd, showCmd, checkCmd)
	return group
}

// evalShow returns the command line that shows a case.
func evalShow(args ...string) string {
	return strings.Join(append([]string{program, "eval", "show"}, args...), " ")
}

// caseJSON is a case for programs, in English whatever the language of the run is.
type caseJSON struct {
	Case     string          `json:"case"`
	Profile  catalog.Profile `json:"profile"`
	Title    string          `json:"title"`
	Prompt   string          `json:"prompt,omitempty"`
	Evidence []string        `json:"evidence,omitempty"`
	Good     []string        `json:"good,omitempty"`
	Avoid    []string        `json:"avoid,omitempty"`
}

func runEvalList(o *evalOptions) error {
	english := locales.New(locales.En)
	if o.JSON {
		all := []caseJSON{}
		for _, c := range eval.Cases() {
			all = append(all, caseJSON{Case: c.ID, Profile: c.Profile, Title: english.Word(caseTitles, c.ID)})
		}
		return printJSON(o.App, map[string]any{"cases": all})
	}
	t, width := o.Theme(), o.Columns()
	o.Println(t.Paint(theme.Title, o.T("eval.cases")))
	for _, c := range eval.Cases() {
		o.Println("")
		o.Println(t.Paint(theme.Command, c.ID) + "  " + t.Paint(theme.Muted, terms.Profile(o.Printer, c.Profile)))
		o.Println(indent(fold.Text(o.Word(caseTitles, c.ID), width-2)))
	}
	o.Println("")
	o.Println(fold.Text(o.T("eval.more", locales.Vars{"Command": evalShow(eval.IDs()[0])}), width))
	return nil
}

func runEvalShow(o *evalOptions) error {
	c, english := o.Case, locales.New(locales.En)
	if o.JSON {
		j := caseJSON{Case: c.ID, Profile: c.Profile, Title: english.Word(caseTitles, c.ID)}
		if o.Judge {
			j.Good = strings.Split(english.Word(caseGood, c.ID), "\n")
			j.Avoid = strings.Split(english.Word(caseAvoid, c.ID), "\n")
			return printJSON(o.App, j)
		}
		j.Prompt = c.Prompt()
		for _, e := range c.Evidence {
			j.Evidence = append(j.Evidence, e.Ref)
		}
		return printJSON(o.App, j)
	}
	if !o.Judge {
		_, err := io.WriteString(o.Out, c.Prompt()) // for a model: Markdown, never in colour
		return err
	}
	t, width := o.Theme(), o.Columns()
	o.Println(t.Paint(theme.Title, o.Word(caseTitles, c.ID)) + "  " + t.Paint(theme.Command, c.ID) + " · " + t.Paint(theme.Muted, terms.Profile(o.Printer, c.Profile)))
	points := func(title, text string) {
		o.Println("")
		o.Println(t.Paint(theme.Title, title))
		for point := range strings.SplitSeq(text, "\n") {
			o.Println("- " + hang(point, width-2, 2))
		}
	}
	points(o.T("eval.good"), o.Word(caseGood, c.ID))
	points(o.T("eval.avoid"), o.Word(caseAvoid, c.ID))
	o.Println("")
	o.Println(fold.Text(o.T("eval.judge"), width))
	return nil
}

// checkJSON is the result of a check for programs.
type checkJSON struct {
	Case     string          `json:"case"`
	Profile  catalog.Profile `json:"profile"`
	OK       bool            `json:"ok"`
	Problems []problemJSON   `json:"problems"`
}

type problemJSON struct {
	eval.Problem
	Message string `json:"message"`
}

func runEvalCheck(o *evalOptions) error {
	answer, err := o.readAnswer()
	if err != nil {
		return err
	}
	problems := o.Case.Check(answer)
	if o.JSON {
		english := locales.New(locales.En)
		j := checkJSON{Case: o.Case.ID, Profile: o.Case.Profile, OK: len(problems) == 0, Problems: []problemJSON{}}
		for _, p := range problems {
			j.Problems = append(j.Problems, problemJSON{p, answerProblem(english, p)})
		}
		if err := printJSON(o.App, j); err != nil {
			return err
		}
	} else {
		o.printProblems(problems)
	}
	if len(problems) > 0 {
		return quiet(exitFailed)
	}
	return nil
}

// readAnswer reads the answer, no more than is needed to see that it is too large.
func (o *evalOptions) readAnswer() ([]byte, error) {
	in := o.In
	if o.File != "-" {
		file, err := os.Open(o.File)
		if err != nil {
			return nil, failed(locales.M("eval.unreadable", locales.Vars{"Path": o.File, "Cause": o.Cause(err)}), err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	answer, err := io.ReadAll(io.LimitReader(in, eval.Limit+1))
	switch {
	case err == nil:
		return answer, nil
	case o.File == "-":
		return nil, failed(locales.M("eval.input", locales.Vars{"Cause": o.Cause(err)}), err)
	}
	return nil, failed(locales.M("eval.unreadable", locales.Vars{"Path": o.File, "Cause": o.Cause(err)}), err)
}

func (o *evalOptions) printProblems(problems []eval.Problem) {
	t, width := o.Theme(), o.Columns()
	if len(problems) == 0 {
		text := o.T("eval.sound", locales.Vars{"Case": o.Case.ID, "Command": evalShow(o.Case.ID, "--judge")})
		o.Println(fold.Text(t.Paint(theme.Good, text), width))
		return
	}
	name := o.File
	if name == "-" {
		name = o.T("eval.input-name")
	}
	for _, p := range problems {
		text := o.T("eval.line", locales.Vars{"Path": name, "Line": p.Line, "Problem": locales.Styled(answerProblem(o.Printer, p))})
		o.Println(fold.Text(text, width))
	}
	o.Println(t.Paint(theme.Attention, o.N("eval.found", len(problems))))
}

// answerProblem says what is wrong with an answer and what to do.
func answerProblem(p *locales.Printer, problem eval.Problem) string {
	word := string(problem.Code)
	if problem.Code == eval.Uncited && problem.Candidate != "" {
		word = "uncited_candidate"
	}
	return p.Word(answerProblems, word, locales.Vars{
		"Section": problem.Section, "Candidate": problem.Candidate, "Expected": problem.Expected,
		"Evidence": problem.Evidence, "Word": problem.Word, "Limit": p.Bytes(eval.Limit),
	})
}
