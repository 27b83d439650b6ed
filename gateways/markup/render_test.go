package markup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
)

// shape writes a text with each style as <type>…</type>, and what belongs to it behind a colon.
func shape(t Text) string {
	return t.wrapped(func(e Entity) (string, string) {
		name := e.Type
		if e.URL+e.Language != "" {
			name += ":" + e.URL + e.Language
		}
		return "<" + name + ">", "</" + e.Type + ">"
	}, "")
}

// The numbers stand for the reports of notes on other agents that the input comes from.
func TestRender(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"styles":                  {"**b** *i* _i_ ~~s~~ `c`", "<bold>b</bold> <italic>i</italic> <italic>i</italic> <strikethrough>s</strikethrough> <code>c</code>"},
		"nested styles":           {"**bold with _inner_ italics** beside another _", "<bold>bold with <italic>inner</italic> italics</bold> beside another _"},
		"both at once":            {"***x***", "<italic><bold>x</bold></italic>"},
		"a style in itself":       {"**a **b** c** and # no head", "<bold>a b c</bold> and # no head"},
		"heading":                 {"# A **b** c\ntext", "<bold>A b c</bold>\n\ntext"},
		"paragraphs":              {"a\n\n\n\nb\nc", "a\n\nb\nc"},
		"rule":                    {"a\n---\nb", "a\n———\n\nb"},
		"unfinished":              {"*a **b `c [d](e ~~f", "*a **b `c [d](e ~~f"},
		"escapes":                 {`\*a\* \_ \\ \& &lt; &amp;lt; \&lt; &copy; &copy`, `*a* _ \ & < &lt; &lt; © &copy`},
		"5 addresses with _":      {"http://x.y/flash/7/NRR-JaUmg_hm7jYl and http://x.y/a_b_c", "http://x.y/flash/7/NRR-JaUmg_hm7jYl and http://x.y/a_b_c"},
		"5 addresses as emphasis": {"see http://nas:8080/_a_/*b and https://192.168.1.1/_c_", "see http://nas:8080/_a_/*b and https://192.168.1.1/_c_"},
		"5 address with a name":   {"http://x?a=1&copy=2", "http://x?a=1&copy=2"},
		"6 mail address":          {"Chad <chad@example.com>", "Chad chad@example.com"},
		"7 HTML is shown":         {"a <b>bold</b> <br> &", "a <b>bold</b> <br> &"},
		"7 HTML blocks are shown": {"<script>\nx < y\n</script> end", "<script>\nx < y\n</script> end"},
		"8 fence":                 {"a\n```go\nif a < b {\n\tf()\n}\n```\nb", "a\n<pre:go>if a < b {\n\tf()\n}</pre>\n\nb"},
		"8 fence never closed":    {"```\nx\ny", "<pre>x\ny</pre>"},
		"8 fence of one line":     {"```never closed here", "<pre>never closed here</pre>"},
		"8 words behind a fence":  {"```bash npm install\nnpm run", "<pre:bash>npm install\nnpm run</pre>"},
		"8 tilde fence":           {"~~~\na\n~~~", "<pre>a</pre>"},
		"code keeps its indent":   {"```\n    a\n  b\n```", "<pre>    a\n  b</pre>"},
		"code by indent":          {"a\n\n    b", "a\n<pre>b</pre>"},
		"code with a backtick":    {"``a`b``", "<code>a`b</code>"},
		"11 HTML table":           {"<table><tr><td>1</td></tr></table>", "<table><tr><td>1</td></tr></table>"},
		"12 numbers":              {"3. a\n4. b\n   - c\n     - d_e\n5) f", "3. a\n4. b\n   • c\n      • d_e\n\n5) f"},
		"13 nothing":              {"", ""},
		"13 white space":          {" \n\t\n \u200b\u2060\u3164", ""},
		"lists":                   {"x\n- a\n\n  more\n* b\n  c", "x\n\n• a\n   more\n\n• b\n   c"},
		"tasks":                   {"- [ ] a\n- [x] b", "• ☐ a\n• ☑ b"},
		"quotes":                  {"> a\n>> b\n\nc", "<blockquote>a\n\nb</blockquote>\n\nc"},
		"code in a quote":         {"> ```\n> a\n> ```\n\nb", "<blockquote><pre>a</pre></blockquote>\n\nb"},
		"link":                    {"[a *b*](https://e.org/a_(b)?x=1&amp;y=2)", "<text_link:https://e.org/a_(b)?x=1&y=2>a <italic>b</italic></text_link>"},
		"link of a mail":          {"[a](mailto:b@c.d)", "<text_link:mailto:b@c.d>a</text_link>"},
		"link without words":      {"[](https://e.org) [ ](x)", "https://e.org  x"},
		"links that open nothing": {"[a](javascript:alert(1)) [b](./x.md) [c](file:///etc) [d](http://) [e](<http://a b>) [f]()", "a (javascript:alert(1)) b (./x.md) c (file:///etc) d (http://) e (http://a b) f"},
		"no link by reference":    {"[note]: call\n[a][b]\n\n[b]: http://e.org", "[note]: call\n[a][b]\n\n[b]: http://e.org"},
		"images":                  {"![alt](https://e.org/i.png) ![](x.png)", "<text_link:https://e.org/i.png>🖼 alt</text_link> 🖼  (x.png)"},
		"control characters":      {"\x00a\x07\x1b[2J\u009bb\u202ec\r\nd\re\u2028f", "a[2Jbc\nd\ne\nf"},
		"controls by reference":   {"a&#27;b&#x9b;c&#0;d", "ab›c\ufffdd"},
		"bad UTF-8":               {"a\xff\xfeb", "a\ufffdb"},
		"deep lists stay narrow":  {deepList(8), "• 0\n   • 1\n      • 2\n         • 3\n            • 4\n               • 5\n               • 6\n               • 7"},
		"hostile depth":           {strings.Repeat("+ ", 100) + "**x**", strings.Repeat("+ ", 100) + "**x**"},
		"hostile brackets":        {strings.Repeat("[a](b)", 1001), strings.Repeat("[a](b)", 1001)},
	} {
		if got := shape(Render(c.in)); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", name, c.in, got, c.want)
		}
	}
	if long := strings.Repeat("*a* ", 20_000); Render(long).Plain != strings.TrimSpace(long) {
		t.Error("a text that is too long for the parser is not shown as it stands")
	}
}

func deepList(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "%s- %d\n", strings.Repeat("  ", i), i)
	}
	return b.String()
}

// TestTables is input 11: tables are aligned by what a screen shows, and keep all that stands in a row.
func TestTables(t *testing.T) {
	in := "| 期限 | n | note |\n|:--|--:|---|\n| 30 年 | 1 | `a\\|b` **c** |\n| 👨‍👩‍👧 | 22 | [x](https://e.org) <b> http://n/_y_ |\n| a | b |\n| a | b | c | d |\n"
	got := Render(in)
	want := "期限  | n  | note\n" +
		"------+----+-----------------------------------\n" +
		"30 年 | 1  | a|b c\n" +
		"👨‍👩‍👧    | 22 | x (https://e.org) <b> http://n/_y_\n" +
		"a     | b  |\n" +
		"a     | b  | c | d"
	if diff := cmp.Diff(want, got.Plain); diff != "" {
		t.Error(diff)
	}
	if len(got.Entities) != 1 || got.Entities[0].Type != Pre || got.Entities[0].Length != Units(got.Plain) {
		t.Errorf("entities: %+v", got.Entities)
	}
	for line := range strings.SplitSeq(got.Plain, "\n") {
		if at := strings.IndexAny(line, "|+"); uniseg.StringWidth(line[:at]) != 6 {
			t.Errorf("the first column of %q is %d wide", line, uniseg.StringWidth(line[:at]))
		}
	}
	for _, row := range []string{"| a | b |", "a | b", "| a | b \\|", "|a|b|\n"} {
		doc := "| h1 | h2 |\n|---|---|\n" + row
		if got := Render(doc).Plain; !strings.Contains(got, "a ") || !strings.Contains(got, "b") {
			t.Errorf("%q: %q", doc, got)
		}
	}
}

func TestEscapedWordsAreShownAsTheyAre(t *testing.T) {
	for _, words := range []string{"plain", "**a** _b_ `c` [d](e) <f> &amp; #g", "# a\n- b\n1. c\n> d\n| e | f |\n|---|---|\n```\ng", "a\n    b\n\tc", "x_y http://a/_b_ www.a.b/_c_", `\`, "😀 é"} {
		got := Render(Escape(words))
		want := strings.ReplaceAll(words, "\t", " ")
		if plain := strings.ReplaceAll(got.Plain, "\u00a0", " "); plain != want || len(got.Entities) > 0 {
			t.Errorf("%q is shown as %q, %v", words, got.Plain, got.Entities)
		}
	}
}

func TestEncodeAndDecode(t *testing.T) {
	for _, src := range []string{"", "plain", "**b** [l](https://e.org) 😀\n```go\nx\n```"} {
		in := Render(src)
		out, err := Decode(in.Plain, in.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if in.Encode() == "" || shape(out) != shape(in) {
			t.Errorf("%q came back as %q through %q", shape(in), shape(out), in.Encode())
		}
	}
	if _, err := Decode("a", "{"); err == nil {
		t.Error("nonsense was decoded")
	}
}

func TestPrependAndAppend(t *testing.T) {
	in := Render("**b** c")
	out := in.Prepend("↻ 😀\n").Append(" (late)")
	if got := shape(out); got != "↻ 😀\n<bold>b</bold> c (late)" {
		t.Error(got)
	}
	if got := shape(Render("```\nx\n```").Append(" (1/2)")); got != "<pre>x</pre> (1/2)" { // 10: nothing is glued to code
		t.Error(got)
	}
	if got := shape(in); got != "<bold>b</bold> c" {
		t.Errorf("the first text has changed to %q", got)
	}
}
