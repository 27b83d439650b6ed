package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// nodeKind is what a node is, before anything is known of its meaning.
type nodeKind uint8

const (
	nothing nodeKind = iota // a key without a value
	scalar
	list
	mapping
)

// node is a piece of YAML with the line it stands on. Scalars keep the text as it was written: what off, 010 or ~ mean
// is decided by the key they belong to.
type node struct {
	kind  nodeKind
	line  int
	text  string
	items []*node
	pairs []pair
}

type pair struct {
	name  string
	line  int
	value *node
}

// get finds the value of a key, nil when there is none.
func (n *node) get(name string) *pair {
	for i := range n.pairs {
		if n.pairs[i].name == name {
			return &n.pairs[i]
		}
	}
	return nil
}

// mistake is something wrong with the YAML itself.
type mistake struct {
	line int
	text string
}

func (m *mistake) Error() string { return fmt.Sprintf("line %d: %s", m.line, m.text) }

// maxFile bounds the time a hostile or mistaken file can take to parse; a household's settings need a tenth of it.
const maxFile = 64 << 10

// parse reads one YAML document. What cannot be read at all is the error, a *mistake; what is only refused (a key twice,
// an anchor nobody set) is told to also, and reading goes on.
func parse(text []byte, also func(*mistake)) (*node, error) {
	if len(text) > maxFile {
		return nil, &mistake{1, fmt.Sprintf("the file is larger than %d KB, which no settings need; is it the right file?", maxFile>>10)}
	}
	if at := invalidUTF8(text); at >= 0 {
		return nil, &mistake{1 + bytes.Count(text[:at], []byte("\n")), "is not UTF-8 text; save the file as UTF-8"}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	file, err := guarded(func() (*ast.File, error) { return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) })
	if err != nil {
		return nil, syntaxMistake(err, text)
	}
	c := converter{also: also, anchors: map[string]*node{}}
	root := &node{kind: nothing, line: 1}
	for i, doc := range file.Docs {
		if i > 0 && doc.Body != nil {
			also(&mistake{lineOf(doc.Body), "a second document begins here (---); put everything into one"})
			break
		}
		root = c.convert(doc.Body)
	}
	return root, nil
}

// guarded keeps a panic of the parser on odd text from ending a running daemon over an edit of its file.
func guarded(parse func() (*ast.File, error)) (file *ast.File, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("parse YAML: panic: %v", v)
		}
	}()
	return parse()
}

func invalidUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 || r == 0 {
			return at
		}
		at += size
	}
	return -1
}

// converter turns the parser's tree into nodes.
type converter struct {
	also    func(*mistake)
	anchors map[string]*node
}

func (c *converter) convert(n ast.Node) *node {
	out := &node{line: lineOf(n)}
	switch n := n.(type) {
	case nil:
		out.line = 1
	case *ast.NullNode:
		// "~" is kept: as a folder it is somebody's home.
		if out.text = n.Token.Value; out.text != "~" {
			out.text = ""
		}
	case *ast.LiteralNode:
		out.kind, out.text = scalar, n.Value.Value
	case *ast.StringNode:
		out.kind, out.text = scalar, n.Value
	case *ast.MappingValueNode:
		out.kind = mapping
		c.pairs(out, []*ast.MappingValueNode{n})
	case *ast.MappingNode:
		out.kind = mapping
		c.pairs(out, n.Values)
	case *ast.SequenceNode:
		out.kind = list
		for _, item := range n.Values {
			out.items = append(out.items, c.convert(item))
		}
	case *ast.AnchorNode:
		value := c.convert(n.Value)
		c.anchors[nameOf(n.Name)] = value // only now: an anchor inside itself stays unknown
		return value
	case *ast.AliasNode:
		if known, ok := c.anchors[nameOf(n.Value)]; ok {
			return known
		}
		c.also(&mistake{out.line, fmt.Sprintf("*%s refers to an anchor that is not set above; a value that begins with * needs quotes", nameOf(n.Value))})
	case *ast.TagNode:
		c.also(&mistake{out.line, fmt.Sprintf("the tag %s is not supported; a value that begins with ! needs quotes", n.Start.Value)})
		return c.convert(n.Value)
	default: // numbers, booleans, .inf: as they are written
		out.kind, out.text = scalar, n.GetToken().Value
	}
	return out
}

func (c *converter) pairs(out *node, values []*ast.MappingValueNode) {
	for i, v := range values {
		name, line := nameOf(v.Key), lineOf(v.Key)
		if i == 0 {
			out.line = line
		}
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			c.also(&mistake{line, "merge keys (<<) are not supported; write the keys out"})
			continue
		}
		if earlier := out.get(name); earlier != nil {
			c.also(&mistake{line, fmt.Sprintf("%s is set twice, first on line %d; keep one of them", name, earlier.line)})
			continue
		}
		out.pairs = append(out.pairs, pair{name: name, line: line, value: c.convert(v.Value)})
	}
}

func lineOf(n ast.Node) int {
	if n == nil {
		return 1
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

func nameOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.MappingKeyNode:
		return nameOf(n.Value)
	}
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

// syntaxMistake puts the parser's findings into words for people. The parser would show the line itself, which may hold
// a token, so only its position is used.
func syntaxMistake(err error, text []byte) *mistake {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) || syntax.Token == nil || syntax.Token.Position == nil {
		return &mistake{1, "cannot be read as YAML"}
	}
	at := syntax.Token.Position.Line
	line, next := lineAt(text, at), lineAt(text, at+1)
	if strings.Contains(syntax.Message, "mapping value is not allowed") && len(indentOf(next)) > len(indentOf(line)) && strings.Contains(next, ":") {
		return &mistake{at + 1, "is indented further than the line above, which has a value already; keys of one section have the same indentation"}
	}
	return &mistake{at, explain(syntax.Message, line)}
}

func lineAt(text []byte, number int) string {
	lines := strings.Split(string(text), "\n")
	if number < 1 || number > len(lines) {
		return ""
	}
	return lines[number-1]
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

func explain(message, line string) string {
	has := func(part string) bool { return strings.Contains(message, part) }
	switch {
	case strings.Contains(indentOf(line), "\t"):
		return "is indented with a tab; YAML takes spaces only"
	case strings.Contains(line, "${") && strings.Contains(line, "{") && !strings.Contains(line, `"${`) && !strings.Contains(line, `'${`):
		return `a value with ${NAME} needs quotes here: "${NAME}"`
	case strings.Contains(line, "*:"):
		return `* needs quotes: "*"`
	case has("reserved character"), has("unexpected directive"):
		return "a value that begins with @, ` or % needs quotes"
	case has("double-quoted"), has("single-quoted"):
		return "a quote is opened and never closed"
	case has("map key-value is pre-defined"):
		return "there is more after the closing quote; put the whole value in quotes, and write a quote inside it twice"
	case has("'}'"), has("flow map"):
		return "a comma or a closing } is missing, here or on a line before"
	case has("']'"), has("sequence element"):
		return "a comma or a closing ] is missing, here or on a line before"
	case has("non-map value"):
		return "has no colon; write key: value, with a space after the colon"
	case has("mapping value is not allowed"):
		return "has a second \": \" in it; a value with a colon and a space needs quotes"
	case has("value is not allowed in this context"):
		return "does not line up with the lines above; keys of one section have the same indentation"
	case has("escape"), has("UTF-"):
		return `a backslash inside double quotes has a meaning of its own; write \\, or use single quotes`
	}
	return "cannot be read as YAML; look at the indentation, colons and quotes here and on the line before"
}
