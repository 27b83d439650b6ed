package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// origin is where a value came from.
type origin struct {
	line     int
	variable string
}

// reader reads one layer, a file's nodes or a variable's, against the table. It collects what is wrong and goes on, so
// that everything is told at once.
type reader struct {
	in   surroundings
	file string
	env  map[string]string

	problems []Problem
	origins  map[string]origin // by path, of every key, entry and list element
	bad      map[string]bool   // paths that were complained about; what follows from them is not worth a line
	used     map[string]bool   // variables that ${NAME} took
	secrets  []string          // must not be shown in a problem
	plain    bool              // a secret is written out in the file

	variable string // the variable being read; empty while the file is
}

func newReader(file string, in surroundings, env map[string]string) *reader {
	return &reader{
		file: file, in: in, env: env,
		origins: map[string]origin{}, bad: map[string]bool{}, used: map[string]bool{},
	}
}

// report notes a problem with what stands at a path and line of the layer being read.
func (r *reader) report(line int, path, text, suggest string) {
	r.complain(origin{line: line, variable: r.variable}, path, text, suggest)
}

func (r *reader) complain(at origin, path, text, suggest string) {
	r.bad[path] = true
	p := Problem{Key: indexes.ReplaceAllString(path, ""), Text: text, Suggest: suggest, Line: at.line, File: r.file}
	if at.variable != "" {
		p.Variable, p.File, p.Line = at.variable, "", 0
	}
	r.problems = append(r.problems, p)
}

// indexes of list elements are dropped from what is shown: the line says which one it is.
var indexes = regexp.MustCompile(`\[[0-9]+\]`)

// origin is where a path was set, or where the nearest thing around it was.
func (r *reader) origin(path string) origin {
	for path != "" {
		if at, ok := r.origins[path]; ok {
			return at
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return origin{}
}

func (r *reader) isBad(path string) bool {
	for path != "" {
		if r.bad[path] {
			return true
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return false
}

func (r *reader) note(path string, line int) {
	r.origins[path] = origin{line: line, variable: r.variable}
}

// read turns a node into the value of a key. Without a value, or with one that was complained about, ok is false.
func (r *reader) read(f *field, n *node, path string) (v any, ok bool) {
	_, isPath := f.kind.(pathKind)
	if n.kind == nothing && (n.text == "" || !isPath) { // "~" means nothing, but a folder called ~ means home
		return nil, false // a key without a value is a key that is not there
	}
	switch f.shape {
	case one:
		return r.readOne(f, n, path)
	case many:
		return r.readMany(f, n, path)
	case table:
		return r.readTable(f, n, path)
	case rows:
		return r.readRows(f, n, path)
	case entries:
		return r.readEntries(f, n, path)
	default:
		return r.readSection(f, n, path)
	}
}

func (r *reader) readOne(f *field, n *node, path string) (any, bool) {
	switch {
	case n.kind == list && len(n.items) == 0, n.kind == mapping && len(n.pairs) == 0:
		return nil, false
	case n.kind == list:
		r.report(n.line, path, "takes one value, not a list: "+f.kind.wants(), "")
		return nil, false
	case n.kind == mapping:
		r.report(n.line, path, "takes one value, not keys below it: "+f.kind.wants(), "")
		return nil, false
	}
	text, ok := r.expand(n, path)
	if !ok {
		return nil, false
	}
	got, err := f.kind.read(value{text: text, shown: n.text}, r.in)
	if _, secret := f.kind.(secretKind); secret {
		r.secrets = append(r.secrets, text)
		r.plain = r.plain || r.variable == "" && text != "" && text == n.text
	}
	if _, link := f.kind.(linkKind); link {
		found := urlSecrets(text)
		r.secrets = append(r.secrets, found...)
		r.plain = r.plain || r.variable == "" && len(found) > 0 && text == n.text
	}
	if err != nil {
		var refused *refusal
		if !errors.As(err, &refused) {
			refused = &refusal{text: err.Error()}
		}
		r.report(n.line, path, refused.text, refused.suggest)
		return nil, false
	}
	return got, true
}

// expand replaces each ${NAME} by the variable's text. It works on the value, not on the file, so that a value cannot
// bring YAML with it. A dollar on its own stays.
func (r *reader) expand(n *node, path string) (string, bool) {
	if r.variable != "" {
		return n.text, true // the environment is not expanded once more
	}
	var out strings.Builder
	rest, ok := n.text, true
	for {
		before, after, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			return out.String(), ok
		}
		name, tail, closed := strings.Cut(after, "}")
		set, isSet := r.env[name]
		switch {
		case !closed:
			r.report(n.line, path, "has a ${ without a closing }", "")
			return "", false
		case name == "":
			r.report(n.line, path, "has an empty ${}; write the name of an environment variable in it", "")
			ok = false
		case !variableName.MatchString(name):
			r.report(n.line, path, fmt.Sprintf("has ${%s}, which is not a name; only ${NAME} is understood", name), "")
			ok = false
		case !isSet:
			r.report(n.line, path, fmt.Sprintf("takes its value from ${%s}, and the environment variable %s is not set", name, name), "")
			ok = false
		}
		r.used[name] = true
		out.WriteString(set)
		rest = tail
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (r *reader) readMany(f *field, n *node, path string) (any, bool) {
	items := []*node{n}
	if n.kind == list {
		items = n.items
	}
	// What is refused leaves a gap, so that the places of the others stay right; nothing is made of it in the end.
	out := make([]any, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.note(at, item.line)
		out[i] = ""
		switch item.kind {
		case nothing:
			r.report(item.line, at, "has an empty entry", "")
		case mapping, list:
			r.report(item.line, at, "takes "+f.holds(), "")
		default:
			if v, ok := r.readOne(f, item, at); ok {
				out[i] = v
			}
		}
	}
	return out, true
}

func (r *reader) readTable(f *field, n *node, path string) (any, bool) {
	if n.kind != mapping {
		r.report(n.line, path, "takes "+f.holds(), "")
		return nil, false
	}
	out := map[string]any{}
	for _, p := range n.pairs {
		at := path + "." + p.name
		if wrong := f.checkName(p.name); wrong != "" {
			r.report(p.line, path, fmt.Sprintf("%q %s", p.name, wrong), "")
			continue
		}
		r.note(at, p.line)
		if p.value.kind == nothing {
			r.report(p.line, at, "has no value; it takes "+f.kind.wants(), "")
			continue
		}
		if v, ok := r.readOne(f, p.value, at); ok {
			out[p.name] = v
		}
	}
	return out, true
}

func (r *reader) readSection(f *field, n *node, path string) (any, bool) {
	if n.kind == nothing {
		return nil, false
	}
	if n.kind != mapping {
		what, keys := "one value", "a section with keys below it: "+strings.Join(f.names(), ", ")
		if n.kind == list {
			what = "a list"
		}
		text := "is " + keys + "; it is not " + what
		if f == schema {
			text = "the file must have keys at its left edge: " + strings.Join(f.names(), ", ") + "; it is " + what
		}
		// What follows the colon may be a token, so it is not repeated.
		if name, _, ok := strings.Cut(n.text, ":"); ok && f.child(name) != nil {
			text = fmt.Sprintf(`has "%s:" without a space behind the colon; write "%s: …"`, name, name)
		}
		r.report(n.line, path, text, "")
		return nil, false
	}
	out := map[string]any{}
	for _, p := range n.pairs {
		at := strings.TrimPrefix(path+"."+p.name, ".")
		c := f.child(p.name)
		if c == nil {
			text, suggest := unknownKey(f, p, n)
			r.report(p.line, at, text, suggest)
			if suggest != "" {
				r.bad[strings.TrimPrefix(path+"."+suggest, ".")] = true
			}
			continue
		}
		r.note(at, p.line)
		if v, ok := r.read(c, p.value, at); ok {
			out[p.name] = v
		}
	}
	return out, true
}

func (r *reader) readRows(f *field, n *node, path string) (any, bool) {
	if n.kind != list {
		r.report(n.line, path, "is "+f.holds()+`; begin each entry with "- "`, "")
		return nil, false
	}
	out := make([]any, len(n.items)) // with gaps, as in readMany
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.note(at, item.line)
		row := map[string]any{}
		out[i] = row
		if item.kind != mapping {
			r.report(item.line, at, fmt.Sprintf(`has an entry that is not a section; begin it with "- %s: …"`, f.fields[0].name), "")
			continue
		}
		if read, ok := r.readSection(f, item, at); ok {
			row, _ = read.(map[string]any)
		}
		out[i] = row
		for _, c := range f.fields {
			if _, set := row[c.name]; !set && c.preset != "" {
				row[c.name], _ = r.preset(c)
			}
		}
	}
	return out, true
}

func (r *reader) readEntries(f *field, n *node, path string) (any, bool) {
	if n.kind != mapping {
		r.report(n.line, path, "takes "+f.holds(), "")
		return nil, false
	}
	out := map[string]any{}
	var empty *pair // the last entry with nothing below it
	for i, p := range n.pairs {
		at := path + "." + p.name
		wrong := f.checkName(p.name)
		switch {
		case f.child(p.name) != nil && p.value.kind != mapping && empty != nil:
			r.report(p.line, at, belongsTo(empty.name, empty.line), "")
			r.bad[path+"."+empty.name] = true
			continue
		case f.child(p.name) != nil && p.value.kind != mapping:
			r.report(p.line, at, `is a setting of one model; give the model a name, such as "home:", and indent its settings below that`, "")
			continue
		case wrong != "":
			r.report(p.line, path, fmt.Sprintf("%q %s", p.name, wrong), "")
			continue
		}
		r.note(at, p.line)
		if p.value.kind == nothing {
			empty, p.value = &n.pairs[i], &node{kind: mapping, line: p.line}
		}
		if v, ok := r.readSection(f, p.value, at); ok {
			out[p.name] = v
		}
	}
	return out, true
}

// preset reads the default of a key; ok is false when it has none, or one that cannot be had here, as without a home.
func (r *reader) preset(f *field) (v any, ok bool) {
	_, isPath := f.kind.(pathKind)
	if f.preset == "" || isPath && r.in.data == "" {
		return nil, false
	}
	quiet := newReader("", r.in, nil)
	n, err := parse([]byte(f.preset), func(*mistake) {})
	if err != nil {
		return nil, false
	}
	if isPath {
		n.text = strings.Replace(n.text, "~/.local/share", r.in.data, 1)
	}
	return quiet.read(f, n, f.path)
}

// presets is the layer of defaults below a section, with those of each named entry.
func (r *reader) presets(f *field, named map[string][]string) map[string]any {
	out := map[string]any{}
	for _, c := range f.fields {
		switch c.shape {
		case section:
			if below := r.presets(c, named); len(below) > 0 {
				out[c.name] = below
			}
		case entries:
			all := map[string]any{}
			for _, name := range named[c.path] {
				all[name] = r.presets(c, nil)
			}
			out[c.name] = all
		case rows:
		default:
			if v, ok := r.preset(c); ok {
				out[c.name] = v
			}
		}
	}
	return out
}

// builtInPermissions are the rules that hold while the file says nothing else.
func builtInPermissions() map[string]string {
	f := schema.child("skills").child("permissions")
	read, _ := newReader("", surroundings{}, nil).preset(f)
	rules, _ := read.(map[string]any)
	out := map[string]string{}
	for _, tool := range slices.Sorted(maps.Keys(rules)) {
		out[tool], _ = rules[tool].(string)
	}
	return out
}
