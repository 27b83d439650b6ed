package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Setting is a value for one key of the file.
type Setting struct {
	Key   []string // the names that lead to it: brain, models, home, url
	Value string   // one line; ${NAME} is taken from the environment when the file is read
}

// ErrNoEdit says that a file is written in a way that Edit does not dare to change: a value over several lines, an anchor,
// a mistake.
var ErrNoEdit = errors.New("the file is written in a way that cannot be changed safely")

// Edit gives a file's text with some keys set. Everything else stays as it was written, down to the spaces: comments, the
// order, keys that this program does not know. A key that was not there comes with the comment that the example file has
// for it. The result was read again and compared before it is given. Errors: ErrNoEdit, then nothing was done.
func Edit(text []byte, settings ...Setting) ([]byte, error) {
	bom := strings.HasPrefix(string(text), "\ufeff")
	out := strings.TrimPrefix(string(text), "\ufeff")
	// New keys of a section come at its top, where a section surely is; so they are put in from the last to the first.
	var sections []string
	for _, s := range settings {
		if !slices.Contains(sections, s.Key[0]) {
			sections = append(sections, s.Key[0])
		}
	}
	slices.SortStableFunc(sections, func(a, b string) int { // as in the example file
		return cmp.Compare(slices.Index(schema.names(), a), slices.Index(schema.names(), b))
	})
	for _, section := range sections {
		for _, s := range slices.Backward(settings) {
			if s.Key[0] != section {
				continue
			}
			var err error
			if out, err = editOne(out, s); err != nil {
				return nil, err
			}
		}
	}
	if bom {
		out = "\ufeff" + out
	}
	return []byte(out), nil
}

// editOne sets one key, and makes sure that it did that and nothing else.
func editOne(text string, s Setting) (string, error) {
	before, err := tree(text)
	if err != nil {
		return "", err
	}
	file, err := guarded(func() (*ast.File, error) { return parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey()) })
	if err != nil {
		return "", ErrNoEdit
	}
	e := &editing{lines: strings.SplitAfter(text, "\n"), end: "\n"}
	if strings.Contains(text, "\r\n") {
		e.end = "\r\n"
	}
	value, err := written(s.Value)
	if err != nil {
		return "", err
	}
	var body ast.Node
	if len(file.Docs) > 0 {
		body = file.Docs[0].Body
	}
	if err := e.put(body, s.Key, value); err != nil {
		return "", err
	}
	out := strings.Join(e.lines, "")
	after, err := tree(out)
	if err != nil {
		return "", err
	}
	if !sameTree(withValue(before, s.Key, s.Value), after) {
		return "", ErrNoEdit
	}
	return out, nil
}

// tree reads a text that has no mistakes.
func tree(text string) (*node, error) {
	var wrong error
	root, err := parse([]byte(text), func(*mistake) { wrong = ErrNoEdit })
	if err != nil {
		return nil, ErrNoEdit
	}
	return root, wrong
}

// withValue is a tree in which a key has a value.
func withValue(n *node, key []string, value string) *node {
	if len(key) == 0 {
		return &node{kind: scalar, text: value}
	}
	out := &node{kind: mapping, text: n.text, items: n.items}
	found := false
	for _, p := range n.pairs {
		if p.name == key[0] {
			p.value, found = withValue(p.value, key[1:], value), true
		}
		out.pairs = append(out.pairs, p)
	}
	if !found {
		out.pairs = append(out.pairs, pair{name: key[0], value: withValue(&node{}, key[1:], value)})
	}
	return out
}

// sameTree compares what two texts mean, wherever it stands in them.
func sameTree(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.items) != len(b.items) || len(a.pairs) != len(b.pairs) {
		return false
	}
	for i := range a.items {
		if !sameTree(a.items[i], b.items[i]) {
			return false
		}
	}
	for _, p := range a.pairs {
		if q := b.get(p.name); q == nil || !sameTree(p.value, q.value) {
			return false
		}
	}
	return true
}

// editing is a text on its way to another one.
type editing struct {
	lines []string // with their ends
	end   string   // of a new line
}

// put walks down the key as far as the text has it, and writes the rest.
func (e *editing) put(n ast.Node, key []string, value string) error {
	if n == nil || n.Type() == ast.NullType {
		e.appendBlock(e.block(nil, key, "", value))
		return nil
	}
	var around *ast.MappingValueNode // the key whose section n is
	inFlow := false
	for i, name := range key {
		values, flow, ok := pairsOf(n)
		if !ok {
			return ErrNoEdit
		}
		inFlow = inFlow || flow != nil
		at := slices.IndexFunc(values, func(v *ast.MappingValueNode) bool { return nameOf(v.Key) == name })
		switch {
		case at < 0 && flow != nil:
			return e.insertFlow(flow, len(values) > 0, key[i:], value)
		case at < 0 && around == nil:
			e.appendBlock(e.block(nil, key, "", value))
			return nil
		case at < 0:
			indent := strings.Repeat(" ", values[0].Key.GetToken().Position.Column-1)
			return e.insertLines(around.Key.GetToken().Position.Line, e.block(key[:i], key[i:], indent, value))
		}
		v := values[at]
		empty := v.Value == nil || v.Value.GetToken().Type == token.ImplicitNullType
		switch {
		case i == len(key)-1 && empty:
			return e.insertAt(v.Start.Position.Line, v.Start.Position.Column, " "+value)
		case i == len(key)-1:
			return e.replace(v.Value, value, inFlow)
		case empty && inFlow:
			return ErrNoEdit
		case empty:
			indent := strings.Repeat(" ", v.Key.GetToken().Position.Column+1)
			return e.insertLines(v.Key.GetToken().Position.Line, e.block(key[:i+1], key[i+1:], indent, value))
		}
		around, n = v, v.Value
	}
	return ErrNoEdit
}

// pairsOf gives the keys of a section; flow is set when it is written in braces.
func pairsOf(n ast.Node) (values []*ast.MappingValueNode, flow *ast.MappingNode, ok bool) {
	switch n := n.(type) {
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil, true
	case *ast.MappingNode:
		if n.IsFlowStyle {
			flow = n
		}
		return n.Values, flow, flow != nil || len(n.Values) > 0
	}
	return nil, nil, false
}

// block writes new keys as lines, each with its comment. above are the names that lead to them.
func (e *editing) block(above, key []string, indent, value string) []string {
	var w example
	for i, name := range key {
		if f := fieldAt(append(slices.Clone(above), key[:i+1]...)); f != nil {
			w.comment(f.doc, indent)
		}
		rest := ""
		if i == len(key)-1 {
			rest = " " + value
		}
		w.line(yamlName(name)+":"+rest, indent, false)
		indent += "  "
	}
	lines := strings.SplitAfter(w.text.String(), "\n")
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\n") + e.end
	}
	return lines
}

// fieldAt finds the row of the table for a path; nil for a name of one's own, and for what is none.
func fieldAt(path []string) *field {
	f := schema
	for i := 0; i < len(path); i++ {
		if f.shape == entries {
			if i++; i == len(path) {
				return nil
			}
		}
		if f = f.child(path[i]); f == nil {
			return nil
		}
	}
	return f
}

func (e *editing) appendBlock(lines []string) {
	if last := len(e.lines) - 1; e.lines[last] != "" {
		e.lines[last] += e.end
	} else {
		e.lines = e.lines[:last]
	}
	if len(e.lines) > 0 {
		e.lines = append(e.lines, e.end)
	}
	e.lines = append(e.lines, lines...)
}

// insertLines puts lines behind a line.
func (e *editing) insertLines(after int, lines []string) error {
	if after < 1 || after > len(e.lines) {
		return ErrNoEdit
	}
	if last := e.lines[after-1]; !strings.HasSuffix(last, "\n") {
		e.lines[after-1] = last + e.end
	}
	e.lines = slices.Insert(e.lines, after, lines...)
	return nil
}

// insertAt puts words behind a column.
func (e *editing) insertAt(line, column int, words string) error {
	return e.swap(line, column, column, words)
}

// swap replaces what stands on a line between two columns, the first not included.
func (e *editing) swap(line, from, to int, words string) error {
	if line < 1 || line > len(e.lines) {
		return ErrNoEdit
	}
	runes := []rune(e.lines[line-1])
	if from < 0 || to < from || to > len(runes) {
		return ErrNoEdit
	}
	e.lines[line-1] = string(runes[:from]) + words + string(runes[to:])
	return nil
}

// insertFlow puts a key behind an opening brace.
func (e *editing) insertFlow(in *ast.MappingNode, more bool, key []string, value string) error {
	words := value
	for i, name := range slices.Backward(key) {
		if words = yamlName(name) + ": " + words; i > 0 {
			words = "{" + words + "}"
		}
	}
	if more {
		words += ", "
	}
	return e.insertAt(in.Start.Position.Line, in.Start.Position.Column, words)
}

// replace writes another value in the place of one that stands on one line.
func (e *editing) replace(old ast.Node, value string, inFlow bool) error {
	switch old.Type() {
	case ast.StringType, ast.IntegerType, ast.FloatType, ast.BoolType, ast.NullType:
	default:
		return ErrNoEdit
	}
	at := old.GetToken().Position
	if at.Line < 1 || at.Line > len(e.lines) {
		return ErrNoEdit
	}
	from := at.Column - 1
	to := scalarEnd([]rune(strings.TrimRight(e.lines[at.Line-1], "\r\n")), from, inFlow)
	return e.swap(at.Line, from, to, value)
}

// scalarEnd finds where the value that begins at a column ends; -1 when it does not on this line.
func scalarEnd(line []rune, from int, inFlow bool) int {
	if from < 0 || from >= len(line) {
		return -1
	}
	quote := line[from]
	if quote != '"' && quote != '\'' {
		end := from
		for i := from; i < len(line); i++ {
			if line[i] == '#' && i > from && unicode.IsSpace(line[i-1]) || inFlow && strings.ContainsRune(",}]", line[i]) {
				break
			}
			if !unicode.IsSpace(line[i]) {
				end = i + 1
			}
		}
		return end
	}
	for i := from + 1; i < len(line); i++ {
		switch {
		case quote == '"' && line[i] == '\\':
			i++
		case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return i + 1
		}
	}
	return -1
}

var (
	plainValue = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./+-]*$|^https?://[A-Za-z0-9_./:-]*[A-Za-z0-9_/]$|^[1-9][0-9]{0,9}$`)
	plainName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	otherWords = []string{"yes", "no", "on", "off", "true", "false", "null", "y", "n"} // which some readers take for something else
)

// written is a value as YAML, in quotes where it needs them.
func written(value string) (string, error) {
	if plainValue.MatchString(value) && !slices.Contains(otherWords, strings.ToLower(value)) {
		return value, nil
	}
	if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		return "", fmt.Errorf("write a value: %w", ErrNoEdit)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`, nil
}

func yamlName(name string) string {
	if plainName.MatchString(name) && !slices.Contains(otherWords, strings.ToLower(name)) {
		return name
	}
	quoted, err := written(name)
	if err != nil {
		return name // it will not be read back as it was meant, and so be refused
	}
	return quoted
}
