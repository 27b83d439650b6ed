package markup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
)

func shapes(pieces []Text) []string {
	var out []string
	for _, p := range pieces {
		out = append(out, shape(p))
	}
	return out
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		limit int
		want  []string
	}{
		"nothing":                      {"", 10, nil},
		"it fits":                      {"ten letter", 10, []string{"ten letter"}},
		"at a paragraph":               {"aa aa\n\nbb bb\nb", 12, []string{"aa aa", "bb bb\nb"}},
		"at a line":                    {"aa aa\nbb bb cc", 11, []string{"aa aa", "bb bb cc"}},
		"at a word":                    {"aa bb cc dd ee", 12, []string{"aa bb cc dd", "ee"}},
		"not early at a paragraph":     {"a\n\nbb bb bb bb", 12, []string{"a\n\nbb bb bb", "bb"}},
		"a very long word":             {strings.Repeat("x", 25), 12, []string{strings.Repeat("x", 12), strings.Repeat("x", 12), "x"}},
		"3 not in a pair":              {"xxxxxxxxxxx🙂y", 12, []string{"xxxxxxxxxxx", "🙂y"}},
		"not in a family":              {"xxx👨‍👩‍👧‍👦yy", 12, []string{"xxx", "👨‍👩‍👧‍👦y", "y"}},
		"not in a flag":                {"xxxxxxxxx🇵🇹🇩🇪", 12, []string{"xxxxxxxxx", "🇵🇹🇩🇪"}},
		"not in an accent":             {"xxxxxxxxxxxe\u0301", 12, []string{"xxxxxxxxxxx", "e\u0301"}},
		"not in a skin tone":           {"xxxxxxxxx👍🏽", 12, []string{"xxxxxxxxx", "👍🏽"}},
		"9 inline code goes on":        {"**a `bbb bbb bbb` c**", 10, []string{"<bold>a <code>bbb bbb</code></bold>", "<bold><code>bbb</code> c</bold>"}},
		"8 a fence keeps its language": {"```go\naaaaa\n  bbbb\n```", 10, []string{"<pre:go>aaaaa</pre>", "<pre:go>  bbbb</pre>"}},
		"a quote goes on":              {"> aaaa bbbb cccc", 10, []string{"<blockquote>aaaa bbbb</blockquote>", "<blockquote>cccc</blockquote>"}},
		"a link goes on":               {"[aaaa bbbb cccc](http://e.org)", 10, []string{"<text_link:http://e.org>aaaa bbbb</text_link>", "<text_link:http://e.org>cccc</text_link>"}},
		"a desert of lines":            {"a" + "&#10;" + strings.Repeat("&#10;", 40) + "b", 10, []string{"a", "b"}},
		"what shows nothing":           {"a" + strings.Repeat("\u200b", 30) + "b", 10, []string{"a" + strings.Repeat("\u200b", 9), "\u200bb"}},
	} {
		if diff := cmp.Diff(c.want, shapes(Render(c.in).Split(c.limit, 100))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSplitEmoji is input 4, and 1 beside it: nothing hangs, nothing is dropped, no emoji is torn.
func TestSplitEmoji(t *testing.T) {
	for name, text := range map[string]string{"even": strings.Repeat("🙂", 4096), "odd": "a" + strings.Repeat("🙂", 4096), "families": strings.Repeat("👨‍👩‍👧‍👦", 1500), "flags": "x" + strings.Repeat("🇵🇹", 3000)} {
		pieces := Render(text).Split(4096, 100)
		var all string
		for _, p := range pieces {
			all += p.Plain
			if n := Units(p.Plain); n > 4096 || n < 4000 && p.Plain != pieces[len(pieces)-1].Plain {
				t.Errorf("%s: a piece has %d units", name, n)
			}
		}
		if all != text {
			t.Errorf("%s: something is lost", name)
		}
		if uniseg.GraphemeClusterCount(text) != sum(pieces) {
			t.Errorf("%s: a character is torn", name)
		}
	}
}

func sum(pieces []Text) int {
	n := 0
	for _, p := range pieces {
		n += uniseg.GraphemeClusterCount(p.Plain)
	}
	return n
}

// TestSplitTower cuts what is one character and longer than a message: nothing else can be done.
func TestSplitTower(t *testing.T) {
	tower := "a" + strings.Repeat("\u0301", 9000)
	all := ""
	for _, p := range Render(tower+"b").Split(4096, 100) {
		if Units(p.Plain) > 4096 {
			t.Errorf("a piece has %d units", Units(p.Plain))
		}
		all += p.Plain
	}
	if !strings.HasPrefix(all, "a\u0301") || !strings.HasSuffix(all, "b") {
		t.Errorf("%.20q … %q", all, all[len(all)-4:])
	}
}

// TestSplitByEntities keeps to the number of entities that a message may have.
func TestSplitByEntities(t *testing.T) {
	pieces := Render(strings.Repeat("**b** _i_ ", 130)).Split(4096, 100)
	if len(pieces) != 3 {
		t.Errorf("260 entities make %d pieces, want 3", len(pieces))
	}
	for _, p := range pieces {
		if len(p.Entities) > 100 {
			t.Errorf("a piece has %d entities", len(p.Entities))
		}
	}
}
