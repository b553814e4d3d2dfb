package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// opener is a process that has a file open.
type opener struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// openers returns the other processes that have the file open, as far as the
// system tells: on Linux those of the same person, elsewhere none.
func openers(path string) []opener {
	out := []opener{}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return out
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	seen := map[int]bool{os.Getpid(): true}
	for _, link := range links {
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err != nil || seen[pid] {
			continue
		}
		if to, err := os.Readlink(link); err != nil || to != target {
			continue
		}
		seen[pid] = true
		name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
		out = append(out, opener{pid, strings.TrimSpace(string(name))})
	}
	return out
}
