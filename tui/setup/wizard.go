package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// Save writes the policy and returns the name of the backup of an unusable
// file that it replaced, empty if there was none.
type Save func(policy.Policy) (backup string, err error)

// Wizard is the conversation on a full screen.
type Wizard struct {
	*Flow
	// Backup is the backup that saving made, empty if it made none.
	Backup string

	look   *theme.Theme
	form   *huh.Theme
	keys   *huh.KeyMap
	save   Save
	saving bool

	width, height int

	// One of the two shows the current question.
	list  *huh.Select[string]
	input *huh.Input

	options []Option
	chosen  string // what the cursor of list is on
	text    string // what stands in input
	refused bool   // Enter was pressed on an id that can't be used
}

// NewWizard shows f in a look. save is called when the person confirms; where
// it is nil the flow just ends.
func NewWizard(f *Flow, look *theme.Theme, save Save) *Wizard {
	w := &Wizard{Flow: f, look: look, form: look.Forms(), keys: keyMap(), save: save}
	w.ask()
	return w
}

// keyMap leaves to the fields the keys that move in them; all others belong to
// the wizard, and none is told of in English.
func keyMap() *huh.KeyMap {
	k := huh.NewDefaultKeyMap()
	off := key.NewBinding(key.WithDisabled())
	k.Select.Filter, k.Select.SetFilter, k.Select.ClearFilter = off, off, off
	k.Select.Next, k.Select.Prev, k.Select.Submit = off, off, off
	k.Input.AcceptSuggestion, k.Input.Next, k.Input.Prev, k.Input.Submit = off, off, off, off
	return k
}

// ask builds the field of the current question.
func (w *Wizard) ask() tea.Cmd {
	w.list, w.input, w.refused = nil, nil, false
	if w.Screen().Kind == AskID {
		w.text = w.Typed()
		w.input = huh.NewInput().Prompt("> ").CharLimit(200).Value(&w.text)
		w.input.WithTheme(w.form)
		w.input.WithKeyMap(w.keys)
		w.layout()
		return w.input.Focus()
	}
	options, selected := w.Options()
	w.options, w.chosen = options, options[selected].Value
	w.layout()
	return nil
}

// layout builds what depends on the width.
func (w *Wizard) layout() {
	width := w.columns()
	if w.input != nil {
		w.input.Title(w.Title()).Description(w.about(width)).WithWidth(width - 1)
		return
	}
	lines, painted := w.lines(width - fieldFrame)
	rows := make([]huh.Option[string], len(lines))
	for i, line := range lines {
		rows[i] = huh.NewOption(line, w.options[i].Value)
	}
	look := *w.form
	look.Focused.UnselectedOption = w.look.Renderer.NewStyle().Transform(func(line string) string {
		if p, ok := painted[strings.TrimRight(line, " ")]; ok {
			return p
		}
		return line
	})
	w.list = huh.NewSelect[string]().Title(w.Title()).Description(w.about(width)).Options(rows...).Value(&w.chosen)
	w.list.WithTheme(&look)
	w.list.WithKeyMap(w.keys)
	w.list.WithWidth(width - 1)
	w.list.Focus()
}

// about is About, of which a file's path takes one line at most.
func (w *Wizard) about(width int) string {
	text := w.About()
	if w.Screen().Kind == Confirm {
		if over := ansi.StringWidth(text) - (width - fieldFrame); over > 0 {
			before, path, _ := strings.Cut(text, w.Current.Path)
			text = before + ansi.TruncateLeft(w.Current.Path, over+1, "…") + path
		}
	}
	return text
}

// fieldFrame is what a field's border and cursor take of its width.
const fieldFrame = 5

// maxColumns keeps lines readable on wide terminals.
const maxColumns = 100

func (w *Wizard) columns() int {
	if w.width == 0 {
		return 80
	}
	return min(max(w.width, minColumns), maxColumns)
}

// lines lays the options out in columns of at most room cells, and returns how
// each looks when it is not the chosen one.
func (w *Wizard) lines(room int) (lines []string, painted map[string]string) {
	column := 0
	for _, o := range w.options {
		if o.Note != "" || o.Mark != "" {
			column = max(column, ansi.StringWidth(o.Name))
		}
	}
	painted = map[string]string{}
	for _, o := range w.options {
		name := ansi.Truncate(o.Name, room, "…")
		note := o.Note
		if o.Mark != "" {
			note = o.Mark
			if o.Note != "" {
				note += " · " + o.Note
			}
		}
		if note == "" {
			lines = append(lines, name)
			painted[name] = w.look.Paint(w.role(o), name)
			continue
		}
		gap := strings.Repeat(" ", max(column-ansi.StringWidth(o.Name), 0)+2)
		note = ansi.Truncate(note, max(room-column-2, 0), "…")
		line := strings.TrimRight(name+gap+note, " ")
		lines = append(lines, line)
		painted[line] = w.look.Paint(w.role(o), name) + gap + w.look.Paint(theme.Muted, note)
	}
	return lines, painted
}

// role is what the name of an option is.
func (w *Wizard) role(o Option) theme.Role {
	switch w.Screen().Kind {
	case AskProvider:
		return theme.Provider(o.Value)
	case AskModel:
		if o.Value != otherModel {
			return theme.Model
		}
	case AskReasoning:
		return theme.Reasoning(o.Value)
	}
	return theme.Plain
}

// Init starts the first question.
func (w *Wizard) Init() tea.Cmd { return nil }

// saved says that saving has come to an end.
type saved struct {
	backup string
	err    error
}

// Update takes a key or a change of the terminal's size.
func (w *Wizard) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		w.width, w.height = msg.Width, msg.Height
		w.layout()
		if w.input != nil {
			return w, w.input.Focus()
		}
		return w, nil
	case saved:
		w.saving = false
		if msg.err != nil {
			w.Failed(msg.err)
			return w, w.ask()
		}
		w.Backup = msg.backup
		return w, tea.Quit
	case tea.KeyMsg:
		return w, w.key(msg)
	}
	if w.input != nil {
		_, cmd := w.input.Update(msg)
		return w, cmd
	}
	return w, nil
}

func (w *Wizard) key(msg tea.KeyMsg) tea.Cmd {
	if w.End() != Running {
		return nil // it is being saved, or the screen goes in a moment
	}
	switch msg.String() {
	case "ctrl+c", "esc":
		w.Leave()
		return tea.Quit
	case "shift+tab":
		return w.back()
	}
	if _, _, ok := w.fits(); !ok {
		return nil // nobody sees what the key would do
	}
	if w.input != nil {
		return w.keyInText(msg)
	}
	msg = latin(msg)
	switch msg.String() {
	case "left", "h", "backspace":
		return w.back()
	case "enter", "right", "l", " ", "tab":
		return w.next(w.chosen)
	}
	_, cmd := w.list.Update(msg)
	if v, ok := w.list.Hovered(); ok {
		w.chosen = v
	}
	return cmd
}

func (w *Wizard) keyInText(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "enter", "tab":
		id := strings.TrimSpace(w.text)
		if _, ok := w.IDHint(id); !ok {
			w.refused = true
			return nil
		}
		return w.next(id)
	}
	w.refused = false
	_, cmd := w.input.Update(msg)
	w.Type(w.text)
	return cmd
}

// latin returns the key as it were on a Latin layout.
func latin(msg tea.KeyMsg) tea.KeyMsg {
	if msg.Type == tea.KeyRunes && len(msg.Runes) == 1 {
		msg.Runes = []rune{locales.LatinKey(msg.Runes[0])}
	}
	return msg
}

func (w *Wizard) back() tea.Cmd {
	if !w.Back() {
		return nil
	}
	return w.ask()
}

func (w *Wizard) next(answer string) tea.Cmd {
	w.Choose(answer)
	switch {
	case w.End() == Running:
		return w.ask()
	case w.End() == Done && w.save != nil:
		w.saving = true
		p, save := w.Policy(), w.save
		return func() tea.Msg {
			backup, err := save(p)
			return saved{backup, err}
		}
	}
	return tea.Quit
}

// View draws the screen, or says that it is too small.
func (w *Wizard) View() string {
	if w.End() != Running && !w.saving {
		return ""
	}
	view, need, ok := w.fits()
	if !ok {
		have := fmt.Sprintf("%d×%d", w.width, w.height)
		return fold.Text(w.T("setup.small", locales.Vars{"Have": have, "Need": fmt.Sprintf("%d×%d", minColumns, need)}), max(w.width, 10))
	}
	return view
}

// minColumns is the least width at which no line of the wizard is senseless.
const minColumns = 46

// minOptions is how many options must be seen at once, if there are as many.
const minOptions = 3

// fits returns the screen and whether the terminal can show it; need is the
// least height that could. A screen that is too high is drawn without its blank
// lines, and then with a part of its options.
func (w *Wizard) fits() (view string, need int, ok bool) {
	const blank = "\n\n"
	gap := blank
	room := func(gap string) (head, tail string, room int) {
		head, tail = strings.Join(w.head(), "\n")+gap, gap+strings.Join(w.tail(), gap)
		return head, tail, w.height - (lipgloss.Height(head) - 1) - (lipgloss.Height(tail) - 1)
	}
	body, options := w.body(gap)
	head, tail, left := room(gap)
	if w.height > 0 && left < len(body)+len(options) {
		gap = "\n"
		body, options = w.body(gap)
		head, tail, left = room(gap)
	}
	least := len(body) + len(options)
	if len(options) > minOptions {
		least = min(least, len(body)+minOptions+2) // and the lines that count what is not seen
	}
	need = w.height - left + least
	if w.height > 0 && (left < least || w.width < minColumns) {
		return "", need, false
	}
	if w.height > 0 && left < len(body)+len(options) {
		options = w.window(options, left-len(body))
	}
	return head + strings.Join(append(body, options...), "\n") + tail, need, true
}

// body returns the lines of the question and those of its options.
func (w *Wizard) body(gap string) (body, options []string) {
	if w.input != nil {
		return strings.Split(w.input.View(), "\n"), nil
	}
	lines := strings.Split(w.list.View(), "\n")
	n := len(lines) - len(w.options)
	body, options = lines[:n:n], lines[n:]
	// Where there is little room, why saving failed takes the table's place.
	if w.Screen().Kind == Confirm && (gap != "\n" || w.Trouble() == "") {
		body = slices.Concat(strings.Split(w.result()+strings.TrimPrefix(gap, "\n"), "\n"), body)
	}
	return body, options
}

// window returns the options around the chosen one that fit into room lines, the
// first and the last of which count what is not seen.
func (w *Wizard) window(options []string, room int) []string {
	at := 0
	for i, o := range w.options {
		if o.Value == w.chosen {
			at = i
		}
	}
	shown := room - 2
	from := max(min(at-shown/2, len(options)-shown), 0)
	to := from + shown
	edge := w.form.Focused.Base.Render(" ")
	edge = strings.TrimRight(edge, " ") + "   "
	count := func(text string, n int) string {
		if n == 0 {
			return edge
		}
		return edge + w.look.Paint(theme.Muted, text)
	}
	out := []string{count(w.T("setup.more-above", locales.Vars{"Count": from}), from)}
	out = append(out, options[from:to]...)
	return append(out, count(w.T("setup.more-below", locales.Vars{"Count": len(options) - to}), len(options)-to))
}

// head is the title line and what is wrong with the files.
func (w *Wizard) head() []string {
	title := w.look.Paint(theme.Title, w.T("setup.title")) + w.look.Paint(theme.Muted, " · "+w.Progress())
	parts := []string{ansi.Truncate(title, w.columns(), "…")}
	if k := w.Screen().Kind; k == AskLanguage || k == AskProvider {
		for _, notice := range w.Notices() {
			parts = append(parts, w.look.Paint(theme.Attention, fold.Text(notice, w.columns())))
		}
	}
	return parts
}

// tail is what belongs to the answer under the cursor, and the keys.
func (w *Wizard) tail() []string {
	var parts []string
	width := w.columns()
	wrap := func(role theme.Role, text string) {
		parts = append(parts, w.look.Paint(role, fold.Text(text, width)))
	}
	switch w.Screen().Kind {
	case AskWay:
		if rows := w.Preview(w.chosen); rows != nil {
			parts = append(parts, w.table(rows, false))
		}
	case AskModel:
		parts = append(parts, w.aboutModel())
	case AskID:
		id := strings.TrimSpace(w.text)
		hint, ok := w.IDHint(id)
		switch {
		case ok:
			wrap(theme.Good, hint)
		case id == "" && !w.refused:
			wrap(theme.Muted, hint)
		default:
			wrap(theme.Bad, hint)
		}
	case Confirm:
		if trouble := w.Trouble(); trouble != "" {
			wrap(theme.Bad, trouble)
		}
	}
	return append(parts, w.help())
}

// aboutModel says of the model under the cursor what its line may have no room
// for. It always takes the same number of lines, so that nothing jumps.
func (w *Wizard) aboutModel() string {
	text, note := w.look.Paint(theme.Muted, w.T("setup.another-about")), ""
	for _, o := range w.options {
		if o.Value != w.chosen || o.Value == otherModel {
			continue
		}
		note = o.Note
		words, verified := w.Models().ReasoningFor(w.provider, o.Value)
		text = w.look.Paint(theme.Muted, w.T("setup.takes-unknown"))
		if verified {
			text = w.T("setup.takes", locales.Vars{"Words": locales.Styled(w.paintWords(words))})
		}
	}
	lines := strings.Split(fold.Text(text, w.columns()), "\n")
	if w.columns() < 72 {
		lines = append([]string{ansi.Truncate(note, w.columns(), "…")}, lines...)
		for len(lines) < 2 {
			lines = append(lines, "")
		}
	}
	return strings.Join(lines, "\n")
}

// help tells the keys.
func (w *Wizard) help() string {
	var items []string
	item := func(key, does string) {
		items = append(items, w.look.Paint(theme.Accent, key)+" "+w.look.Paint(theme.Muted, does))
	}
	back := "←"
	if w.input == nil {
		item("↑↓", w.T("setup.key-choose"))
	} else {
		back = "Shift+Tab"
	}
	item("Enter", w.T("setup.key-next"))
	if len(w.trail) > 0 {
		item(back, w.T("setup.key-back"))
	}
	item("Esc", w.T("setup.key-leave"))
	return strings.Join(items, w.look.Paint(theme.Muted, " · "))
}
