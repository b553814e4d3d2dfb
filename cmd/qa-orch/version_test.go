package main

import (
	"testing"

	"github.com/qa-orch/qa-orch/locales"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	full := build{
		Version: "1.2.3", Commit: "abc123", Date: "2026-12-01T09:00:00+03:00", Modified: true,
		Go: "go1.26", OS: "linux", Arch: "arm64",
	}
	bare := build{Version: "dev", Date: "not a date", Go: "go1.26", OS: "windows", Arch: "amd64"}
	for _, c := range []struct {
		lang  locales.Lang
		json  bool
		build build
		want  string
	}{
		{locales.En, false, full, "qa-orch 1.2.3\n  commit abc123, with changes\n  date 1 December 2026\n  Go go1.26\n  platform linux/arm64\n"},
		{locales.Ru, false, full, "qa-orch 1.2.3\n  коммит abc123, с изменениями\n  дата 1 декабря 2026\n  Go go1.26\n  платформа linux/arm64\n"},
		{locales.En, false, bare, "qa-orch dev\n  Go go1.26\n  platform windows/amd64\n"},
		{locales.Ru, true, full, `{
  "version": "1.2.3",
  "commit": "abc123",
  "date": "2026-12-01T09:00:00+03:00",
  "modified": true,
  "go": "go1.26",
  "os": "linux",
  "arch": "arm64"
}
`},
	} {
		app, out, _ := fakeApp(c.lang)
		o := &versionOptions{App: app, Build: func() build { return c.build }, JSON: c.json}
		if err := runVersion(o); err != nil || out.String() != c.want {
			t.Errorf("got %v, %s\nwant %s", err, out, c.want)
		}
	}
}

func TestVersionFlags(t *testing.T) {
	t.Parallel()
	app, _, _ := fakeApp(locales.En)
	var got *versionOptions
	cmd := newVersionWith(&versionOptions{App: app}, func(o *versionOptions) error { got = o; return nil })
	cmd.SetArgs([]string{"--json"})
	if err := cmd.Execute(); err != nil || got == nil || !got.JSON {
		t.Errorf("got %v, %+v", err, got)
	}
}
