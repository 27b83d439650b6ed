package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxEvent bounds one line of a stream and the data of one event, in bytes: a whole tool call may stand on one line.
const MaxEvent = 4 << 20

// Event is one event of a text/event-stream.
type Event struct {
	Name string // "" = message
	Data []byte // its lines, joined; valid until the next event
}

// Events reads a stream of server-sent events and calls one with each until it says stop. It gives io.ErrUnexpectedEOF when
// the stream ends before that, also if it ends in good order: only an event can say that an answer is whole. The rules are
// those of the HTML standard, but for one: what stands at the end without an empty line is an event too, since servers
// forget that line. A comment is no event: a server that only says that it is alive has not answered.
func Events(r io.Reader, one func(Event) (stop bool, err error)) error {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, MaxEvent)
	scan.Split(lineEnds())
	var name string
	var data []byte
	has := false
	send := func() (bool, error) {
		if !has {
			name = ""
			return false, nil
		}
		e := Event{Name: name, Data: bytes.TrimSuffix(data, []byte("\n"))}
		name, has = "", false
		stop, err := one(e)
		data = data[:0]
		return stop, err
	}
	for first := true; scan.Scan(); first = false {
		line := scan.Bytes()
		if first {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			if stop, err := send(); stop || err != nil {
				return err
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if len(data)+len(value) >= MaxEvent {
				return bufio.ErrTooLong
			}
			data = append(append(data, value...), '\n')
			has = true
		}
	}
	switch err := scan.Err(); {
	case err == nil:
		if stop, err := send(); stop || err != nil {
			return err
		}
		return io.ErrUnexpectedEOF
	case errors.Is(err, bufio.ErrTooLong):
		return err
	default:
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
}

// lineEnds splits at \n, \r\n and a lone \r. A \r at the end of what has come ends its line at once: the stream may pause
// there. A \n that follows belongs to it. What was looked at is not looked at again: a long line may come byte by byte.
func lineEnds() bufio.SplitFunc {
	skip, seen := false, 0
	return func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		start := 0
		if skip && len(data) > 0 {
			skip = false
			if data[0] == '\n' {
				start = 1
			}
		}
		rest := data[start:]
		if i := bytes.IndexAny(rest[seen:], "\r\n"); i >= 0 {
			i, seen = i+seen, 0
			skip = rest[i] == '\r'
			return start + i + 1, rest[:i:i], nil
		}
		if atEOF && len(rest) > 0 {
			seen = 0
			return len(data), rest, nil
		}
		seen = len(rest)
		return start, nil, nil
	}
}
