package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one effective value, for showing and comparing.
type setting struct {
	place
	field   *field
	shown   string // secrets masked
	raw     string // for comparing only
	secrets []string
}

// place is where in a Config a value stands.
type place struct {
	path  string // with the names of people and models
	key   string // with indexes, as in the origins
	whole string // the outermost entry, row or optional section around it: what comes and goes as one
}

func (p place) under(name string) place {
	p.path = strings.TrimPrefix(p.path+"."+name, ".")
	p.key = strings.TrimPrefix(p.key+"."+name, ".")
	return p
}

func (p place) asWhole() place {
	if p.whole == "" {
		p.whole = p.path
	}
	return p
}

// settings visits every effective value in the order of the table.
func (c *Config) settings(visit func(setting)) {
	visitValue(reflect.ValueOf(*c), schema, place{}, visit)
}

func visitValue(v reflect.Value, f *field, at place, visit func(setting)) {
	visitAll := func(v reflect.Value, at place) {
		for _, c := range f.fields {
			visitValue(member(v, c.name), c, at.under(c.name), visit)
		}
	}
	switch f.shape {
	case section:
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return
			}
			v, at = v.Elem(), at.asWhole()
		}
		visitAll(v, at)
	case rows:
		for i := range v.Len() {
			// A row is known by its first field, so that one put in before it makes no difference.
			row := at.under(v.Index(i).Field(0).String())
			if f.path != "people" { // one person may have several exceptions
				row.path += "#" + strconv.Itoa(i+1)
			}
			row.key = fmt.Sprintf("%s[%d]", at.key, i)
			visitAll(v.Index(i), row.asWhole())
		}
	case entries:
		for _, name := range sortedKeys(v) {
			visitAll(v.MapIndex(reflect.ValueOf(name)), at.under(name).asWhole())
		}
	case table:
		for _, name := range sortedKeys(v) {
			rule := &field{key: key{path: f.path, kind: f.kind, restart: f.restart}, name: name, parent: f}
			visitValue(v.MapIndex(reflect.ValueOf(name)), rule, at.under(name), visit)
		}
	default:
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return
			}
			v = v.Elem()
		}
		s := setting{place: at, field: f}
		s.shown, s.raw, s.secrets = showValue(v.Interface(), f)
		visit(s)
	}
}

// member finds a struct's field by the name it has in the file.
func member(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("koanf") == name {
			return v.Field(i)
		}
	}
	panic("config: no field for key " + name) // a test compares the table with the struct
}

func sortedKeys(v reflect.Value) []string {
	var names []string
	for _, name := range v.MapKeys() {
		names = append(names, name.String())
	}
	slices.Sort(names)
	return names
}

func showValue(v any, f *field) (shown, raw string, secrets []string) {
	switch v := v.(type) {
	case Secret:
		return v.String(), v.Reveal(), []string{v.Reveal()}
	case URL:
		return v.String(), v.Reveal(), urlSecrets(v.Reveal())
	case time.Duration:
		if d, ok := f.kind.(durationKind); ok && d.off && v == 0 {
			return "off", "off", nil
		}
		return spell(v), spell(v), nil
	case []string:
		text := "[" + strings.Join(v, ", ") + "]"
		return text, text, nil
	case string:
		if _, listen := f.kind.(listenKind); listen && v == "" {
			return "off", v, nil
		}
		if strings.ContainsAny(v, "\r\n") {
			return strconv.Quote(v), v, nil
		}
		return v, v, nil
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		return text, text, nil
	default:
		text := fmt.Sprint(v)
		return text, text, nil
	}
}
