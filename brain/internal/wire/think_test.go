package wire

import (
	"strings"
	"testing"
)

func TestThinkingIsKeptOutOfTheText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain words", "plain words"},
		{"<think>a plan</think>\n\nThe answer.", "The answer."},
		{"\n <think>\na plan\n</think> The answer.", "\n The answer."},
		{"<thinking>a</thinking>b", "b"},
		{"<think></think>\n\n<think>again</think>b", "b"},
		{"<think>a <b> </thin </thinking> c</think>b", "b"},
		{"First.\n<think>hm</think>\nSecond.", "First.\nSecond."},
		{"<think>it never ends", ""},
		{"<think>it never ends</thi", ""},
		{"a plan that the template opened\n</think>\n\nThe answer.", "The answer."},
		{"a plan without a line of its own</think>The answer.", "The answer."},
		{"a</think>b</think>c", "c"},
		// An answer may speak of tags, of other tags, and of smaller things.
		{"Models write <think> before they answer.", "Models write <think> before they answer."},
		{"It ends with `</think>` and goes on.", "It ends with `</think>` and goes on."},
		{"1 < 2 and <b>bold</b>", "1 < 2 and <b>bold</b>"},
		{"<thinker>", "<thinker>"},
		{"<thi", "<thi"},
		{"a <", "a <"},
		{"< think>", "< think>"},
		{"<", "<"},
		{"", ""},
	} {
		if got := unthought(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
		for n := range len(c.in) { // in two pieces, cut anywhere
			if got := inPieces(c.in[:n], c.in[n:]); got != c.want {
				t.Errorf("%q cut at %d: got %q, want %q", c.in, n, got, c.want)
			}
		}
		if got := inPieces(strings.Split(c.in, "")...); got != c.want {
			t.Errorf("%q letter by letter: got %q, want %q", c.in, got, c.want)
		}
	}
}

// Every text of up to four of these parts, at once and letter by letter.
func TestThinkingDoesNotDependOnThePieces(t *testing.T) {
	parts := []string{"<think>", "</think>", "<thinking>", "</thinking>", "<", "a", "\n", " ", "`", "</th"}
	var try func(text string, left int)
	try = func(text string, left int) {
		if at, apart := unthought(text), inPieces(strings.Split(text, "")...); at != apart {
			t.Errorf("%q: at once %q, letter by letter %q", text, at, apart)
		}
		if left == 0 || t.Failed() {
			return
		}
		for _, part := range parts {
			try(text+part, left-1)
		}
	}
	try("", 4)
}

func inPieces(pieces ...string) string {
	var f Filter
	var out strings.Builder
	for _, p := range pieces {
		visible, afresh := f.Write(p)
		if afresh {
			out.Reset()
		}
		out.WriteString(visible)
	}
	out.WriteString(f.End())
	return out.String()
}

func FuzzThinking(f *testing.F) {
	f.Add("<think>a</think>b", uint8(3))
	f.Add("x\n<thinking>a</think></thinking> b </think>c", uint8(1))
	f.Add("`</think>` \"<think>\" <<think>", uint8(2))
	f.Add("<think>\n \t</think> \r\n<", uint8(5))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		whole := unthought(text)
		var pieces []string
		for rest, n := text, int(size%9)+1; rest != ""; {
			n = min(n, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := inPieces(pieces...); got != whole {
			t.Fatalf("%q in pieces of %d: got %q, at once %q", text, size%9+1, got, whole)
		}
		if len(whole) > len(text) {
			t.Fatalf("%q grew to %q", text, whole)
		}
		if !strings.Contains(text, "<") && whole != text {
			t.Fatalf("%q became %q", text, whole)
		}
		if trimmed := strings.TrimLeft(whole, " \t\r\n"); strings.HasPrefix(trimmed, "<think>") {
			t.Fatalf("%q begins with thinking still: %q", text, whole)
		}
	})
}
