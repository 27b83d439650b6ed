package markup

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// limits are Telegram's, and two that cut everywhere.
var limits = []int{4096, 200, 37}

const documents = 4000

// TestEveryDocumentIsCutRight holds 4,000 composed documents, and those of the corpus, to the rules of pieces.
func TestEveryDocumentIsCutRight(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range documents {
		doc, words := document(r)
		if err := holds(doc, words); err != nil {
			t.Fatalf("document %d: %v\n%q", n, err, doc)
		}
	}
	for _, doc := range corpus {
		if err := holds(doc, nil); err != nil {
			t.Errorf("%v\n%.300q", err, doc)
		}
	}
}

// holds renders and cuts a document and gives what is wrong with that.
func holds(doc string, words []string) error {
	whole := Render(doc)
	if err := wellFormed(whole); err != nil {
		return fmt.Errorf("rendered: %w", err)
	}
	// All that a person can read, with what stands behind links and before code.
	shown := whole.wrapped(func(e Entity) (string, string) { return e.Language, e.URL }, "")
	for _, word := range words {
		_, rest, found := strings.Cut(shown, word)
		if !found {
			return fmt.Errorf("the word %s is lost or out of order: %q", word, whole.Plain)
		}
		shown = rest
	}
	for _, limit := range limits {
		pieces := whole.Split(limit, 100)
		var all strings.Builder
		for i, p := range pieces {
			if err := wellFormed(p); err != nil {
				return fmt.Errorf("piece %d at limit %d: %w", i, limit, err)
			}
			if n := Units(p.Plain); n == 0 || n > limit || len(p.Entities) > 100 {
				return fmt.Errorf("piece %d at limit %d has %d units and %d entities", i, limit, n, len(p.Entities))
			}
			all.WriteString(p.Plain)
		}
		if squeeze(all.String()) != squeeze(whole.Plain) {
			return fmt.Errorf("limit %d loses letters: %q, want %q", limit, squeeze(all.String()), squeeze(whole.Plain))
		}
	}
	return nil
}

// squeeze leaves out what shows nothing: a piece that has nothing else is left out too.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if blank(string(r)) {
			return -1
		}
		return r
	}, s)
}

// wellFormed holds a text to what every messenger refuses otherwise.
func wellFormed(t Text) error {
	if !utf8.ValidString(t.Plain) {
		return fmt.Errorf("it is no valid UTF-8: %q", t.Plain)
	}
	if strings.TrimRight(t.Plain, " \t\n") != t.Plain {
		return fmt.Errorf("white space at the end of %q", t.Plain)
	}
	begins := map[int]bool{0: true} // at which units a character begins
	units := 0
	for _, r := range t.Plain {
		if begins[units] = true; r >= 0x10000 {
			units++
		}
		units++
	}
	begins[units] = true
	last := Entity{Length: 1 << 30}
	for _, e := range t.Entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > units {
			return fmt.Errorf("%+v lies outside of %d units", e, units)
		}
		if !begins[e.Offset] || !begins[e.Offset+e.Length] {
			return fmt.Errorf("%+v cuts a pair", e)
		}
		if e.Offset < last.Offset || e.Offset == last.Offset && e.Length > last.Length {
			return fmt.Errorf("%+v comes after %+v", e, last)
		}
		last = e
	}
	return nil
}

func FuzzRender(f *testing.F) {
	for _, doc := range corpus {
		if len(doc) < 500 {
			f.Add(doc)
		}
	}
	for _, token := range tokens {
		f.Add(token + "a" + token)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if err := holds(doc, nil); err != nil {
			t.Fatal(err)
		}
		whole := Render(doc)
		for _, form := range []string{whole.WhatsApp(), whole.Terminal(false)} {
			if strings.ContainsAny(form, "\x1b\u009b\u202e") {
				t.Errorf("an order to the terminal in %q", form)
			}
		}
		for _, limit := range []int{0, 1, 2} {
			if len(doc) > 1000 {
				break
			}
			if n := len(whole.Split(limit, 1)); n > len(whole.Plain) {
				t.Errorf("limit %d: %d pieces", limit, n)
			}
		}
		if again := Render(Escape(whole.Plain)); len(again.Entities) == 0 && squeeze(again.Plain) != squeeze(whole.Plain) {
			t.Errorf("%q is escaped to what shows %q", whole.Plain, again.Plain)
		} else if len(again.Entities) > 0 {
			t.Errorf("%q has styles after it was escaped: %v", whole.Plain, again.Entities)
		}
	})
}

// BenchmarkRender renders and cuts an answer of 4 KB.
func BenchmarkRender(b *testing.B) {
	part := "Some **bold** words, `code`, a [link](https://e.org/a) and a list:\n\n- one\n- two 😀\n\n> a quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfmt.Println(1)\n```\n\n"
	doc := strings.Repeat(part, 4096/len(part))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		Render(doc).Split(3896, 100)
	}
}

// BenchmarkRenderHostile renders what a parser of Markdown is slow with.
func BenchmarkRenderHostile(b *testing.B) {
	for name, part := range map[string]string{"brackets": "[", "images": "![", "stars": "*a ", "quotes": ">", "lists": "- ", "ticks": "`a``", "links": "[a](", "underscores": "_a_", "table": "|", "tilde": "~~a ", "html": "<a ", "at": " a@", "pluses": "+ ", "mixed": "> - ", "numbers": "1. "} {
		b.Run(name, func(b *testing.B) {
			doc := strings.Repeat(part, 32<<10/len(part))
			for b.Loop() {
				Render(doc).Split(3896, 100)
			}
		})
	}
}
