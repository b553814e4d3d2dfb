// Command proof holds qa-orch to what its documents claim.
//
//	go run ./cmd/proof bench [-quick] [-page FILE]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/qa-orch/qa-orch/cmd/proof/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := fmt.Errorf("usage: proof bench [-quick] [-page FILE]")
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		err = bench.Main(ctx, os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
