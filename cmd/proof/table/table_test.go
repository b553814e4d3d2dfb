package table

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPrint(t *testing.T) {
	t.Parallel()
	rows := []Row{{What: "files", Tried: "3 kills", Took: 1500 * time.Millisecond}, {What: "store", Tried: "1 kill", Found: []string{"a row is gone\nand another"}}}
	var b strings.Builder
	if err := Print(&b, rows); err != nil {
		t.Fatal(err)
	}
	const want = `what   tried    found         time
files  3 kills  nothing       1.5 s
store  1 kill   1, see below  –

store: a row is gone
    and another
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	if !Failed(rows) || Failed(rows[:1]) {
		t.Error("Failed is wrong")
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("µ23456789 ", 20) + strings.Repeat("x", 100)
	lines := wrap(text)
	if got := strings.Join(lines, " "); got != text || len(lines) != 4 {
		t.Errorf("%q", lines)
	}
	if got := wrap(""); len(got) != 1 {
		t.Errorf("nothing is %q", got)
	}
}

func TestReadReport(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report")
	if rows, err := ReadReport(path); err != nil || rows != nil {
		t.Errorf("no file: %v %v", rows, err)
	}
	content := `{"what":"store","tried":"100 histories","found":""}` + "\n" + `{"what":"disk full","tried":"9","found":"lost"}` + "\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := ReadReport(path)
	if err != nil || len(rows) != 2 || rows[0].Found != nil || rows[1].What != "disk full" || rows[1].Found[0] != "lost" {
		t.Errorf("%+v %v", rows, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReport(path); err == nil {
		t.Error("half a line was read")
	}
}
