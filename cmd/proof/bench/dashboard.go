package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

// dashboard times "qa-orch sessions" over 10,000 sessions.
func (b *bench) dashboard() (string, error) {
	const sessions = 10_000
	var rows []row
	home, env, err := b.home("TERM=xterm-256color")
	if err != nil {
		return "", err
	}
	path := storeAt(home)
	now := time.Now()
	s, err := filledStore(b.ctx, path, sessions, now)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if runtime.GOOS != "windows" {
		own := b.frame(env, `[0-9a-f]{8}.*[0-9a-f]{8}`, b.own, "sessions", "--theme", "dark", "--store", path)
		// CI keeps the library from asking the terminal for its background.
		plain := b.frame(append(env, "CI=1"), `row-00.*row-01`, b.refs["frame"])
		t, err := compete(1, b.turns(30), own, plain)
		if err != nil {
			return "", err
		}
		rows = append(rows, row{"start to the first rows on the screen", "a minimal bubbletea program with a table of 40 rows", t[0], t[1]})
	}

	f, err := sqlite.Follow(b.ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.Poll(b.ctx, false); err != nil {
		return "", err
	}
	plain, err := openBare(filepath.Join(home, "bare"))
	if err != nil {
		return "", err
	}
	defer plain.db.Close()
	version, err := plain.db.Prepare(`PRAGMA data_version`)
	if err != nil {
		return "", err
	}
	t, err := compete(10, b.turns(2000),
		timed(func() error { _, err := f.Poll(b.ctx, false); return err }),
		timed(func() error { var v int; return version.QueryRow().Scan(&v) }))
	if err != nil {
		return "", err
	}
	poll := row{"a look at an unchanged store", "a bare `PRAGMA data_version`", t[0], t[1]}

	drawn, err := b.drawn()
	if err != nil {
		return "", err
	}
	rows = append(append(rows, drawn...), poll)
	return fmt.Sprintf("`qa-orch sessions` with %d sessions, on a terminal of 160 × 50. It looks at the store four times a second, and draws at most 30 frames a second.\n\n",
		sessions) + table(rows, false), nil
}

// frame is a run of a program on a terminal until what it shows matches.
func (b *bench) frame(env []string, pattern, path string, args ...string) run {
	wanted := regexp.MustCompile("(?s)" + pattern)
	return func() (time.Duration, error) {
		cmd := exec.CommandContext(b.ctx, path, args...)
		cmd.Env = env
		began := time.Now()
		terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 160})
		if err != nil {
			return 0, err
		}
		defer func() {
			_ = cmd.Process.Kill()
			_ = terminal.Close()
			_ = cmd.Wait()
		}()
		_ = terminal.SetReadDeadline(began.Add(20 * time.Second))
		var shown []byte
		buf := make([]byte, 1<<16)
		for {
			n, err := terminal.Read(buf)
			shown = append(shown, buf[:n]...)
			if wanted.Match(shown) {
				return time.Since(began), nil
			}
			if err != nil {
				return 0, fmt.Errorf("%s shows no %s: %w", path, pattern, errors.Join(err, b.ctx.Err()))
			}
		}
	}
}

// drawn runs the benchmark of frames, which needs the inside of the dashboard's package.
func (b *bench) drawn() ([]row, error) {
	cmd := exec.CommandContext(b.ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkBeside$", "-benchtime", strconv.Itoa(b.turns(500))+"x", fleet.Module+"/tui/sessions")
	cmd.Env = os.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	names := map[string][2]string{
		"frame":  {"a frame", "a lipgloss table of the same cells"},
		"key":    {"a key, and the frame that answers it", "a lipgloss table of the same cells"},
		"change": {"one session changed, and the frame that shows it", "a lipgloss table of the same cells"},
	}
	var rows []row
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "BenchmarkBeside/") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "BenchmarkBeside/")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		figures := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			figures[fields[i+1]], _ = strconv.ParseFloat(fields[i], 64)
		}
		known, ok := names[name]
		if !ok {
			return nil, fmt.Errorf("an unknown figure: %s", lines.Text())
		}
		rows = append(rows, row{known[0], known[1], samples{figures["own-min-ns"], figures["own-ns"], figures["own-ns"]}, samples{figures["base-min-ns"], figures["base-ns"], figures["base-ns"]}})
	}
	if len(rows) != len(names) {
		return nil, fmt.Errorf("%d figures instead of %d:\n%s", len(rows), len(names), out)
	}
	return rows, nil
}
