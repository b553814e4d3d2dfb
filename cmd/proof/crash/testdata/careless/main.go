// Command careless writes files in ways that a crash spoils, for the test of what
// is to notice that.
package main

import (
	"os"
	"strings"
)

func main() {
	way, path := os.Args[1], os.Args[2]
	text := []byte(strings.Repeat("whole\n", 100))
	switch way {
	case "in place":
		check(os.WriteFile(path, text, 0o600))
	case "temporary": // and never cleared away
		f, err := os.CreateTemp(".", ".file.tmp-*")
		check(err)
		_, err = f.Write(text)
		check(err)
		check(f.Close())
		check(os.Rename(f.Name(), path))
	case "lock": // which blocks the next run
		f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL, 0o600)
		check(err)
		check(f.Close())
		check(os.WriteFile(path+".new", text, 0o600))
		check(os.Rename(path+".new", path))
		check(os.Remove(path + ".lock"))
	case "careful":
		temporary := ".file.tmp-1"
		check(os.WriteFile(temporary, text, 0o600))
		check(os.Rename(temporary, path))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
