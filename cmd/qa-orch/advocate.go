package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/memo"
	server "github.com/qa-orch/qa-orch/server/advocate"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/page"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// advocateOptions are shared by the commands of the devil's advocate; each uses those that it has a
// flag for.
type advocateOptions struct {
	*App
	DataDir string
	ID      string
	JSON    bool
	Format  string
	Output  string
	Force   bool
}

// newAdvocate makes "qa-orch advocate" and its commands.
func newAdvocate(a *App) *cobra.Command {
	bare := &advocateOptions{App: a}
	cmd := &cobra.Command{
		Use:     "advocate",
		GroupID: groupServe,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.InTTY {
				return runAdvocateServe(cmd.Context(), bare)
			}
			return runAdvocateList(bare)
		},
	}
	addDataDir(cmd, bare)
	cmd.AddCommand(
		newAdvocateDemo(a),
		newAdvocateList(a),
		newAdvocateReport(a),
		newAdvocateServe(a),
		newAdvocateShow(a),
	)
	return cmd
}

func addDataDir(cmd *cobra.Command, o *advocateOptions) {
	cmd.Flags().StringVar(&o.DataDir, "data-dir", "", "")
	_ = cmd.RegisterFlagCompletionFunc("data-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

func newAdvocateServe(a *App) *cobra.Command {
	o := &advocateOptions{App: a}
	cmd := &cobra.Command{
		Use:  "serve",
		RunE: func(cmd *cobra.Command, _ []string) error { return runAdvocateServe(cmd.Context(), o) },
	}
	addDataDir(cmd, o)
	return cmd
}

func newAdvocateList(a *App) *cobra.Command {
	o := &advocateOptions{App: a}
	cmd := &cobra.Command{
		Use:  "list",
		RunE: func(*cobra.Command, []string) error { return runAdvocateList(o) },
	}
	addDataDir(cmd, o)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	return cmd
}

// ofOneReview makes a command that takes the id of a review.
func ofOneReview(o *advocateOptions, name string, takes locales.Message, run func(*advocateOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:               name,
		Args:              exactArgs(1, takes),
		ValidArgsFunction: o.completeID,
		RunE: func(_ *cobra.Command, args []string) error {
			o.ID = args[0]
			return run(o)
		},
	}
	addDataDir(cmd, o)
	return cmd
}

func newAdvocateShow(a *App) *cobra.Command {
	o := &advocateOptions{App: a}
	cmd := ofOneReview(o, "show", locales.M("help.advocate.show.args"), runAdvocateShow)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	return cmd
}

func newAdvocateReport(a *App) *cobra.Command {
	o := &advocateOptions{App: a}
	cmd := ofOneReview(o, "report", locales.M("help.advocate.report.args"), runAdvocateReport)
	cmd.Flags().Var(oneOf(&o.Format, "md", string(advocate.Markdown), string(advocate.JSON)), "format", "")
	cmd.Flags().StringVarP(&o.Output, "output", "o", "", "")
	cmd.Flags().BoolVar(&o.Force, "force", false, "")
	return cmd
}

// desk opens the folder of reviews. It touches no file.
func (o *advocateOptions) desk() (*desk.Desk, error) {
	dir, problem := settings.AdvocateDir(o.DataDir, o.Getenv)
	if problem != nil {
		return nil, misused(locales.M("error.environment", locales.Vars{"Problem": explain.Setting(o.Printer, problem)}), "")
	}
	d := desk.New(dir)
	d.Now = o.Now
	return d, nil
}

// commandLine writes a command for a person to type.
func commandLine(words ...string) string {
	return strings.Join(append([]string{program}, words...), " ")
}

// refused words an error of the devil's advocate.
func (a *App) refused(err error) error {
	return failed(locales.M("advocate.failed", locales.Vars{"Problem": explain.Advocate(a.Printer, err)}), err)
}

// runAdvocateServe serves the devil's advocate until the client is gone or a signal comes.
func runAdvocateServe(ctx context.Context, o *advocateOptions) error {
	d, err := o.desk()
	if err != nil {
		return err
	}
	s, err := server.New(d, thisBuild().Version)
	if err != nil {
		return err
	}
	return o.serveMCP(ctx, s, nil)
}

func runAdvocateList(o *advocateOptions) error {
	d, err := o.desk()
	if err != nil {
		return err
	}
	list, err := d.List()
	if err != nil {
		return o.refused(err)
	}
	if o.JSON {
		return printJSON(o.App, list)
	}
	t, width := o.Theme(), o.Columns()
	say := func(role theme.Role, text string) {
		for line := range strings.SplitSeq(fold.Text(text, width), "\n") { // one by one: a block would be padded
			o.Println(t.Paint(role, line))
		}
	}
	switch list.Count {
	case 0:
		o.Println(o.wrap(o.T("advocate.empty", locales.Vars{"Folder": list.DataDir}), 0))
		say(theme.Muted, o.T("advocate.begin", locales.Vars{"Command": commandLine("advocate", "demo")}))
	default:
		o.Println(t.Paint(theme.Title, o.N("advocate.count", list.Count)))
		o.Println(t.Paint(theme.Muted, o.wrap(o.T("advocate.in-folder", locales.Vars{"Folder": list.DataDir}), 0)))
	}
	for _, row := range list.Reviews {
		o.Println("")
		o.printRow(row)
	}
	if len(list.Skipped) > 0 {
		o.Println("")
		say(theme.Attention, o.N("advocate.skipped", len(list.Skipped)))
		for _, s := range list.Skipped {
			text := o.T("advocate.skipped-file", locales.Vars{"File": s.File, "Problem": explain.Fault(o.Printer, s.Fault)})
			o.Println("  " + hang(text, width-2, 2))
		}
	}
	if list.Count > 0 {
		o.Println("")
		say(theme.Muted, o.T("advocate.show-hint", locales.Vars{"Command": commandLine("advocate", "show", list.Reviews[0].ReviewID)}))
	}
	return nil
}

// printRow prints a review: id, mode, where it stands and since when; its claim below.
func (o *advocateOptions) printRow(row advocate.Row) {
	t := o.Theme()
	state := t.Paint(theme.Status(string(row.Status)), memo.Name(o.Printer, row.Status))
	switch {
	case row.Assessment != "":
		state = t.Paint(page.Assessment(row.Assessment), memo.Name(o.Printer, row.Assessment))
	case row.Phase != nil:
		state += " · " + o.T("advocate.row-phase", locales.Vars{"Phase": memo.Name(o.Printer, *row.Phase), "Step": *row.Step})
	case row.Status == advocate.Abandoned:
		state = t.Paint(theme.Muted, memo.Name(o.Printer, row.Status))
	}
	text := t.Paint(theme.Command, row.ReviewID) + "  " + memo.Name(o.Printer, row.Mode) + " · " + state
	if at, err := time.Parse(time.RFC3339, row.UpdatedAt); err == nil {
		text += " · " + t.Paint(theme.Muted, o.Ago(o.Now().Sub(at).Truncate(time.Second)))
	}
	o.Println(hang(text, o.Columns(), 2))
	claim := advocate.Plain(row.Claim)
	if row.Cut {
		claim += "…"
	}
	o.Println("  " + hang(claim, o.Columns()-2, 2))
}

// standingView is a review for programs: where it stands and, when it is complete, the verdict.
type standingView struct {
	*advocate.Standing
	Verdict *advocate.Verdict `json:"verdict"` // null unless complete
}

func runAdvocateShow(o *advocateOptions) error {
	d, err := o.desk()
	if err != nil {
		return err
	}
	r, err := d.Review(o.ID)
	if err != nil {
		return o.refused(err)
	}
	if o.JSON {
		view := standingView{Standing: r.Standing()}
		if r.Status == advocate.Complete {
			if view.Verdict, err = r.Verdict(); err != nil {
				return o.refused(err)
			}
		}
		return printJSON(o.App, view)
	}
	o.printReview(r)
	return nil
}

// printReview prints a review: laid out on a terminal, else as the Markdown that a report has.
func (a *App) printReview(r *advocate.Review) {
	if a.OutTTY {
		d := r.Document(memo.OnScreen(a.Printer, a.Now().Location()))
		a.Println(page.Render(d, a.Theme(), a.Columns()))
		return
	}
	_, _ = fmt.Fprint(a.Out, r.Document(memo.Labels(a.Printer)).Markdown())
}

func runAdvocateReport(o *advocateOptions) error {
	format, err := advocate.ParseFormat(o.Format)
	if err != nil {
		return o.refused(err)
	}
	d, err := o.desk()
	if err != nil {
		return err
	}
	r, err := d.Review(o.ID)
	if err != nil {
		return o.refused(err)
	}
	report, err := r.Report(format, memo.Labels(o.Printer))
	if err != nil {
		return o.refused(err)
	}
	switch {
	case o.Output != "":
		return o.save(report.Content)
	case format == advocate.Markdown:
		o.printReview(r)
	default:
		_, _ = o.Out.Write(inertJSON([]byte(report.Content)))
	}
	return nil
}

// save writes a report to the file that was asked for.
func (o *advocateOptions) save(content string) error {
	path := settings.Path(o.Output, o.Getenv)
	write := atomicfile.Create
	if o.Force {
		write = atomicfile.Write
	}
	switch err := write(path, []byte(content), 0o600); {
	case errors.Is(err, fs.ErrExist):
		return failed(locales.M("advocate.exists", locales.Vars{"Path": path}), err)
	case err != nil:
		return failed(locales.M("advocate.unwritable", locales.Vars{"Path": path, "Cause": explain.File(o.Printer, err)}), err)
	}
	o.Println(o.wrap(o.T("advocate.written", locales.Vars{"Path": path}), 0))
	return nil
}

// completeID completes the id of a review.
func (o *advocateOptions) completeID(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	d, err := o.desk()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := d.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []cobra.Completion
	for _, row := range list.Reviews {
		ids = append(ids, cobra.CompletionWithDesc(row.ReviewID, advocate.Plain(row.Claim)))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
