package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The table and the struct name the same keys, in shapes that fit.
func TestTableAndStructAgree(t *testing.T) {
	t.Parallel()
	var inStruct []string
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		for i := range typ.NumField() {
			field := typ.Field(i)
			name := field.Tag.Get("koanf")
			if !field.IsExported() {
				continue
			}
			if name == "" {
				t.Errorf("%s.%s has no key", typ, field.Name)
				continue
			}
			if plain(strings.ReplaceAll(name, "_", "")) != strings.ToLower(field.Name) {
				t.Errorf("%s.%s does not mirror its key %s", typ, field.Name, name)
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			inStruct = append(inStruct, at)
			below := field.Type
			if below.Kind() == reflect.Pointer {
				below = below.Elem()
			}
			leaf := below == reflect.TypeFor[Secret]() || below == reflect.TypeFor[URL]() || below == reflect.TypeFor[Hours]()
			switch {
			case leaf:
			case below.Kind() == reflect.Struct:
				walk(below, at)
			case below.Kind() == reflect.Slice && below.Elem().Kind() == reflect.Struct:
				walk(below.Elem(), at+"[]")
			case below.Kind() == reflect.Map && below.Elem().Kind() == reflect.Struct:
				walk(below.Elem(), at+".*")
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
	var inTable []string
	for _, k := range keys {
		inTable = append(inTable, k.path)
	}
	slices.Sort(inStruct)
	slices.Sort(inTable)
	if !slices.Equal(inStruct, inTable) {
		t.Errorf("the struct has\n%s\nthe table has\n%s", strings.Join(inStruct, "\n"), strings.Join(inTable, "\n"))
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	t.Parallel()
	schema.walk(func(f *field) {
		if f == schema {
			return
		}
		if f.doc == "" || !strings.ContainsAny(f.doc[len(f.doc)-1:], ".?") {
			t.Errorf("%s: the comment %q is no sentence", f.path, f.doc)
		}
		if (f.shape == section || f.shape == rows || f.shape == entries) != (len(f.fields) > 0) {
			t.Errorf("%s: its shape and its keys do not fit", f.path)
		}
		if (f.shape == one || f.shape == many || f.shape == table) != (f.kind != nil) {
			t.Errorf("%s: its shape and its kind do not fit", f.path)
		}
		if f.preset != "" {
			r := newReader("", surroundings{home: "/h", data: "/d"}, nil)
			if _, ok := r.preset(f); !ok {
				t.Errorf("%s: the default %s cannot be read", f.path, f.preset)
			}
		}
		if len(f.fields) == 0 && exampleOf(f) == "" {
			t.Errorf("%s: there is nothing to show in the example", f.path)
		}
		for _, other := range f.also {
			if f.parent.child(other) != nil {
				t.Errorf("%s: %s, which people try for it, is a key itself", f.path, other)
			}
		}
	})
	if len(growSchema(keys).fields) != 8 {
		t.Errorf("the file has %v at its left edge", schema.names())
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"model", "model", 0}, {"modle", "model", 1}, {"model", "models", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"brian", "brain", 1}, {"ü", "u", 1},
	} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("from %q to %q it is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// Every key is said to stand on the line it stands on.
func TestCFG01LinesAreRight(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"example": string(off.ReplaceAll(Example(), []byte("$1"))), "contract": strings.TrimSuffix(contract, "\n")} {
		if name == "contract" {
			text = strings.Replace(text, "vault:   ", "  - name: Guest\nvault:   ", 1)
		}
		c := load(t, text, contractEnv...)
		lines := strings.Split(text, "\n")
		for path, at := range c.source.origins {
			word := strings.TrimSuffix(path[strings.LastIndexAny(path, ".]")+1:], "*")
			if at.line < 1 || at.line > len(lines) || !strings.Contains(lines[at.line-1], word) {
				t.Errorf("%s: %s is said to be on line %d", name, path, at.line)
			}
		}
		if len(c.source.origins) < 50 {
			t.Errorf("%s: only %d keys are known", name, len(c.source.origins))
		}
	}
}
