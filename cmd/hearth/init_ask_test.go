package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"
)

func TestHiddenLine(t *testing.T) {
	for _, c := range []struct {
		keys, line string
		err        error
	}{
		{keys: "123:abc\r", line: "123:abc"},
		{keys: "123:abc\nnext", line: "123:abc"},
		{keys: "ax\x7fb\bc\r", line: "ac"},
		{keys: "\x7f\x7fa\r", line: "a"},
		{keys: "wrong\x15right\r", line: "right"},
		{keys: "a\x04b\r", line: "ab"},
		{keys: "\x04", err: io.EOF},
		{keys: "abc\x03", err: context.Canceled},
		{keys: "é\x7fe\r", line: "e"},
		{keys: "cut off", err: io.EOF},
	} {
		line, err := hiddenLine(strings.NewReader(c.keys))
		if line != c.line || !errors.Is(err, c.err) {
			t.Errorf("%q gives %q, %v", c.keys, line, err)
		}
	}
	// What is typed for the next question is left for it.
	keys := strings.NewReader("secret\rEurope/Lisbon\n")
	if _, err := hiddenLine(keys); err != nil || keys.Len() != len("Europe/Lisbon\n") {
		t.Errorf("%d bytes are left, %v", keys.Len(), err)
	}
}

func FuzzHiddenLine(f *testing.F) {
	f.Add("123:abc\r")
	f.Add("\x7f\x15\x04\x1b[A\xff\r")
	f.Fuzz(func(t *testing.T, keys string) {
		line, err := hiddenLine(strings.NewReader(keys))
		if err == nil && strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q gives %q", keys, line)
		}
	})
}

func FuzzAddress(f *testing.F) {
	f.Add("nas:8080")
	f.Add("[::1]")
	f.Add("https://a/b")
	f.Fuzz(func(t *testing.T, host string) {
		if got := address(host); !strings.Contains(got, "://") {
			t.Errorf("%q becomes %q", host, got)
		}
		_ = shownURL(host)
	})
}

func TestShownURLHidesAPassword(t *testing.T) {
	for url, want := range map[string]string{
		"http://nas:11434": "http://nas:11434", "https://ana:hunter2@nas": "https://***@nas", "https://a@b:c@nas": "https://***@nas",
	} {
		if got := shownURL(url); got != want {
			t.Errorf("%s is shown as %s", url, got)
		}
	}
}
