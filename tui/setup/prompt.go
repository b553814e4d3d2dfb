package setup

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/cells"
)

// Prompt holds the conversation line by line, without colours, cursor movements
// or anything else that a screen reader or a dumb terminal could stumble over.
// It returns when the flow has ended: with an end of the input, a cancelled ctx
// or the word for it the person leaves. save is called when the person
// confirms and may be nil; the name of the backup that it made is returned.
func Prompt(ctx context.Context, f *Flow, in io.Reader, out io.Writer, width int, save Save) (backup string, err error) {
	c := &conversation{Flow: f, out: out, width: width, lines: readLines(in)}
	for f.End() == Running {
		answer, ok := c.ask(ctx)
		if !ok {
			f.Leave()
			break
		}
		f.Choose(answer)
		if f.End() == Done && save != nil {
			if backup, err = save(f.Policy()); err != nil {
				f.Failed(err)
			}
		}
	}
	return backup, c.err
}

type conversation struct {
	*Flow
	out   io.Writer
	width int
	lines <-chan string
	err   error // of out
}

// readLines reads lines until the input ends. The reader is left behind, waiting
// for a line, when the conversation ends before the input.
func readLines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			if err != nil { // a line without an end was not confirmed
				return
			}
			lines <- strings.TrimSpace(line)
		}
	}()
	return lines
}

func (c *conversation) say(text string) {
	if _, err := fmt.Fprintln(c.out, strings.Join(cells.Wrap(text, c.width), "\n")); err != nil && c.err == nil {
		c.err = err
	}
}

// ask asks the current question, and those before it if the person goes back,
// until there is an answer. It reports false when the person leaves.
func (c *conversation) ask(ctx context.Context) (answer string, ok bool) {
	c.question()
	for c.err == nil {
		options, selected := c.Options()
		c.invite(options, selected)
		var line string
		select {
		case <-ctx.Done():
			return "", false
		case line, ok = <-c.lines:
			if !ok {
				return "", false
			}
		}
		switch command(line) {
		case cmdLeave:
			return "", false
		case cmdBack:
			if !c.Back() {
				c.say(c.T("setup.first"))
				continue
			}
			c.question()
			continue
		}
		if options == nil {
			if line == "" {
				line = c.Typed()
			}
			c.Type(line)
			hint, fits := c.IDHint(line)
			c.say(hint)
			if fits {
				return line, true
			}
			continue
		}
		n, err := strconv.Atoi(line)
		if line == "" {
			n, err = selected+1, nil
		}
		if err != nil || n < 1 || n > len(options) {
			c.say(c.T("setup.bad-number", locales.Vars{"Max": len(options)}))
			continue
		}
		return options[n-1].Value, true
	}
	return "", false
}

// question says the current question and its choices.
func (c *conversation) question() {
	c.say("")
	c.say(c.Progress())
	if k := c.Screen().Kind; k == AskLanguage || k == AskProvider {
		for _, notice := range c.Notices() {
			c.say(notice)
		}
	}
	c.say(c.Title())
	if about := c.About(); about != "" {
		c.say(about)
	}
	if c.Screen().Kind == Confirm {
		provider, stages := c.Result()
		for _, r := range append([]Row{provider}, stages...) {
			c.say("  " + c.row(r))
		}
		if note := c.Compared(); note != "" {
			c.say(note)
		}
		if trouble := c.Trouble(); trouble != "" {
			c.say(trouble)
		}
	}
	options, _ := c.Options()
	for i, o := range options {
		text := fmt.Sprintf("%d. %s", i+1, o.Name)
		if o.Note != "" {
			text += ": " + o.Note
		}
		if o.Mark != "" {
			text += " (" + o.Mark + ")"
		}
		c.say(text)
		for _, r := range c.preview(o.Value) {
			c.say("   " + r.Name + ": " + r.Model + " " + r.Reasoning)
		}
	}
}

func (c *conversation) preview(way string) []Row {
	if c.Screen().Kind != AskWay {
		return nil
	}
	return c.Preview(way)
}

func (c *conversation) row(r Row) string {
	text := r.Name + ": " + strings.TrimSpace(r.Model+" "+r.Reasoning)
	switch {
	case r.Same:
		text += " (" + c.T("setup.same") + ")"
	case r.Was != "":
		text += " (" + c.T("setup.was", locales.Vars{"Before": r.Was}) + ")"
	}
	return text
}

// invite says what can be typed.
func (c *conversation) invite(options []Option, selected int) {
	back, leave := c.T("setup.back-word"), c.T("setup.leave-word")
	text := ""
	switch {
	case options != nil:
		text = c.T("setup.ask-choice", locales.Vars{"Back": back, "Leave": leave, "Max": len(options), "Default": selected + 1})
	case c.Typed() != "":
		text = c.T("setup.ask-text", locales.Vars{"Back": back, "Leave": leave, "Default": c.Typed()})
	default:
		text = c.T("setup.ask-text-empty", locales.Vars{"Back": back, "Leave": leave})
	}
	if _, err := fmt.Fprint(c.out, text+": "); err != nil && c.err == nil {
		c.err = err
	}
}

type word uint8

const (
	cmdNone word = iota
	cmdBack
	cmdLeave
)

// command understands the words of both languages, and the short ones on a
// Russian layout, whatever language the conversation is in.
func command(line string) word {
	for _, lang := range locales.Langs() {
		p := locales.New(lang)
		switch {
		case strings.EqualFold(line, p.T("setup.back-word")):
			return cmdBack
		case strings.EqualFold(line, p.T("setup.leave-word")):
			return cmdLeave
		}
	}
	if r := []rune(line); len(r) == 1 {
		switch locales.LatinKey(r[0]) {
		case 'b':
			return cmdBack
		case 'q':
			return cmdLeave
		}
	}
	return cmdNone
}
