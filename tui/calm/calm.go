// Package calm keeps the terminal libraries from talking to the terminal while the program starts.
//
// bubbletea asks the terminal for its background colour when it is initialised, in every command
// of a program that links it, and waits up to five seconds for the answer. It does not ask a dumb
// terminal. So this package makes the terminal look dumb while packages are initialised, and main
// undoes that with Restore before anything else.
//
// It must import nothing but the standard library: Go then initialises it before golang.org/x/sys
// and so before everything that could ask.
package calm

import "os"

const name = "TERM"

var was, had = os.LookupEnv(name)

func init() {
	_ = os.Setenv(name, "dumb")
}

// Restore gives the environment its own TERM back.
func Restore() {
	if had {
		_ = os.Setenv(name, was)
	} else {
		_ = os.Unsetenv(name)
	}
}
