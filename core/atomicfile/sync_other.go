//go:build !unix

package atomicfile

// syncDir does nothing where folders can't be synced.
func syncDir(string) {}
