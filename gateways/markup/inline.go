package markup

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
)

func (w *writer) inlines(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.inline(c)
	}
}

func (w *writer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(unescape(string(n.Segment.Value(w.src)), n.IsRaw()))
		if n.HardLineBreak() || n.SoftLineBreak() { // in a chat a line break is meant
			w.text("\n")
		}
	case *ast.String:
		w.text(string(n.Value))
	case *ast.CodeSpan:
		w.span(Entity{Type: Code}, func() { w.text(w.raw(n)) })
	case *ast.Emphasis:
		style := Italic
		if n.Level == 2 {
			style = Bold
		}
		w.span(Entity{Type: style}, func() { w.inlines(n) })
	case *table.Strikethrough:
		w.span(Entity{Type: Strike}, func() { w.inlines(n) })
	case *table.TaskCheckBox:
		if n.IsChecked {
			w.text("☑ ")
		} else {
			w.text("☐ ")
		}
	case *ast.Link:
		w.link(string(n.Destination), func() { w.inlines(n) })
	case *ast.Image:
		w.link(string(n.Destination), func() {
			w.text("🖼 ")
			w.inlines(n)
		})
	case *ast.AutoLink:
		w.text(string(n.Label(w.src)))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			piece := n.Segments.At(i)
			w.text(string(piece.Value(w.src)))
		}
	default:
		w.inlines(n)
	}
}

// link makes a link only of an address that opens a page or a mail; of any other the words and the address are shown.
func (w *writer) link(to string, words func()) {
	to = unescape(to, false)
	opens := linkable(to)
	from := w.out.Len()
	if opens {
		w.span(Entity{Type: Link, URL: to}, words)
	} else {
		words()
	}
	switch {
	case to == "":
	case blank(w.out.String()[from:]):
		w.text(to)
	case !opens:
		w.text(" (" + to + ")")
	}
}

func linkable(to string) bool {
	u, err := url.Parse(to)
	if err != nil || strings.ContainsFunc(to, unicode.IsSpace) {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "tg":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

const escapable = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// reference is a character reference. html.UnescapeString alone would also take "&copy" in an address for one.
var reference = regexp.MustCompile(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)

// unescape resolves backslash escapes and character references as CommonMark does.
// Source: https://spec.commonmark.org/0.31.2/#backslash-escapes.
func unescape(s string, raw bool) string {
	if raw || !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(escapable, s[i+1]) >= 0 {
			i++
			if s[i] == '&' {
				b.WriteString("&amp;") // an escaped & begins no reference
				continue
			}
		}
		b.WriteByte(s[i])
	}
	// A reference may stand for a control character, which no messenger keeps.
	return clean(reference.ReplaceAllStringFunc(b.String(), html.UnescapeString))
}
