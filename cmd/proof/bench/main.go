package bench

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Main is Run for a command line: "[-quick] [-page FILE]". Without -page it
// writes docs/benchmarks.md, unless the run is a quick one.
func Main(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "take a tenth of the turns and leave the page alone")
	page := flags.String("page", "", "the page to write into, instead of docs/benchmarks.md")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *page == "" && !*quick {
		out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
		root := strings.TrimSpace(string(out))
		if err != nil || !filepath.IsAbs(root) {
			return errors.Join(errors.New("run this inside the module"), err)
		}
		*page = filepath.Join(filepath.Dir(root), "docs", "benchmarks.md")
	}
	return Run(ctx, os.Stdout, Options{Page: *page, Quick: *quick, Log: os.Stderr})
}
