//go:build !unix

package atomicfile

// SyncDir does nothing where folders can't be synced.
func SyncDir(string) {}
