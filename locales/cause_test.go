package locales

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestCause(t *testing.T) {
	t.Parallel()
	_, missing := os.Open(filepath.Join(t.TempDir(), "no-such-file"))
	for _, c := range []struct {
		err    error
		en, ru string
	}{
		{missing, "there is no such file or folder", "такого файла или папки нет"},
		{fmt.Errorf("saving: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), "the disk is full", "на диске нет места"},
		{fs.ErrPermission, "access is denied", "нет прав доступа"},
		{errors.New("odd\x1bthing"), `system error: odd\x1bthing`, `ошибка системы: odd\x1bthing`},
		{&fs.PathError{Op: "open", Path: "secret", Err: errors.New("odd")}, "system error: odd", "ошибка системы: odd"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: errors.New("odd")}, "system error: odd", "ошибка системы: odd"},
	} {
		if got := New(En).Cause(c.err); got != c.en {
			t.Errorf("%v: got %q, want %q", c.err, got, c.en)
		}
		if got := New(Ru).Cause(c.err); got != c.ru {
			t.Errorf("%v: got %q, want %q", c.err, got, c.ru)
		}
	}
}
