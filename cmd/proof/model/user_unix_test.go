//go:build unix

package model

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is a user without privileges, whose name does not matter.
const nobody = 65534

// dropPrivileges makes servers run as nobody where the tests run as root: nothing
// is denied to root.
func dropPrivileges() {
	if os.Geteuid() != 0 {
		yard.obeys = true
		return
	}
	as := func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	// It may be forbidden, or a folder above be closed to others.
	cmd := exec.Command(executable(program), "version")
	cmd.Env, cmd.Dir = []string{}, yard.folder
	as(cmd)
	if cmd.Run() != nil {
		return
	}
	yard.as, yard.obeys = as, true
	yard.own = func(path string) error { return os.Lchown(path, nobody, nobody) }
}
