//go:build unix

package regular

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// within fails when f takes long: it waits for somebody.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("still waiting")
	}
}

func TestWhatIsNoFileIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	paths := []string{pipe, os.DevNull}
	socket := filepath.Join(dir, "s")
	if l, err := net.Listen("unix", socket); err == nil {
		defer func() { _ = l.Close() }()
		paths = append(paths, socket)
	}
	for _, path := range paths {
		within(t, func() {
			for name, open := range map[string]func(string) (*os.File, error){"Open": Open, "OpenHere": OpenHere} {
				if _, err := open(path); !errors.Is(err, ErrNotRegular) {
					t.Errorf("%s of %s: %v", name, path, err)
				}
			}
			if _, err := Resolve(path); !errors.Is(err, ErrNotRegular) {
				t.Errorf("Resolve of %s: %v", path, err)
			}
			if _, err := NewLock(path); !errors.Is(err, ErrNotRegular) {
				t.Errorf("NewLock of %s: %v", path, err)
			}
		})
	}
}

// Somebody changes what is at a path all the time: a file, a link to a secret, a pipe. What is opened
// is the file or nothing, and nobody waits.
func TestChangedBetweenLookAndOpening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	secret := put("secret", "secret")
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	path := put("file", "mine")
	var stop atomic.Bool
	var swaps atomic.Int64
	swapper := make(chan struct{})
	go func() {
		defer close(swapper)
		for n := 0; !stop.Load(); n++ {
			next := filepath.Join(dir, "next")
			switch n % 3 {
			case 0:
				_ = os.Symlink(secret, next)
			case 1:
				_ = os.Link(pipe, next)
			case 2:
				_ = os.WriteFile(next, []byte("mine"), 0o600)
			}
			_ = os.Rename(next, path)
			swaps.Add(1)
		}
	}()
	within(t, func() {
		read, lock := 0, 0
		for i := 0; i < 3000 || (read == 0 || lock == 0 || swaps.Load() < 10) && i < 100_000; i++ {
			f, err := OpenHere(path)
			if err == nil {
				buf := make([]byte, 16)
				n, _ := f.Read(buf)
				if text := string(buf[:n]); text == "secret" {
					t.Error("a link was followed")
				}
				_ = f.Close()
				read++
			} else if !errors.Is(err, ErrLink) && !errors.Is(err, ErrNotRegular) {
				t.Errorf("%v", err)
			}
			if f, err := Open(path); err == nil {
				_ = f.Close()
			}
			if l, err := NewLock(path); err == nil {
				if ok, _ := l.TryLock(); ok {
					lock++
				}
				_ = l.Close()
			}
		}
		if read == 0 || lock == 0 {
			t.Errorf("the file itself was read %d times and locked %d times", read, lock)
		}
	})
	stop.Store(true)
	<-swapper
	if n := swaps.Load(); n < 10 {
		t.Errorf("only %d changes: nothing was tested", n)
	}
}

// A link that another user put there is not written through; a person's own and root's are.
func TestLinksOfOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file another user's")
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	must(t, os.Symlink("target", link))
	if _, err := Resolve(link); err != nil {
		t.Errorf("an own link: %v", err)
	}
	must(t, os.Lchown(link, 65534, 65534))
	if _, err := Resolve(link); !errors.Is(err, ErrForeignLink) {
		t.Errorf("another user's link: %v", err)
	}
	first := filepath.Join(dir, "first")
	must(t, os.Symlink("link", first))
	if _, err := Resolve(first); !errors.Is(err, ErrForeignLink) {
		t.Errorf("an own link to another user's link: %v", err)
	}
}

func TestNamesAndChmod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, second, link := filepath.Join(dir, "file"), filepath.Join(dir, "second"), filepath.Join(dir, "link")
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, os.Chmod(file, 0o644))
	must(t, os.Symlink(file, link))
	names := func() uint64 {
		info, err := os.Lstat(file)
		must(t, err)
		return Names(info)
	}
	if n := names(); n != 1 {
		t.Errorf("%d names", n)
	}
	must(t, os.Link(file, second))
	if n := names(); n != 2 {
		t.Errorf("%d names", n)
	}
	_ = Chmod(link, 0o600) // some systems have modes for links; the target's is not touched
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("changed through a link: %v, %v", info.Mode(), err)
	}
	must(t, Chmod(file, 0o600))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("not changed: %v, %v", info.Mode(), err)
	}
}
