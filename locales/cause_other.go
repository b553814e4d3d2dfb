//go:build !windows

package locales

import "syscall"

// systemCauses returns what only this kind of system reports.
func systemCauses() []cause {
	return []cause{{syscall.ETXTBSY, M("cause.in-use")}, {syscall.EBUSY, M("cause.in-use")}}
}
