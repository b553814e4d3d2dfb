package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errTooLong means that a line was longer than it may be; it was skipped.
var errTooLong = errors.New("line too long")

// lineReader reads lines of bounded length. The last one needs no newline.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

// readBuffer holds a usual message whole.
const readBuffer = 64 << 10

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readBuffer), limit: limit}
}

var newline = []byte("\n")

// next returns the next line, which is the caller's to keep. A line over the
// limit is read to its end without being held, and gives errTooLong. At the end
// of the input the error is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(part, newline)) > l.limit {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
			return line, nil
		default:
			return nil, err
		}
	}
}
