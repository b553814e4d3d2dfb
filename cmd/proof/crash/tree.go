package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// entry is a file, folder or link. A missing one is the zero entry.
type entry struct {
	mode    fs.FileMode
	content string // of a link what it says
}

func (e entry) String() string {
	switch {
	case e == entry{}:
		return "missing"
	case e.mode.IsDir():
		return fmt.Sprintf("a folder, %v", e.mode.Perm())
	}
	return fmt.Sprintf("%d bytes, %v", len(e.content), e.mode)
}

// tree is everything below a folder, by its path there with slashes.
type tree map[string]entry

// treeOf reads all that is below folder. What goes away meanwhile is left out.
func treeOf(folder string) (tree, error) {
	all := tree{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if gone(err) {
			return nil
		}
		if err != nil || path == folder {
			return err
		}
		info, err := d.Info()
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		e := entry{mode: info.Mode()}
		switch {
		case e.mode&fs.ModeSymlink != 0:
			e.mode = fs.ModeSymlink
			e.content, err = os.Readlink(path)
		case e.mode.IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			e.content = string(data)
		}
		if gone(err) {
			return nil
		}
		rel, rerr := filepath.Rel(folder, path)
		if rerr != nil {
			return rerr
		}
		all[filepath.ToSlash(rel)] = e
		return err
	})
	return all, err
}

func gone(err error) bool { return err != nil && os.IsNotExist(err) }

// restore makes folder what t says and nothing else.
func (t tree) restore(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(t)) // a folder before what is in it
	for _, name := range names {
		e, path := t[name], filepath.Join(folder, filepath.FromSlash(name))
		var err error
		switch {
		case e.mode.IsDir():
			err = os.Mkdir(path, 0o700)
		case e.mode&fs.ModeSymlink != 0:
			err = os.Symlink(e.content, path)
		default:
			err = os.WriteFile(path, []byte(e.content), 0o600)
		}
		if err == nil && e.mode&fs.ModeSymlink == 0 {
			err = os.Chmod(path, e.mode.Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leftOver says what kind of file a crash may leave beside those that the person
// knows: one that was being written, or what a command keeps in the folder for
// temporary files. Empty for any other.
func leftOver(name string) string {
	parts := strings.Split(name, "/")
	base := parts[len(parts)-1]
	switch {
	case parts[0] == tempFolder:
		if len(parts) == 1 {
			return ""
		}
		return tempFolder + "/" + strings.TrimRight(parts[1], "0123456789")
	case strings.HasPrefix(base, ".") && strings.Contains(base, ".tmp-"):
		return "unfinished files"
	case parts[0] == reviews && strings.HasSuffix(base, ".tmp"):
		return "unfinished reviews"
	}
	return ""
}

// tempFolder is where programs of a home keep temporary files.
const tempFolder = "tmp"

// either lists what in t is neither as in old nor as in now, and counts the
// left-overs by their kind. It looks away from what varies.
func (t tree) either(old, now tree, varies func(string) bool, left map[string]int) []string {
	var found []string
	names := maps.Clone(t)
	maps.Copy(names, old)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		e, was, is := t[name], old[name], now[name]
		if e == was || e == is {
			continue
		}
		if kind := leftOver(name); kind != "" {
			if inTemp := strings.HasPrefix(name, tempFolder+"/"); !inTemp || strings.Count(name, "/") == 1 {
				left[kind]++
				if inTemp && e.mode.Perm()&0o077 != 0 && runtime.GOOS != "windows" {
					found = append(found, fmt.Sprintf("%s is left behind and others may look into it (%v)", name, e.mode))
				}
			}
			continue
		}
		if varies(name) {
			continue
		}
		found = append(found, fmt.Sprintf("%s is neither old (%v) nor new (%v): %v", name, was, is, e))
	}
	return found
}

// differences lists what is not the same in t and want.
func (t tree) differences(want tree, varies func(string) bool) []string {
	var found []string
	names := maps.Clone(t)
	maps.Copy(names, want)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if t[name] != want[name] && !varies(name) && !strings.HasPrefix(leftOver(name), tempFolder) {
			found = append(found, fmt.Sprintf("%s: %v, want %v", name, t[name], want[name]))
		}
	}
	return found
}

// age makes the left-overs in folder two days old, as if the machine had been
// off for the weekend.
func (t tree) age(folder string) error {
	then := time.Now().Add(-48 * time.Hour)
	for name := range t {
		if leftOver(name) != "" {
			if err := os.Chtimes(filepath.Join(folder, filepath.FromSlash(name)), then, then); err != nil {
				return err
			}
		}
	}
	return nil
}

// look is what a folder looks like from outside, cheaply: it changes when a file
// below it is made, written, renamed or removed.
func look(folder string) uint64 {
	const prime = 1099511628211
	sum := uint64(14695981039346656037)
	mix := func(v uint64) { sum = (sum ^ v) * prime }
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		for _, c := range []byte(path) {
			mix(uint64(c))
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			mix(uint64(info.Size()))
			mix(uint64(info.ModTime().UnixNano()))
			mix(uint64(info.Mode()))
		}
		return nil
	})
	return sum
}
