package tgfake

import (
	_ "embed" // spec.json
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

//go:embed spec.json
var specJSON []byte

// spec is the list of methods and types, written by testdata/spec.py. A field's kind is "type", with "!" behind it when it
// is required; "[]" is a list, "|" separates alternatives, a word in quotes stands for itself.
type spec struct {
	Methods map[string]map[string]string
	Types   map[string]json.RawMessage // an object of fields, or a string of alternatives

	fields  map[string]map[string]string
	aliases map[string]string
}

func readSpec(t testing.TB) *spec {
	t.Helper()
	s := &spec{fields: map[string]map[string]string{}, aliases: map[string]string{}}
	if err := json.Unmarshal(specJSON, s); err != nil {
		t.Fatal(err)
	}
	for name, raw := range s.Types {
		var fields map[string]string
		var alias string
		switch {
		case json.Unmarshal(raw, &fields) == nil:
			s.fields[name] = fields
		case json.Unmarshal(raw, &alias) == nil:
			s.aliases[name] = alias
		default:
			t.Fatalf("spec.json: type %s", name)
		}
	}
	return s
}

// method gives the spelling of a method's name in the list; Telegram does not look at the case.
func (s *spec) method(name string) (string, bool) {
	for known := range s.Methods {
		if strings.EqualFold(known, name) {
			return known, true
		}
	}
	return name, false
}

// request gives what is wrong with a request's parameters.
func (s *spec) request(method string, params map[string]string) []string {
	var out []string
	kinds := s.Methods[method]
	for _, name := range slices.Sorted(maps.Keys(params)) {
		kind, known := kinds[name]
		if !known {
			out = append(out, fmt.Sprintf("%s has no parameter %s", method, name))
			continue
		}
		out = append(out, s.param(kind, params[name], method+"."+name)...)
	}
	return append(out, missing(kinds, func(name string) bool { _, has := params[name]; return has }, method)...)
}

func missing(kinds map[string]string, has func(string) bool, where string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if strings.HasSuffix(kinds[name], "!") && !has(name) {
			out = append(out, fmt.Sprintf("%s needs %s", where, name))
		}
	}
	return out
}

// param checks a parameter, which is a string as it stands, or JSON.
func (s *spec) param(kind, value, where string) []string {
	kind = strings.TrimSuffix(kind, "!")
	var v any = value
	switch {
	case slices.Contains(strings.Split(kind, "|"), "string"):
		return nil
	case kind == "number":
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return []string{fmt.Sprintf("%s is no whole number: %.40q", where, value)}
		}
		return nil
	case kind == "boolean":
		if value != "true" && value != "false" {
			return []string{fmt.Sprintf("%s is no boolean: %.40q", where, value)}
		}
		return nil
	case strings.HasPrefix(s.aliases[kind], "'"), strings.HasPrefix(kind, "'"):
	default:
		d := json.NewDecoder(strings.NewReader(value))
		d.UseNumber()
		if err := d.Decode(&v); err != nil || v == nil {
			return []string{fmt.Sprintf("%s is no JSON of a %s: %.40q", where, kind, value)}
		}
	}
	return s.check(kind, v, where)
}

// check gives what is wrong with a value.
func (s *spec) check(kind string, v any, where string) []string {
	kind = strings.TrimSuffix(kind, "!")
	if inner, list := strings.CutSuffix(kind, "[]"); list {
		all, ok := v.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is no list", where)}
		}
		var out []string
		for i, one := range all {
			out = append(out, s.check(inner, one, fmt.Sprintf("%s[%d]", where, i))...)
		}
		return out
	}
	if alternatives := strings.Split(kind, "|"); len(alternatives) > 1 {
		var first []string
		for i, a := range alternatives {
			wrong := s.check(a, v, where)
			if len(wrong) == 0 {
				return nil
			}
			if i == 0 || len(wrong) < len(first) {
				first = wrong
			}
		}
		return first
	}
	return s.single(kind, v, where)
}

func (s *spec) single(kind string, v any, where string) []string {
	var ok bool
	switch {
	case kind == "number":
		var n json.Number
		n, ok = v.(json.Number)
		ok = ok && !strings.ContainsAny(n.String(), "eE")
	case kind == "string":
		_, ok = v.(string)
	case kind == "boolean":
		_, ok = v.(bool)
	case kind == "true":
		ok = v == true
	case strings.HasPrefix(kind, "'"):
		ok = v == strings.Trim(kind, "'")
	case s.aliases[kind] != "":
		return s.check(s.aliases[kind], v, where)
	case s.fields[kind] != nil:
		return s.object(kind, v, where)
	default: // a type that is not in the list
		ok = v != nil
	}
	if !ok {
		return []string{fmt.Sprintf("%s is no %s: %v", where, kind, v)}
	}
	return nil
}

func (s *spec) object(kind string, v any, where string) []string {
	o, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s is no object", where)}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		inner, known := s.fields[kind][name]
		if !known {
			out = append(out, fmt.Sprintf("%s: a %s has no %s", where, kind, name))
			continue
		}
		out = append(out, s.check(inner, o[name], where+"."+name)...)
	}
	return append(out, missing(s.fields[kind], func(name string) bool { _, has := o[name]; return has }, where)...)
}
