//go:build !unix

package crash

import (
	"context"
	"errors"
)

// canUseTerminal tells that commands can be run on a terminal.
const canUseTerminal = false

func runOnTerminal(context.Context, invocation, killer) (ending, error) {
	return ending{}, errors.ErrUnsupported
}
