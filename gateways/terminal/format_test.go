package terminal

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
)

func TestCleanTakesOrdersOutAndLeavesWords(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":                         "plain text",
		"two\r\nlines\rthree":                "two\nlines\nthree",
		"\x1b[31mred\x1b[0m":                 "red",
		"\x1b]0;new title\x07after":          "after",
		"\x1b]52;c;c2VjcmV0\x1b\\after":      "after",
		"\x1bP1$r0m\x1b\\after":              "after",
		"\x1bcreset":                         "reset",
		"\x1b(0lines":                        "lines",
		"\x1b]0;never ended":                 "0;never ended",
		"\u009b2Jc1":                         "2Jc1",
		"\x1b\x1b[31m[2Jnested":              "[2Jnested",
		"bell\x07 back\x08space\x7f nul\x00": "bell backspace nul",
		"tab\tstop":                          "tab    stop",
		"user\u202etxt.exe":                  "usertxt.exe",
		"isolate\u2066x\u2069":               "isolatex",
		"line\u2028sep":                      "line\nsep",
		"bad \xff utf8":                      "bad \uFFFD utf8",
		"family 👨‍👩‍👧 stays, שלום\u200f too, e\u0301 and 你好": "family 👨‍👩‍👧 stays, שלום\u200f too, e\u0301 and 你好",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFormatWraps(t *testing.T) {
	for _, tc := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 20, "short"},
		{"one two three four", 9, "one two\nthree\nfour"},
		{"one two three four", 0, "one two three four"},
		{"exactly ten", 11, "exactly ten"},
		{"trailing spaces   ", 40, "trailing spaces"},
		{"first\n\nsecond line here", 11, "first\n\nsecond line\nhere"},
		{"averylongwordindeed", 6, "averyl\nongwor\ndindee\nd"},
		{"see averylongword", 6, "see\naveryl\nongwor\nd"},
		{"你好世界和平", 6, "你好世\n界和平"},
		{"👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 4, "👨‍👩‍👧👨‍👩‍👧\n👨‍👩‍👧"},
		{"", 10, ""},
	} {
		if diff := cmp.Diff(tc.want, Format(tc.in, tc.width)); diff != "" {
			t.Errorf("Format(%q, %d): %s", tc.in, tc.width, diff)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, seed := range []string{
		"hello world", "\x1b[31mred", "\x1b]0;t\x07", "你好 world 👨‍👩‍👧", "\u202e\u009b", strings.Repeat("a", 300), "\x1b\x1b[1m[2J", "a\u0301\u0301 b\r\n\r\n", "🇵🇹🇵🇹🇵", "\u200d\u200d x",
	} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		out := Format(text, width)
		for _, r := range out {
			if unicode.IsControl(r) && r != '\n' {
				t.Fatalf("%q is left in %q", r, out)
			}
		}
		if Clean(Clean(text)) != Clean(text) {
			t.Fatalf("cleaning twice changes %q", Clean(text))
		}
		bare := func(s string) string { return strings.Map(drop(" \n"), s) }
		if bare(out) != bare(Clean(text)) {
			t.Fatalf("the words changed: %q became %q", Clean(text), out)
		}
		if width < 1 {
			return
		}
		for _, line := range strings.Split(out, "\n") {
			if uniseg.StringWidth(line) > width && uniseg.GraphemeClusterCount(line) > 1 {
				t.Fatalf("%q takes %d columns of %d", line, uniseg.StringWidth(line), width)
			}
		}
	})
}

func drop(letters string) func(rune) rune {
	return func(r rune) rune {
		if strings.ContainsRune(letters, r) {
			return -1
		}
		return r
	}
}
