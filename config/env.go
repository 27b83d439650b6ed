package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// prefix marks the variables that are ours; every other one is ignored, however much it looks like a section's name.
const prefix = "HEARTH_"

// PathVariable names the config file.
const PathVariable = "HEARTH_CONFIG"

// reserved variables are read elsewhere and set no key.
func reserved(name string) bool {
	return name == PathVariable || strings.HasPrefix(name, "HEARTH_TEST_") || strings.HasPrefix(name, "HEARTH_CRASH_")
}

// environment turns NAME=value pairs into a map. The first of a name counts, as for the C library and Go.
func environment(list []string) map[string]string {
	env := map[string]string{}
	for _, entry := range list {
		name, text, ok := strings.Cut(entry, "=")
		if _, dup := env[name]; ok && name != "" && !dup {
			env[name] = text
		}
	}
	return env
}

// overrides reads the layer of HEARTH_ variables. Two underscores step into a section; given is the file's layer, whose
// names of models the variables may address.
func (r *reader) overrides(given map[string]any) map[string]any {
	out := map[string]any{}
	setBy := map[string]string{}
	// Sections before what is in them, so that the narrower variable has the last word.
	names := slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(r.env))), func(a, b string) int {
		return strings.Count(a, "__") - strings.Count(b, "__")
	})
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) || reserved(name) {
			continue
		}
		r.variable = name
		f, path, wrong, suggest := locate(name, given)
		key := strings.Join(path, ".")
		switch {
		case f == nil && r.used[name]: // it is there for a ${NAME} of the file
			continue
		case f == nil:
			r.report(0, "", wrong, suggest)
			continue
		case setBy[key] != "":
			r.report(0, key, "is set by "+setBy[key]+" too; keep one of them", "")
			continue
		}
		setBy[key] = name
		for i := range path { // so that what is missing in a new section is laid at this door
			if around := strings.Join(path[:i], "."); r.origins[around] == (origin{}) && i > 0 {
				r.note(around, 0)
			}
		}
		if v, ok := r.override(f, key, r.env[name]); ok {
			put(out, path, v)
		}
	}
	r.variable = ""
	return out
}

// override reads the text of a variable. One value is taken as it is; lists and names with values are YAML.
func (r *reader) override(f *field, key, text string) (any, bool) {
	n := &node{kind: scalar, text: text}
	if f.shape != one {
		var err error
		n, err = parse([]byte(text), func(m *mistake) { r.report(0, key, m.text, "") })
		switch {
		case err != nil:
			r.report(0, key, "is not valid YAML; it takes "+f.holds(), "")
			return nil, false
		case n.kind == nothing && f.shape == many:
			n = &node{kind: list}
		case n.kind == nothing:
			r.report(0, key, "is empty; it is "+f.holds(), "")
			return nil, false
		case f.shape == section && n.kind == scalar:
			first := prefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__")) + "__" + strings.ToUpper(f.fields[0].name)
			r.report(0, key, "is a section and takes no value; set a key in it, such as "+first, "")
			return nil, false
		}
	}
	r.note(key, 0)
	return r.read(f, n, key)
}

func put(out map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		below, ok := out[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			out[name] = below
		}
		out = below
	}
	last := path[len(path)-1]
	if below, ok := out[last].(map[string]any); ok {
		if more, ok := v.(map[string]any); ok {
			maps.Copy(below, more)
			return
		}
	}
	out[last] = v
}

// locate finds the key that a variable addresses, and its path with the names as the file spells them. Without one it
// says what is wrong.
func locate(variable string, given map[string]any) (f *field, path []string, wrong, suggest string) {
	f = schema
	for _, part := range strings.Split(strings.ToLower(variable[len(prefix):]), "__") {
		var next *field
		name := part
		switch f.shape {
		case section:
			next = f.child(part)
		case entries:
			next = &field{key: key{shape: section, path: f.path + ".*"}, name: part, parent: f, fields: f.fields}
			found := sameName(part, dig(given, path))
			switch {
			case len(found) > 1:
				return nil, nil, "could mean " + strings.Join(found, " or ") + "; rename one of them", ""
			case len(found) == 1:
				name = found[0]
			}
			if part == "" || f.checkName(name) != "" {
				next = nil
			}
		case table:
			next = &field{key: key{shape: one, path: f.path, kind: f.kind}, name: part, parent: f}
			if f.checkName(part) != "" {
				next = nil
			}
		case rows, many:
			return nil, nil, fmt.Sprintf("addresses an entry of %s, which is a list; set the whole list with %s", display(f.path), variableFor(path)), ""
		case one:
		}
		if next == nil {
			return nil, nil, "matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key", nearVariable(variable, given)
		}
		f, path = next, append(path, name)
	}
	return f, path, "", ""
}

func dig(in map[string]any, path []string) map[string]any {
	for _, name := range path {
		in, _ = in[name].(map[string]any)
	}
	return in
}

var notInVariables = regexp.MustCompile(`[^a-z0-9]`)

// sameName finds the names that read the same in a variable, where there are no dots, dashes and small letters.
func sameName(part string, among map[string]any) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(among)) {
		if notInVariables.ReplaceAllString(strings.ToLower(name), "_") == notInVariables.ReplaceAllString(part, "_") {
			found = append(found, name)
		}
	}
	return found
}

func variableFor(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = notInVariables.ReplaceAllString(strings.ToLower(part), "_")
	}
	return prefix + strings.ToUpper(strings.Join(parts, "__"))
}

// nearVariable suggests the variable that was meant; a single underscore for two is the usual slip.
func nearVariable(variable string, given map[string]any) string {
	models, _ := dig(given, []string{"brain"})["models"].(map[string]any)
	single := func(name string) string { return strings.ReplaceAll(strings.ToUpper(name), "__", "_") }
	best, bestAt := "", likely(variable)+1
	schema.walk(func(f *field) {
		names := []string{f.path}
		if strings.Contains(f.path, ".*") {
			names = nil
			for _, model := range slices.Sorted(maps.Keys(models)) {
				names = append(names, strings.Replace(f.path, "*", notInVariables.ReplaceAllString(strings.ToLower(model), "_"), 1))
			}
		}
		for _, name := range names {
			if name == "" || strings.Contains(name, "[]") || f.shape == section {
				continue
			}
			candidate := variableFor(strings.Split(name, "."))
			if len(variable) > 2*maxWord {
				continue
			}
			if at := distance(single(variable), single(candidate)); at < bestAt {
				best, bestAt = candidate, at
			}
		}
	})
	return best
}
