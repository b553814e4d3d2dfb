package model

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	qa "github.com/qa-orch/qa-orch/server/review"
	"github.com/qa-orch/qa-orch/server/stdio"
)

// This file runs servers as processes: the program itself, with the system's clock,
// and the test binary again, which is wired as the program is but has a clock that
// is read from a file.

// The test binary is not a test where one of these is set: it is a server with its
// clock in that file, or a stranger that locks that store.
const (
	clockVar    = "QA_ORCH_PROOF_CLOCK"
	strangerVar = "QA_ORCH_PROOF_STRANGER"
)

func TestMain(m *testing.M) {
	var err error
	switch clock, store := os.Getenv(clockVar), os.Getenv(strangerVar); {
	case clock != "":
		err = serve(clock)
	case store != "":
		err = obey(store)
	default:
		if err = unlogged(); err != nil {
			break
		}
		flag.Parse()
		for name, few := range map[string]string{"rapid.checks": "8", "rapid.steps": "40"} {
			if f := flag.Lookup(name); f.Value.String() == f.DefValue && !long() {
				_ = f.Value.Set(few)
			}
		}
		code := m.Run()
		if yard.folder != "" {
			_ = os.RemoveAll(yard.folder)
		}
		os.Exit(code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is "qa-orch serve" with a clock of its own.
func serve(clock string) error {
	hands, err := os.Open(clock)
	if err != nil {
		return err
	}
	now := func() time.Time {
		var b [8]byte
		if _, err := hands.ReadAt(b[:], 0); err != nil {
			panic(err)
		}
		return instant(binary.LittleEndian.Uint64(b[:])).time()
	}
	s, problems := settings.Read(os.Getenv)
	if len(problems) > 0 {
		return problems[0]
	}
	source := policy.NewSource(s.PolicyPath, s.ModelsPath, nil)
	db := sqlite.New(s.StorePath, nil)
	var warming sync.WaitGroup
	server, err := qa.New(
		orchestrator.New(db, source, orchestrator.Limits{TTL: s.TTL, MaxSessions: s.MaxSessions}, orchestrator.WithClock(now)),
		qa.Options{Tools: s.Tools, Version: "proof", Connected: sync.OnceFunc(func() {
			warming.Go(func() {
				_, _, _ = source.Current()
				_ = db.Open(context.Background())
			})
		})})
	if err != nil {
		return err
	}
	in, out, err := stdio.Claim()
	if err != nil {
		return err
	}
	err = stdio.Serve(context.Background(), server.MCP, in, out)
	warming.Wait()
	return errors.Join(err, db.Close())
}

// setClock moves the hands of a clock file.
func setClock(path string, now instant) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(now)), 0)
	return err
}

// obey does what it is told, line by line, to the store and to processes of the
// same user, and says when it is done.
func obey(store string) error {
	s := &stranger{path: store}
	defer s.close()
	var locked *sql.Conn
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var order string
		var pid int
		var size int64
		_, _ = fmt.Sscan(lines.Text(), &order, &pid, &size)
		var err error
		switch order {
		case "lock":
			if !s.open() {
				fmt.Println("no store")
				continue
			}
			locked, err = s.lock()
		case "free":
			err = s.free(locked)
		case "limit": // how long files may get; -1 for no limit
			limitFiles(pid, size)
		}
		if err != nil {
			return err
		}
		fmt.Println("done")
	}
	return nil
}

// yard is where the programs are and the folders of histories.
var yard struct {
	sync.Once
	folder string
	err    error
	as     func(*exec.Cmd) // makes a command run as somebody without privileges; nil where it does anyway
	own    func(path string) error
	// obeys tells whether the processes obey permissions.
	obeys bool
}

const (
	program = "qa-orch"
	clocked = "clocked"
)

// open builds the programs where everybody can run them.
func openYard(t interface{ Fatal(...any) }) {
	yard.Do(func() {
		yard.err = func() error {
			var err error
			if yard.folder, err = os.MkdirTemp("", "model-"); err != nil {
				return err
			}
			if err := os.Chmod(yard.folder, 0o755); err != nil {
				return err
			}
			built, err := fleet.Build(context.Background(), yard.folder, "cmd/qa-orch", false)
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			// A copy: the test binary is in a folder that is closed to others.
			if err := copyFile(filepath.Join(yard.folder, clocked+filepath.Ext(built)), self); err != nil {
				return err
			}
			dropPrivileges()
			return nil
		}()
	})
	if yard.err != nil {
		t.Fatal(yard.err)
	}
}

func copyFile(to, from string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// house is the folder of one history, with servers in it.
type house struct {
	t        fataler
	folder   string // of the clock; closed to nobody
	store    string // the file, in a folder of its own
	policy   string
	limits   limits
	running  []*fleet.Server
	programs []string // of each server
	process  int      // how many were started
	lodger   *lodger
	small    bool // the store has a small disk for itself
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// newHouse makes a house. On a small disk its store has 8 MiB, where that can be done.
func newHouse(t fataler, l limits, programs []string, smallDisk bool) *house {
	t.Helper()
	openYard(t)
	h := &house{t: t, limits: l, programs: programs, running: make([]*fleet.Server, len(programs))}
	var err error
	if h.folder, err = os.MkdirTemp(yard.folder, "house-"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"home", "store"} {
		path := filepath.Join(h.folder, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "store" && smallDisk {
			h.small = mountSmall(path)
		}
		h.give(path)
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.store, h.policy = filepath.Join(h.folder, "store", "sessions.sqlite3"), filepath.Join(h.folder, "home", "policy.json")
	h.setClock(noon)
	return h
}

// give makes the servers' user the owner of a file.
func (h *house) give(path string) {
	if yard.own == nil {
		return
	}
	if err := yard.own(path); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) clock() string { return filepath.Join(h.folder, "clock") }

func (h *house) setClock(now instant) {
	if err := setClock(h.clock(), now); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) putPolicy(p *policyFile) {
	putPolicy(h.t, h.policy, p, h.give)
}

// start starts server i, instead of one that has ended, and returns the number of
// the process.
func (h *house) start(i int) int {
	h.t.Helper()
	s, err := h.launch(h.programs[i])
	if err != nil {
		h.t.Fatal(err)
	}
	h.running[i] = s
	h.process++
	return h.process - 1
}

func (h *house) launch(name string) (*fleet.Server, error) {
	env := fleet.Env(filepath.Join(h.folder, "home"),
		"QA_ORCHESTRATOR_SESSION_STORE_PATH="+h.store,
		"QA_ORCHESTRATOR_MODEL_POLICY_PATH="+h.policy,
		"QA_ORCHESTRATOR_TOOLS=extended",
		fmt.Sprintf("QA_ORCHESTRATOR_ORCHESTRATION_TTL_SECONDS=%d", h.limits.TTL/second),
		fmt.Sprintf("QA_ORCHESTRATOR_ORCHESTRATION_MAX_SESSIONS=%d", h.limits.Max))
	args := []string{"serve"}
	if name == clocked {
		args, env = nil, append(env, clockVar+"="+h.clock())
	}
	return fleet.Start(context.Background(), executable(name), args, env, yard.as)
}

func executable(name string) string {
	path := filepath.Join(yard.folder, name)
	if _, err := os.Stat(path); err != nil {
		path += ".exe"
	}
	return path
}

// close ends everything and removes the folder.
func (h *house) close() {
	for _, s := range h.running {
		if s != nil {
			s.Kill()
		}
	}
	if h.lodger != nil {
		h.lodger.close()
	}
	if h.small {
		unmount(filepath.Dir(h.store))
	}
	_ = os.RemoveAll(h.folder)
}

// fill fills the small disk but for some pages. empty makes room again.
func (h *house) fill(spare int) (empty func()) {
	const page = 4096
	filler := filepath.Join(filepath.Dir(h.store), "filler")
	f, err := os.Create(filler)
	if err != nil {
		h.t.Fatal(err)
	}
	size := int64(0)
	for buf := make([]byte, page); err == nil; {
		var n int
		n, err = f.Write(buf)
		size += int64(n)
	}
	_ = f.Truncate(max(0, size-int64(spare)*page))
	_ = f.Close()
	return func() { _ = os.Remove(filler) }
}

// whole fails the test when the store is damaged. Nobody uses it any more.
func (h *house) whole() {
	h.t.Helper()
	s := &stranger{path: h.store}
	defer s.close()
	if !s.open() {
		return // nothing was ever stored
	}
	var said string
	if err := s.db.QueryRow(`PRAGMA integrity_check`).Scan(&said); err != nil || said != "ok" {
		h.t.Fatalf("the store is damaged: %s, %v", said, err)
	}
}

// lodger is a stranger in a process of its own, of the servers' user.
type lodger struct {
	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
}

// tell gives the lodger an order and returns what it said.
func (h *house) tell(order string, args ...any) string {
	h.t.Helper()
	if h.lodger == nil {
		cmd := exec.Command(executable(clocked))
		cmd.Env = fleet.Env(h.folder, strangerVar+"="+h.store)
		cmd.Stderr = os.Stderr
		if yard.as != nil {
			yard.as(cmd)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			h.t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			h.t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			h.t.Fatal(err)
		}
		h.lodger = &lodger{in, bufio.NewScanner(out), cmd}
	}
	_, _ = fmt.Fprintln(h.lodger.in, append([]any{order}, args...)...)
	if !h.lodger.out.Scan() {
		h.t.Fatalf("the stranger is gone: %v", h.lodger.cmd.Wait())
	}
	return h.lodger.out.Text()
}

func (l *lodger) close() {
	_ = l.in.Close()
	_ = l.cmd.Wait()
}

// lock locks the store. It is free again when free is called, and was never locked
// when that is nil: there is no store yet.
func (h *house) lock() (free func()) {
	h.t.Helper()
	if h.tell("lock") != "done" {
		return nil
	}
	return func() { h.tell("free") }
}

// fillFor makes the disk look full to one server, whose files can't get any longer
// than size then.
func (h *house) fillFor(s *fleet.Server, size int64) (undo func()) {
	h.t.Helper()
	h.tell("limit", s.Pid(), size)
	return func() { h.tell("limit", s.Pid(), -1) }
}

// each calls f for the store's folder and each of its files.
func (h *house) each(f func(path string, folder bool) error) error {
	folder := filepath.Dir(h.store)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := f(filepath.Join(folder, e.Name()), false); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return f(folder, true)
}

// deny takes permissions away: to write, or all. allow gives them back.
func (h *house) deny(write bool) (allow func()) {
	h.t.Helper()
	folderMode, fileMode := os.FileMode(0), os.FileMode(0)
	if write {
		folderMode, fileMode = 0o500, 0o400
	}
	set := func(folderMode, fileMode os.FileMode) func(string, bool) error {
		return func(path string, folder bool) error {
			if folder {
				return os.Chmod(path, folderMode)
			}
			return os.Chmod(path, fileMode)
		}
	}
	if err := h.each(set(folderMode, fileMode)); err != nil {
		h.t.Fatal(err)
	}
	return func() {
		if err := os.Chmod(filepath.Dir(h.store), 0o700); err != nil {
			h.t.Fatal(err)
		}
		if err := h.each(set(0o700, 0o600)); err != nil {
			h.t.Fatal(err)
		}
	}
}
