// Command plain is the least that a Go program can be: the floor for its start-up time.
package main

import "os"

func main() { _, _ = os.Stdout.WriteString("plain\n") }
