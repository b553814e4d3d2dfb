package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	noNetwork = denySockets
	programs["sockets"] = openSocket
}

// openSocket opens the socket that its argument names and says so.
func openSocket() {
	domain := map[string]int{"inet": unix.AF_INET, "inet6": unix.AF_INET6, "netlink": unix.AF_NETLINK, "unix": unix.AF_UNIX}[os.Args[1]]
	_, err := unix.Socket(domain, unix.SOCK_DGRAM, 0)
	fmt.Println("opened", err)
}

// machines are the names that the kernel gives the processors of this package's filter.
var machines = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// denySockets makes the kernel kill this thread's process, what it becomes and what that starts, at the
// first socket that is not one between processes of this computer. It needs no privilege.
func denySockets() error {
	machine, ok := machines[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("no filter for %s", runtime.GOARCH)
	}
	const (
		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		same = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
		// Offsets in the data that a filter sees; the low half of the first argument, in little endian.
		number, arch, first = 0, 4, 16
	)
	filter := []unix.SockFilter{
		{Code: load, K: arch},
		{Code: same, K: machine, Jf: 6},
		{Code: load, K: number},
		{Code: same, K: unix.SYS_IO_URING_SETUP, Jt: 4}, // which could open sockets too
		{Code: same, K: unix.SYS_SOCKET, Jf: 2},
		{Code: load, K: first},
		{Code: same, K: unix.AF_UNIX, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}

// withoutNetwork makes somebody whose computer kills whatever opens a network socket.
func withoutNetwork(t *testing.T) *person {
	t.Helper()
	p := newPerson(t, t.TempDir(), noNetVar+"=1")
	probe := p.runWith([]string{progVar + "=sockets"}, "unix")
	if probe.code == 99 {
		t.Skipf("this kernel takes no filter: %s", probe.err)
	}
	if probe.code != 0 || !strings.HasPrefix(probe.out, "opened") {
		t.Fatalf("the filter stops what it should not: %+v", probe)
	}
	return p
}

// The filter itself: without it sockets are opened, with it their opener dies, children included.
func TestTheFilterStopsSockets(t *testing.T) {
	t.Parallel()
	p := withoutNetwork(t)
	for _, domain := range []string{"inet", "inet6", "netlink"} {
		if s := p.runWith([]string{progVar + "=sockets"}, domain); s.code != -1 || s.out != "" {
			t.Errorf("%s: %+v", domain, s)
		}
		if s := p.runWith([]string{progVar + "=sockets", noNetVar + "="}, domain); s.code != 0 || !strings.HasPrefix(s.out, "opened") {
			t.Errorf("%s without the filter: %+v", domain, s)
		}
	}
	cmd := p.command([]string{progVar + "=sockets"}, "inet")
	_ = cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGSYS {
		t.Errorf("ended by %v, not by the filter", cmd.ProcessState)
	}
}

// Nothing opens a network socket: no command, no server, no screen, and nothing that they start.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	p := withoutNetwork(t)
	p.day(func(string) {})
	for _, screen := range []struct {
		args []string
		sees string
		key  string
		code int
	}{
		{nil, "qa-orch", keyCtrlC, exitInterrupted},
		{[]string{"sessions"}, "sessions.sqlite3", keyCtrlC, exitInterrupted},
		{[]string{"setup"}, "English", keyCtrlC, exitInterrupted},
		{[]string{"advocate"}, "Release 4.2", "", exitOK},
		{[]string{"connect", "junie"}, "[y/N]", "y\r", exitOK},
	} {
		s := sitDown(t, onTerminal{columns: 120, rows: 40, env: p.env, as: p.path}, screen.args...)
		s.see(screen.sees)
		if screen.key != "" {
			s.press(screen.key)
		}
		s.exit(screen.code)
	}
}
