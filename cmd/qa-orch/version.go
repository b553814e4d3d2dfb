package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/locales"
)

// What a release build sets with -ldflags "-X main.version=… -X main.commit=… -X main.date=…"
// (the date in RFC 3339). Other builds say what the Go tool recorded.
var version, commit, date string

// build is what is known about the running binary. Unknown things are empty.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"`
	Modified bool   `json:"modified"` // built from changed sources
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// thisBuild describes the running binary.
func thisBuild() build {
	b := build{
		Version: version, Commit: commit, Date: date,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" {
		b.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	if b.Version == "(devel)" {
		b.Version = "dev"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		case s.Key == "vcs.modified" && commit == "":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

type versionOptions struct {
	*App
	Build func() build
	JSON  bool
}

// newVersion makes "qa-orch version".
func newVersion(a *App) *cobra.Command {
	o := &versionOptions{App: a, Build: thisBuild}
	return newVersionWith(o, runVersion)
}

func newVersionWith(o *versionOptions, run func(*versionOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: groupMore,
		RunE:    func(*cobra.Command, []string) error { return run(o) },
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	return cmd
}

func runVersion(o *versionOptions) error {
	b := o.Build()
	if o.JSON {
		return printJSON(o.App, b)
	}
	o.Println(program + " " + b.Version)
	line := func(name, value string) {
		if value != "" {
			o.Println(fmt.Sprintf("  %s %s", name, value))
		}
	}
	source := b.Commit
	if b.Modified {
		source = o.T("version.modified", locales.Vars{"Commit": b.Commit})
	}
	line(o.T("version.commit"), source)
	if at, err := time.Parse(time.RFC3339, b.Date); err == nil {
		line(o.T("version.date"), o.Date(at.UTC()))
	}
	line(o.T("version.go"), b.Go)
	line(o.T("version.platform"), b.OS+"/"+b.Arch)
	return nil
}

// printJSON prints a value for programs: indented, English, never in colour.
func printJSON(a *App, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := a.Out.Write(inertJSON(b.Bytes()))
	return err
}

// inertJSON writes characters that steer a terminal as JSON's escapes. The encoder does so for some of
// them only.
func inertJSON(data []byte) []byte {
	return escaped(data, func(r rune) string {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	})
}

// inertTOML is inertJSON for TOML without literal strings.
func inertTOML(data []byte) []byte {
	return escaped(data, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })
}

// escaped writes what steers a terminal as \uXXXX; wide writes characters that this has no room for.
func escaped(data []byte, wide func(rune) string) []byte {
	var b bytes.Buffer
	for _, r := range string(data) {
		switch {
		case r == '\n' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString(wide(r))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
