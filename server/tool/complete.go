package tool

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// Complete returns those words that start with prefix, at most as many as the protocol allows.
func Complete(words []string, prefix string) *mcp.Completion {
	const most = 100
	c := &mcp.Completion{Values: []string{}}
	for _, w := range words {
		if !strings.HasPrefix(w, prefix) {
			continue
		}
		c.Total++
		if len(c.Values) < most {
			c.Values = append(c.Values, w)
		}
	}
	c.HasMore = c.Total > len(c.Values)
	return c
}
