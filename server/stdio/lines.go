package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// tooLong is the error of a line that was longer than it may be and was
// skipped. Its ends may show whose request it was.
type tooLong struct {
	head []byte // how the line begins
	tail []byte // how it ends
}

// Error implements error.
func (t *tooLong) Error() string { return "line too long" }

// endSize is how much of either end of such a line is kept, in bytes.
const endSize = 1 << 10

// lineReader reads lines of bounded length. The last one needs no newline.
type lineReader struct {
	r     *bufio.Reader
	limit int
	begun bool // a line was read
}

// readBuffer holds a usual message whole.
const readBuffer = 64 << 10

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readBuffer), limit: limit}
}

var newline = []byte("\n")

// next returns the next line, which is the caller's to keep. A line over the
// limit is read to its end without being held, and gives a *tooLong. At the end
// of the input the error is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	var over *tooLong
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case over != nil:
			over.tail = lastBytes(append(over.tail, part...))
		case len(line)+len(bytes.TrimSuffix(part, newline)) > l.limit:
			line = append(line, part...)
			over = &tooLong{head: bytes.Clone(line[:min(len(line), endSize)]), tail: lastBytes(line)}
			line = nil
		default:
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case over != nil && (err == nil || errors.Is(err, io.EOF)):
			return nil, over
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
			if !l.begun { // some shells put a byte-order mark before what they pipe
				l.begun = true
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			return line, nil
		default:
			return nil, err
		}
	}
}

func lastBytes(b []byte) []byte { return bytes.Clone(b[max(0, len(b)-endSize):]) }
