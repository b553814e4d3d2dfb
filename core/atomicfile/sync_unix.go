//go:build unix

package atomicfile

import "os"

// SyncDir makes a rename in dir durable. Some file systems refuse to sync a
// folder; the rename itself stands all the same.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil { // #nosec G304 -- the folder of a file that was just put there
		_ = d.Sync()
		_ = d.Close()
	}
}
