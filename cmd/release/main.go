// Command release makes what a release has beside the archives and packages of
// GoReleaser: a bundle for MCP clients (MCPB) with the binaries of all systems,
// and the entry of the MCP registry that points to it.
//
//	go run ./cmd/release bundle -version 1.2.3 -date 2026-12-01T00:00:00Z -darwin FILE -linux FILE -windows FILE -o FILE.mcpb
//	go run ./cmd/release server -version 1.2.3 -bundle FILE.mcpb -o server.json
//
// The same input gives the same bytes.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

//go:embed manifest.json
var manifest []byte

const repository = "https://github.com/qa-orch/qa-orch"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: release bundle|server FLAGS (see the head of cmd/release/main.go)")

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	version := flags.String("version", "", "version, without a leading v")
	date := flags.String("date", "", "time of the commit, RFC 3339")
	darwin := flags.String("darwin", "", "universal binary for macOS")
	linux := flags.String("linux", "", "binary for Linux")
	windows := flags.String("windows", "", "binary for Windows")
	bundlePath := flags.String("bundle", "", "bundle that the entry points to")
	out := flags.String("o", "", "file to write")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *version == "" || *out == "" {
		return errUsage
	}
	switch args[0] {
	case "bundle":
		at, err := time.Parse(time.RFC3339, *date)
		if err != nil {
			return err
		}
		file, err := os.Create(*out)
		if err != nil {
			return err
		}
		binaries := []binary{
			{"server/darwin/qa-orch", *darwin}, {"server/linux/qa-orch", *linux}, {"server/win32/qa-orch.exe", *windows},
		}
		return errors.Join(writeBundle(file, *version, at, binaries), file.Close())
	case "server":
		bundle, err := os.Open(*bundlePath)
		if err != nil {
			return err
		}
		defer func() { _ = bundle.Close() }()
		entry, err := registryEntry(*version, filepath.Base(*bundlePath), bundle)
		if err != nil {
			return err
		}
		return os.WriteFile(*out, entry, 0o644)
	}
	return errUsage
}

// binary is an executable of the bundle: its name in it and the file to take it from.
type binary struct{ name, path string }

// manifestOf returns the bundle's manifest for a version.
func manifestOf(version string) ([]byte, error) {
	// Only the version changes; decoding into ordered raw fields would be more
	// code than writing them sorted.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(manifest, &fields); err != nil {
		return nil, err
	}
	quoted, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	fields["version"] = quoted
	return json.MarshalIndent(fields, "", "  ")
}

// writeBundle writes the bundle: a zip of the manifest and the binaries, all of the time at.
func writeBundle(w io.Writer, version string, at time.Time, binaries []binary) error {
	z := zip.NewWriter(w)
	add := func(name string, mode os.FileMode, content io.Reader) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(mode)
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = io.Copy(entry, content)
		return err
	}
	data, err := manifestOf(version)
	if err != nil {
		return err
	}
	if err := add("manifest.json", 0o644, bytes.NewReader(data)); err != nil {
		return err
	}
	for _, b := range binaries {
		file, err := os.Open(b.path)
		if err != nil {
			return err
		}
		if err := errors.Join(add(b.name, 0o755, file), file.Close()); err != nil {
			return err
		}
	}
	return z.Close()
}

// The entry of the MCP registry, as its schema wants it.
type entry struct {
	Schema      string    `json:"$schema"`
	Name        string    `json:"name"`
	Title       string    `json:"title"`
	Description string    `json:"description"` // at most 100 characters
	Repository  source    `json:"repository"`
	Version     string    `json:"version"`
	Packages    []product `json:"packages"`
}

type source struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type product struct {
	RegistryType string    `json:"registryType"`
	Identifier   string    `json:"identifier"`
	FileSHA256   string    `json:"fileSha256"`
	Transport    transport `json:"transport"`
}

type transport struct {
	Type string `json:"type"`
}

// registryEntry returns server.json for a version whose bundle has the name and content.
func registryEntry(version, name string, bundle io.Reader) ([]byte, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, bundle); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(entry{
		Schema:      "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:        "io.github.qa-orch/qa-orch",
		Title:       "QA orchestrator",
		Description: "Leads an agent through the fixed steps of a QA review; keeps nothing but their state",
		Repository:  source{repository, "github"},
		Version:     version,
		Packages: []product{{
			RegistryType: "mcpb",
			Identifier:   repository + "/releases/download/v" + version + "/" + name,
			FileSHA256:   hex.EncodeToString(sum.Sum(nil)),
			Transport:    transport{"stdio"},
		}},
	}, "", "  ")
	return append(data, '\n'), err
}
