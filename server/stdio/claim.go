package stdio

import "os"

// Claim returns the process's input and output for the protocol's use alone:
// whatever else the process prints to standard output goes to standard error
// from now on, and a client that stops reading is an error of the write, not a
// signal that kills.
func Claim() (in, out *os.File, err error) {
	out, err = privateStdout()
	if err != nil {
		return nil, nil, err
	}
	os.Stdout = os.Stderr
	return os.Stdin, out, nil
}
