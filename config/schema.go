package config

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// field is a row of the table with its place in the tree.
type field struct {
	key
	name   string // the last part of the path
	parent *field
	fields []*field
}

// schema is the table as a tree. It is only read.
var schema = growSchema(keys)

func growSchema(keys []key) *field {
	root := &field{key: key{shape: section}}
	byPath := map[string]*field{"": root}
	for _, k := range keys {
		parent, name := "", k.path
		if cut := strings.LastIndexByte(k.path, '.'); cut >= 0 {
			parent, name = k.path[:cut], k.path[cut+1:]
			parent = strings.TrimSuffix(strings.TrimSuffix(parent, "[]"), ".*")
		}
		f := &field{key: k, name: name, parent: byPath[parent]}
		f.parent.fields = append(f.parent.fields, f)
		byPath[k.path] = f
	}
	return root
}

// child finds a key of a section, nil when there is none.
func (f *field) child(name string) *field {
	for _, c := range f.fields {
		if c.name == name {
			return c
		}
	}
	return nil
}

// names lists the keys of a section.
func (f *field) names() []string {
	var names []string
	for _, c := range f.fields {
		names = append(names, c.name)
	}
	return names
}

// walk visits f and everything below it, in the order of the table.
func (f *field) walk(visit func(*field)) {
	visit(f)
	for _, c := range f.fields {
		c.walk(visit)
	}
}

// holds says in words what belongs under the key.
func (f *field) holds() string {
	switch f.shape {
	case many:
		return "a list of values, each " + f.kind.wants()
	case table:
		return "names, each with " + f.kind.wants()
	case section:
		return "a section with keys below it: " + strings.Join(f.names(), ", ")
	case rows:
		return "a list, each entry with keys: " + strings.Join(f.names(), ", ")
	case entries:
		return "names, each with keys below it: " + strings.Join(f.names(), ", ")
	default:
		return f.kind.wants()
	}
}

var (
	modelName = regexp.MustCompile(`^[\pL\pN][\pL\pN._:@+-]*$`) // and at most 64 letters, counted beside it
	toolName  = regexp.MustCompile(`^[A-Za-z0-9_.*?:-]{1,64}$`)
)

// checkName refuses a free name that cannot be meant; it returns a sentence, empty when the name will do.
func (f *field) checkName(name string) string {
	switch {
	case f.shape == table && !toolName.MatchString(name):
		return "is no tool name: use letters, digits, _ and -, with * and ? for any"
	case f.shape == entries && (!modelName.MatchString(name) || utf8.RuneCountInString(name) > 64):
		return "is no name for a model: use letters, digits, - and _, without spaces"
	}
	return ""
}

// matchTool reports whether a tool's name falls under a pattern with * and ?.
func matchTool(pattern, tool string) bool {
	ok, err := path.Match(pattern, tool)
	return ok && err == nil // a checked pattern has no brackets, so it is never malformed
}
