package markup

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown is CommonMark with tables, strike-through, task lists and bare addresses, whose underscores are no emphasis then.
// Left out are reference definitions, since "[note]: call" would vanish as one and nothing of an answer may, and underlined
// headings: a line of dashes is meant as a rule.
var markdown = sync.OnceValue(func() parser.Parser {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewHTMLBlockParser(), 900),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		)),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.NewLinkify(extension.WithLinkifyURLRegexp(bareAddress))),
	).Parser()
})

// bareAddress also takes hosts without a dot and numbers, which a home has.
var bareAddress = regexp.MustCompile("^(?:https?|ftp)://[^\\s<>*`]+")

// A parser of Markdown takes minutes for some texts that nobody writes and a model may be made to write. What is longer than
// this, begins so many blocks in one line or opens so many brackets is shown as it stands.
const (
	mostBytes    = 64 << 10
	mostBrackets = 1000
)

var tooDeep = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])[ \t])){50}`)

func hostile(src string) bool {
	return len(src) > mostBytes || strings.Count(src, "[") > mostBrackets || tooDeep.MatchString(src)
}

// Render reads Markdown (CommonMark with tables, strike-through and task lists). Every input has a reading, and no word of it
// is left out. The text is empty when a reader would see nothing.
func Render(src string) Text {
	src = clean(src)
	t := Text{Plain: src}
	if !hostile(src) {
		w := &writer{src: []byte(src), lineStart: true}
		w.blocks(markdown().Parse(source.NewReader(w.src), parser.WithContext(parser.NewContext())))
		t = Text{Plain: w.out.String(), Entities: w.entities}
	}
	if t = t.trim(); blank(t.Plain) {
		return Text{}
	}
	return t
}

// clean removes what messengers remove anyway, so that offsets stay right, and what drives a terminal.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e: // the second are overrides of the direction of reading
			return -1
		}
		return r
	}, s)
}

// blank reports whether a text shows nothing: messengers refuse it as empty.
func blank(s string) bool {
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Mn, r):
		case r == 0x115f, r == 0x1160, r == 0x2800, r == 0x3164, r == 0xffa0: // blank by their shape
		default:
			return false
		}
	}
	return true
}

// writer collects the plain text and its entities while the tree is walked.
type writer struct {
	out       strings.Builder
	units     int
	entities  []Entity
	src       []byte
	indent    string // of a list, written after each line break
	lineStart bool
	quotes    int
	open      map[string]bool // the styles that are open
}

func (w *writer) text(s string) {
	for part := range strings.SplitAfterSeq(s, "\n") {
		if part == "" {
			continue
		}
		if w.lineStart && w.indent != "" && part != "\n" {
			w.out.WriteString(w.indent)
			w.units += Units(w.indent)
		}
		w.out.WriteString(part)
		w.units += Units(part)
		w.lineStart = strings.HasSuffix(part, "\n")
	}
}

// span gives what inside writes a style. A style within the same style adds nothing.
func (w *writer) span(e Entity, inside func()) {
	if w.open[e.Type] {
		inside()
		return
	}
	if w.open == nil {
		w.open = map[string]bool{}
	}
	e.Offset = w.units
	at, from := len(w.entities), w.out.Len()
	w.open[e.Type] = true
	inside()
	w.open[e.Type] = false
	written := w.out.String()[from:]
	// The line breaks behind a block are none of its own.
	if e.Length = w.units - e.Offset - (len(written) - len(strings.TrimRight(written, "\n"))); e.Length > 0 {
		// Before what it holds: outer entities come first.
		w.entities = append(w.entities, Entity{})
		copy(w.entities[at+1:], w.entities[at:])
		w.entities[at] = e
	}
}

// breaks makes sure that n line breaks stand before the next block.
func (w *writer) breaks(n int) {
	if w.units == 0 {
		return
	}
	now := w.out.String() // no copy
	for have := len(now) - len(strings.TrimRight(now, "\n")); have < n; have++ {
		w.text("\n")
	}
}

func (w *writer) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.src))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (w *writer) blocks(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.block(c)
	}
}

func (w *writer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.breaks(2)
		w.span(Entity{Type: Bold}, func() { w.inlines(n) })
		w.breaks(1)
	case *ast.Paragraph:
		w.breaks(2)
		w.inlines(n)
	case *ast.TextBlock:
		w.inlines(n)
	case *ast.FencedCodeBlock:
		w.fenced(n)
	case *ast.CodeBlock:
		w.verbatim(w.lines(n), "")
	case *ast.Blockquote:
		w.quote(n)
	case *ast.List:
		w.list(n)
	case *ast.ThematicBreak:
		w.breaks(1)
		w.text("———")
		w.breaks(1)
	case *ast.HTMLBlock: // shown as it is: a messenger has no HTML, and hiding it would hide words
		w.breaks(1)
		w.text(w.lines(n))
		if n.HasClosure() {
			w.breaks(1)
			w.text(strings.TrimRight(string(n.ClosureLine.Value(w.src)), "\n"))
		}
		w.breaks(1)
	case *table.Table:
		w.verbatim(w.table(n), "")
	default:
		w.blocks(n)
	}
}

// language is what may stand behind an opening fence as the name of a programming language; 64 bytes at most.
var language = regexp.MustCompile(`^[\pL\pN+#._-]+$`)

// fenced shows a code block. What stands behind the fence and is no language is shown too: models write code there, and
// forget the end of a fence.
func (w *writer) fenced(n *ast.FencedCodeBlock) {
	code, name, rest := w.lines(n), "", ""
	if n.Info != nil {
		name, rest, _ = strings.Cut(strings.TrimSpace(unescape(string(n.Info.Segment.Value(w.src)), false)), " ")
	}
	if len(name) > 64 || !language.MatchString(name) || blank(code) {
		name, rest = "", strings.TrimSpace(name+" "+rest)
	}
	if rest != "" {
		code = strings.TrimRight(rest+"\n"+code, "\n")
	}
	w.verbatim(code, name)
}

func (w *writer) verbatim(s, language string) {
	w.breaks(1)
	if s == "" {
		return
	}
	indent := w.indent
	w.indent = ""
	w.span(Entity{Type: Pre, Language: language}, func() { w.text(s) })
	w.indent = indent
	w.breaks(1)
}

func (w *writer) quote(n *ast.Blockquote) {
	w.breaks(2)
	w.quotes++
	if w.quotes == 1 { // messengers know one level
		w.span(Entity{Type: Quote}, func() { w.blocks(n) })
	} else {
		w.blocks(n)
	}
	w.quotes--
}

// A list is moved in by this much for each level; further levels stay where the last one is, for a phone is narrow.
const (
	listIndent = "   "
	deepest    = 5 * len(listIndent)
)

func (w *writer) list(n *ast.List) {
	if w.indent == "" {
		w.breaks(2)
	}
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		w.breaks(1)
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, n.Marker)
			number++
		}
		w.text(mark)
		indent := w.indent
		if len(w.indent) < deepest {
			w.indent += listIndent
		}
		for c := item.FirstChild(); c != nil; c = c.NextSibling() {
			if c != item.FirstChild() {
				w.breaks(1)
			}
			switch c.(type) {
			case *ast.Paragraph, *ast.TextBlock:
				w.inlines(c)
			default:
				w.block(c)
			}
		}
		w.indent = indent
	}
	w.breaks(1)
}

// table lays the cells out in columns, by their width on a screen.
func (w *writer) table(n *table.Table) string {
	var rows [][]string
	var widths []int
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cell := w.cell(c)
			if c.NextSibling() == nil {
				cell = strings.TrimSpace(cell + " " + w.excess(c))
			}
			if row = append(row, cell); len(row) > len(widths) {
				widths = append(widths, 0)
			}
			widths[len(row)-1] = max(widths[len(row)-1], uniseg.StringWidth(cell))
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for i, row := range rows {
		for j, cell := range row {
			row[j] = cell + strings.Repeat(" ", widths[j]-uniseg.StringWidth(cell))
		}
		b.WriteString(strings.TrimRight(strings.Join(row, " | "), " ") + "\n")
		if i == 0 {
			var rule []string
			for _, n := range widths {
				rule = append(rule, strings.Repeat("-", n))
			}
			b.WriteString(strings.Join(rule, "-+-") + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// cell gives the words of a table's cell in one line, with the addresses that no link can hold there.
func (w *writer) cell(n ast.Node) string {
	in := &writer{src: w.src}
	in.inlines(n)
	t := Text{Plain: in.out.String(), Entities: in.entities}
	return strings.Join(strings.Fields(t.marked(nil, "")), " ")
}

// excess gives what a row has beyond its last column, which the parser leaves out.
func (w *writer) excess(last ast.Node) string {
	if last.Lines().Len() == 0 {
		return ""
	}
	rest, _, _ := strings.Cut(string(w.src[last.Lines().At(0).Stop:]), "\n")
	inside, closed := strings.CutSuffix(strings.TrimSpace(rest), "|")
	if closed && strings.TrimSpace(inside) == "" {
		return ""
	}
	return strings.Join(strings.Fields(inside), " ")
}

// raw gives the letters of a code span.
func (w *writer) raw(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(w.src))
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(w.raw(c))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}
