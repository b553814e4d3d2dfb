//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/qa-orch/qa-orch/tui/calm"
)

// jobShell stands for a shell with job control: it runs the program in front, takes the terminal
// when the program stops, and puts it in front again when a line is typed.
func jobShell() {
	calm.Restore() // the program takes TERM from here
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	signal.Ignore(syscall.SIGTTOU) // this shell writes from behind
	before, err := term.GetState(0)
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{program}, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	pid := cmd.Process.Pid
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil {
			if err == syscall.EINTR {
				continue
			}
			panic(err)
		}
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, syscall.Getpgrp()); err != nil {
			panic(err)
		}
		after, err := term.GetState(0)
		sane := err == nil && reflect.DeepEqual(before, after)
		if !status.Stopped() {
			fmt.Printf("job ended %d sane %v\n", status.ExitStatus(), sane)
			os.Exit(0)
		}
		fmt.Printf("job stopped sane %v\n", sane)
		var line [64]byte
		_, _ = os.Stdin.Read(line[:])
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, pid); err != nil {
			panic(err)
		}
		if err := syscall.Kill(-pid, syscall.SIGCONT); err != nil {
			panic(err)
		}
	}
}

func init() { programs["jobshell"] = jobShell }
