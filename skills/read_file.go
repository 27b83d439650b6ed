package skills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"unicode/utf8"
)

// maxRead is how many characters of a file the model is shown unless the deployment says otherwise.
const maxRead = 16_000

// countLimit is how much of a file is read at most, in bytes, to count its characters.
const countLimit = 4 << 20

type readFileArgs struct {
	Path string `json:"path"`
}

func (w workspace) readFile(_ context.Context, _ Call, a readFileArgs) (_ Result, err error) {
	at, err := w.place(a.Path)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, at.root.Close()) }()
	skip := at.goOn()
	data, size, err := content(at.root, at.where, at.name)
	if err != nil {
		return Result{}, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) == 0 {
		return Result{Text: at.label + " is empty."}, nil
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return Result{}, fmt.Errorf("%s is not text but other data, %s bytes of it; it cannot be shown", shown(at.label), thousands(size))
	}
	total := utf8.RuneCount(data)
	if skip >= total {
		return Result{}, fmt.Errorf("%s has %s characters, so nothing comes after %s", shown(at.label), thousands(total), thousands(skip))
	}
	before, _ := clip(string(data), skip)
	text, cut := clip(string(data[len(before):]), w.maxRead)
	whole := int64(len(data)) >= size-3 // a byte order mark is not shown
	return Result{Text: at.heading(skip, utf8.RuneCountInString(text), total, size, cut, whole) + at.fenced(text)}, nil
}

// heading is the line above what is shown of a file. Of a cut one it says how to read on.
func (p place) heading(skip, count, total int, size int64, cut, whole bool) string {
	if skip == 0 && !cut && whole {
		return p.label + ":"
	}
	part := fmt.Sprintf("%s of %s characters", thousands(count), thousands(total))
	if skip > 0 {
		part = fmt.Sprintf("%s to %s of %s characters", thousands(skip+1), thousands(skip+count), thousands(total))
	}
	if !whole {
		part = fmt.Sprintf("the first %s characters of %s bytes", thousands(count), thousands(size))
		if skip > 0 {
			part = fmt.Sprintf("characters %s to %s of %s bytes", thousands(skip+1), thousands(skip+count), thousands(size))
		}
	}
	rest := ""
	if cut {
		rest = fmt.Sprintf("; %s#%d goes on", p.label, skip+count)
	}
	return fmt.Sprintf("%s (shown %s%s):", p.label, part, rest)
}

// content gives the bytes of an ordinary file, of a big one only the beginning, ending at a character; and its size.
func content(root *os.Root, where, name string) ([]byte, int64, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, 0, refusal(root, where, name, err)
	}
	switch {
	case info.IsDir():
		return nil, 0, fmt.Errorf("%s is a folder; list_files shows what is in it", shown(name))
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is a pipe or a device, not an ordinary file, and is not read", shown(name))
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, refusal(root, where, name, err)
	}
	defer func() { _ = f.Close() }() // only read from
	// What was looked at may not be what was opened.
	if info, err = f.Stat(); err != nil {
		return nil, 0, refusal(root, where, name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not an ordinary file and is not read", shown(name))
	}
	data, err := io.ReadAll(io.LimitReader(f, countLimit))
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", shown(name), err)
	}
	if int64(len(data)) < info.Size() {
		data = wholeRunes(data)
	}
	return data, max(info.Size(), int64(len(data))), nil
}

// wholeRunes cuts a character off that is not all there.
func wholeRunes(data []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(data); i++ {
		if start := len(data) - i; utf8.RuneStart(data[start]) {
			if !utf8.FullRune(data[start:]) {
				return data[:start]
			}
			break
		}
	}
	return data
}

// clip gives at most limit characters of a text.
func clip(s string, limit int) (string, bool) {
	n := 0
	for i := range s {
		if n == limit {
			return s[:i], true
		}
		n++
	}
	return s, false
}
