//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reviewServer is a running "qa-orch serve" over a store, and its client.
type reviewServer struct{ *peer }

func reviewServerOver(t *testing.T, store string) reviewServer {
	t.Helper()
	return reviewServer{startPeer(t, bareEnv(t.TempDir()), "serve", "--store", store)}
}

// start starts a review and returns its run id.
func (s reviewServer) start(task string) string {
	s.t.Helper()
	return s.must("start_qa_orchestration", map[string]any{"task_type": task}).str("run_id")
}

func (s reviewServer) advance(id, step string, more map[string]any) {
	s.t.Helper()
	args := map[string]any{"run_id": id, "completed_step": step, "status": "completed"}
	maps.Copy(args, more)
	s.must("advance_qa_orchestration", args)
}

// The dashboard beside a real server, from a store that is not there yet to its last session.
func TestDashboardBesideAServer(t *testing.T) {
	t.Parallel()
	for _, lang := range []struct {
		name                                                                    string
		missing, active, triage, primary, deep, awaiting, gone, other, tooSmall string
		filter, sortKey, openDetail, copyKey, help, quit                        string
	}{
		{
			"en", "The store is not there yet", "1 active", "triage", "primary 2/3", "deep", "awaiting outcome", "gone: finished", "Сеансы", "Too small",
			"/", "s", "\r", "y", "?", "q",
		},
		{
			"ru", "Хранилища ещё нет", "1 идёт", "разбор", "основная 2/3", "углублённая", "ждёт итога", "ушёл: завершён", "Sessions", "Мало места",
			".", "ы", "\r", "н", ",", "й", // on a Russian layout
		},
	} {
		t.Run(lang.name, func(t *testing.T) {
			t.Parallel()
			store := filepath.Join(t.TempDir(), "s.sqlite3")
			s := sitDown(t, onTerminal{columns: 160, rows: 50, env: []string{"QA_ORCH_LANG=" + lang.name}}, "sessions", "--store", store)
			s.see(lang.missing)

			server := reviewServerOver(t, store)
			id := server.start("ordinary_review")
			short := id[4:12]
			s.see(short, lang.active, lang.triage, "gpt-6-luna")
			server.advance(id, "triage", map[string]any{"selected_bundle": "ordinary_mr"})
			server.advance(id, "primary_review", map[string]any{"completed_profile": "code_explorer"})
			s.see(lang.primary, "ordinary_mr")

			left := regexp.MustCompile(`[^:0-9](29|30):[0-5][0-9]\b`) // not in a time of day
			first := left.FindString(s.screen())
			s.until("the time running down", func(screen string) bool {
				now := left.FindString(screen)
				return now != "" && now != first
			})

			second := server.start("widget_review")
			s.see(second[4:12], short)
			s.press(lang.filter + "widget")
			s.miss(short)
			s.see(second[4:12])
			s.press(keyEsc)
			s.see(short)
			s.press(lang.openDetail)
			s.until("a full run id", func(screen string) bool {
				return strings.Contains(screen, id) || strings.Contains(screen, second)
			})
			s.press(lang.copyKey)
			s.until("the copied id", func(screen string) bool {
				sent := s.written()
				for _, run := range []string{id, second} {
					if strings.Contains(sent, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(run))) {
						return true
					}
				}
				return false
			})
			s.press(keyEsc)
			s.press(lang.sortKey)
			s.press(lang.help)
			s.see("Shift+Tab")
			s.press(keyEsc)

			for _, size := range [][2]int{{120, 40}, {80, 24}, {50, 20}, {40, 10}} {
				s.resize(size[0], size[1])
				s.until(fmt.Sprint(size), func(screen string) bool {
					lines := strings.Split(screen, "\n")
					return strings.Contains(screen, short) && len(lines) == size[1] && strings.Contains(lines[len(lines)-1], "Enter")
				})
			}
			s.resize(20, 5)
			s.see(lang.tooSmall)
			s.resize(160, 50)
			s.see(short, second[4:12], "qa-orch")

			server.advance(id, "primary_review", map[string]any{"completed_profile": "code_reviewer"})
			server.advance(id, "primary_review", map[string]any{
				"completed_profile": "pr_test_analyzer", "risk_signals": map[string]any{"high_risk_domain": true, "evidence_uncertain": true},
			})
			s.see(lang.deep)
			server.advance(id, "deep_review", nil)
			server.advance(id, "synthesis", nil)
			s.see(lang.awaiting)
			server.must("finish_qa_orchestration", map[string]any{"run_id": id, "outcome": "completed"})
			s.see(lang.gone)

			s.press(map[string]string{"en": "L", "ru": "Д"}[lang.name])
			s.see(lang.other)
			s.press(lang.quit)
			s.exit(exitOK)
		})
	}
}

// storeOf makes a store with sessions, and no server beside it.
func storeOf(t *testing.T, tasks ...string) (path string, ids []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store", "s.sqlite3")
	server := reviewServerOver(t, path)
	for _, task := range tasks {
		ids = append(ids, server.start(task))
	}
	if code := server.end(); code != exitOK {
		t.Errorf("the server ends with %d", code)
	}
	return path, ids
}

func TestDashboardChangesNoByteOfTheStore(t *testing.T) {
	t.Parallel()
	path, ids := storeOf(t, "ordinary_review", "epic_analysis")
	before := filesOf(t, filepath.Dir(path))
	s := sitDown(t, onTerminal{columns: 120, rows: 40}, "sessions", "--store", path, "--mouse")
	s.see(ids[0][4:12], ids[1][4:12])
	for _, key := range []string{"j", "\r", "\x1b", "s", "f", "f", "\x1b", "r", "y", "p", "p", "2", "3", "1", "t"} {
		s.press(key)
		time.Sleep(20 * time.Millisecond)
	}
	s.press("q")
	s.exit(exitOK)
	if after := filesOf(t, filepath.Dir(path)); !maps.Equal(before, after) {
		t.Errorf("the folder of the store was\n%q and is\n%q", before, after)
	}
}

func TestDashboardColours(t *testing.T) {
	t.Parallel()
	path, ids := storeOf(t, "ordinary_review")
	colours := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for name, c := range map[string]struct {
		env        []string
		flags      []string
		want, none string // escape sequences, as regular expressions
	}{
		"dark":      {nil, []string{"--theme", "dark"}, `38;2;126;231;135`, `38;5;`},
		"light":     {nil, []string{"--theme", "light"}, `38;2;26;107;43`, `38;5;`},
		"256":       {[]string{"COLORTERM="}, []string{"--theme", "dark"}, `38;5;114`, `38;2;`},
		"NO_COLOR":  {[]string{"NO_COLOR=1"}, nil, ``, `\x1b\[[0-9;]*m`},
		"COLORFGBG": {[]string{"COLORFGBG=0;15"}, nil, `38;2;26;107;43`, `11;\?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sitDown(t, onTerminal{columns: 100, rows: 30, env: c.env}, append([]string{"sessions", "--store", path}, c.flags...)...)
			s.see(ids[0][4:12])
			s.press("q")
			s.exit(exitOK)
			sent := s.written()
			if !regexp.MustCompile(c.want).MatchString(sent) {
				t.Errorf("no %s among %q", c.want, colours.FindAllString(sent, 20))
			}
			if found := regexp.MustCompile(c.none).FindString(sent); found != "" {
				t.Errorf("%q was sent", found)
			}
		})
	}
	t.Run("dumb", func(t *testing.T) {
		t.Parallel()
		s := sitDown(t, onTerminal{columns: 100, rows: 30, env: []string{"TERM=dumb"}}, "sessions", "--store", path)
		s.see(ids[0][4:12])
		s.exit(exitOK)
		if sent := s.written(); strings.Contains(sent, keyEsc) || !strings.Contains(sent, ids[0][4:12]) {
			t.Errorf("a dumb terminal is sent %q", sent)
		}
	})
}

func TestDashboardLeavesTheTerminalSane(t *testing.T) {
	t.Parallel()
	path, ids := storeOf(t, "ordinary_review")
	run := func(t *testing.T) *terminal {
		s := sitDown(t, onTerminal{columns: 100, rows: 30}, "sessions", "--store", path, "--mouse")
		s.see(ids[0][4:12])
		return s
	}
	t.Run("Ctrl+C", func(t *testing.T) {
		t.Parallel()
		s := run(t)
		s.press(keyCtrlC)
		s.exit(exitInterrupted)
	})
	t.Run("SIGTERM", func(t *testing.T) {
		t.Parallel()
		s := run(t)
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		s.exit(exitOK)
	})
	t.Run("SIGHUP", func(t *testing.T) {
		t.Parallel()
		s := run(t)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		s.exit(exitOK)
	})
	t.Run("the terminal goes away", func(t *testing.T) {
		t.Parallel()
		s := run(t)
		s.hangUp()
		s.end()
	})
	t.Run("Ctrl+Z and back", func(t *testing.T) {
		t.Parallel()
		s := sitDown(t, onTerminal{as: "jobshell", columns: 100, rows: 30}, "sessions", "--store", path)
		s.see(ids[0][4:12])
		s.press("\x1a")
		s.see("job stopped sane true")
		s.press("fg\r")
		s.see(ids[0][4:12], "qa-orch")
		s.press("q")
		s.see("job ended 0 sane true")
		s.exit(exitOK)
	})
}

func TestHomeScreen(t *testing.T) {
	t.Parallel()
	path, ids := storeOf(t, "ordinary_review")
	s := sitDown(t, onTerminal{columns: 100, rows: 30, env: []string{"QA_ORCHESTRATOR_SESSION_STORE_PATH=" + path}})
	s.see("gpt-6-luna", "1 active", "sessions", "demo", "help")
	s.press("L")
	s.see("политика", "1 идёт")
	s.until("sessions selected", func(screen string) bool {
		for line := range strings.SplitSeq(screen, "\n") {
			if strings.Contains(line, "▸") && strings.Contains(line, " sessions ") {
				return true
			}
		}
		s.press("j")
		time.Sleep(50 * time.Millisecond)
		return false
	})
	s.press(keyEnter)
	s.see(ids[0][4:12], "Сеансы")
	s.press("q")
	s.exit(exitOK)

	s = sitDown(t, onTerminal{columns: 100, rows: 30})
	s.see("recovery is off", "not registered with any client yet")
	s.press(keyCtrlC)
	s.exit(exitInterrupted)
}
