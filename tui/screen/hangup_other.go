//go:build windows

package screen

import "os"

func hangups() []os.Signal { return nil }
