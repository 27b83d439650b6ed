package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// read gives all events as "name|data", and how it ended.
func read(r io.Reader) (got []string, err error) {
	err = Events(r, func(e Event) (bool, error) {
		got = append(got, e.Name+"|"+string(e.Data))
		return string(e.Data) == "[DONE]", nil
	})
	return got, err
}

func TestEventsAreReadByTheStandard(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		err  error
	}{
		{"data: a\n\ndata: b\n\ndata: [DONE]\n\n", []string{"|a", "|b", "|[DONE]"}, nil},
		{"data:a\r\n\r\ndata: [DONE]\r\n\r\n", []string{"|a", "|[DONE]"}, nil},
		{"data: a\r\rdata: [DONE]\r\r", []string{"|a", "|[DONE]"}, nil},
		{"event: ping\ndata: {}\n\ndata: x\n\n", []string{"ping|{}", "|x"}, io.ErrUnexpectedEOF},
		{"data: one\ndata: two\n\n", []string{"|one\ntwo"}, io.ErrUnexpectedEOF},
		{"data:  two blanks\n\n", []string{"| two blanks"}, io.ErrUnexpectedEOF},
		{": still here\n\n: and here\n\ndata: a\n\n", []string{"|a"}, io.ErrUnexpectedEOF},
		{"\ufeffdata: a\n\n", []string{"|a"}, io.ErrUnexpectedEOF},
		{"event: lost\n\ndata: a\n\n", []string{"|a"}, io.ErrUnexpectedEOF},
		{"id: 7\nretry: 10\nother\ndata\n\n", []string{"|"}, io.ErrUnexpectedEOF},
		{"data: [DONE]", []string{"|[DONE]"}, nil}, // without the empty line
		{"data: [DONE]\n\ndata: never\n\n", []string{"|[DONE]"}, nil},
		{"", nil, io.ErrUnexpectedEOF},
		{"\n\n\n", nil, io.ErrUnexpectedEOF},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			got, err := read(r)
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("%s %q: %v, %s", name, c.in, err, diff)
			}
		}
	}
}

func TestAnEventIsSeenBeforeTheNextOneComes(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n"} {
		r, w := io.Pipe()
		seen := make(chan string)
		go func() {
			_ = Events(r, func(e Event) (bool, error) { seen <- string(e.Data); return false, nil })
		}()
		for _, words := range []string{"one", "two"} {
			if _, err := io.WriteString(w, "data: "+words+end); err != nil {
				t.Fatal(err)
			}
			if got := <-seen; got != words {
				t.Errorf("got %q", got)
			}
		}
		_ = w.Close()
	}
}

func TestEventsAreBounded(t *testing.T) {
	line := "data: " + strings.Repeat("x", MaxEvent)
	if _, err := read(iotest.OneByteReader(strings.NewReader(line))); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("a long line: %v", err)
	}
	endless := io.MultiReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 5)))
	if _, err := read(endless); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("many lines: %v", err)
	}
}

func TestABrokenStreamKeepsItsCause(t *testing.T) {
	cause := errors.New("reset by peer")
	_, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(cause)))
	if !errors.Is(err, cause) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	stop := errors.New("enough")
	if err := Events(strings.NewReader("data: a\n\n"), func(Event) (bool, error) { return false, stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "event: x\r\ndata: y\r\n\r\n", "data\rdata:\r\r", "\ufeff: c\ndata: [DONE]", "\r\n\r\n", "data: a\r\n"} {
		f.Add(seed, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		whole, err := read(strings.NewReader(text))
		pieces, err2 := read(&lumps{text: text, size: int(size%7) + 1})
		if diff := cmp.Diff(whole, pieces); diff != "" || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("%q in pieces of %d: %s, %v and %v", text, size%7+1, diff, err, err2)
		}
		if (err == nil) != (len(whole) > 0 && strings.HasSuffix(whole[len(whole)-1], "|[DONE]")) {
			t.Fatalf("%q: %q ends with %v", text, whole, err)
		}
		for _, e := range whole {
			if strings.Count(e, "\r") > 0 {
				t.Fatalf("%q: a line holds its own end: %q", text, e)
			}
		}
	})
}

// lumps gives a text in pieces of one size.
type lumps struct {
	text string
	size int
}

func (l *lumps) Read(p []byte) (int, error) {
	if l.text == "" {
		return 0, io.EOF
	}
	n := copy(p, l.text[:min(l.size, len(l.text))])
	l.text = l.text[n:]
	return n, nil
}
