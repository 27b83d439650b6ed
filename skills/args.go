package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that tools use: one flat object of strings, integers and booleans. Small models and
// the model servers' own grammars handle no more.
type schema struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

func parseSchema(raw json.RawMessage) (schema, error) {
	var s schema
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("read its schema: %w", err)
	}
	if s.Type != "object" {
		return s, errors.New("its schema is no object")
	}
	for name, p := range s.Properties {
		if !slices.Contains([]string{"string", "integer", "boolean"}, p.Type) {
			return s, fmt.Errorf("its argument %s is of type %q: only string, integer and boolean are used", name, p.Type)
		}
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			return s, fmt.Errorf("it requires %s, which it does not describe", name)
		}
	}
	return s, nil
}

// Canonical checks a model's arguments against a tool's schema and gives them as JSON with sorted keys, so that the same
// arguments always have the same hash. What can be meant in one way only is mended (repair.go). Nothing is guessed: a wrong
// type, a missing or an unknown argument is an error that tells the model what was expected.
func Canonical(t Tool, raw json.RawMessage) (json.RawMessage, error) {
	s, err := parseSchema(t.Schema)
	if err != nil {
		return nil, err
	}
	raw = unwrapped(raw)
	if (len(raw) == 0 || string(raw) == "null") && len(s.Required) == 0 { // how some servers send no arguments
		raw = json.RawMessage("{}")
	}
	args, err := object(raw)
	if err != nil {
		if again, mends := object(withoutCommas(raw)); mends == nil {
			args, err = again, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s are %w; expected %s", t.Name, err, s.example())
	}
	for name, value := range args {
		p, ok := s.Properties[name]
		if !ok {
			return nil, fmt.Errorf("%s has no argument %q; expected %s", t.Name, name, s.example())
		}
		if value == nil && !slices.Contains(s.Required, name) {
			delete(args, name) // null for something optional is how some models leave it out
			continue
		}
		value = p.mended(value)
		args[name] = value
		if err := p.check(value); err != nil {
			return nil, fmt.Errorf("argument %s of %s %w", name, t.Name, err)
		}
	}
	for _, name := range s.Required {
		if value, ok := args[name]; !ok || value == "" {
			return nil, fmt.Errorf("%s needs the argument %s; expected %s", t.Name, name, s.example())
		}
	}
	return json.Marshal(args) // map keys come out sorted
}

// object reads exactly one JSON object with each key once.
func object(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	open, err := dec.Token()
	if err != nil {
		return nil, errors.New("not complete JSON")
	}
	if open != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	args := map[string]any{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, errors.New("not complete JSON")
		}
		name, _ := key.(string) // the decoder takes nothing but strings as keys
		if _, twice := args[name]; twice {
			return nil, fmt.Errorf("unclear: %q is there twice", name)
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, errors.New("not complete JSON")
		}
		args[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("not complete JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("followed by something that is no JSON")
	}
	return args, nil
}

func (p property) check(value any) error {
	switch v := value.(type) {
	case string:
		if p.Type != "string" {
			return fmt.Errorf("must be of type %s, not a text", p.Type)
		}
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, v) {
			return fmt.Errorf("must be one of %s", strings.Join(p.Enum, ", "))
		}
	case json.Number:
		if p.Type != "integer" {
			return fmt.Errorf("must be of type %s, not a number", p.Type)
		}
		if _, err := v.Int64(); err != nil {
			return errors.New("must be a whole number")
		}
	case bool:
		if p.Type != "boolean" {
			return fmt.Errorf("must be of type %s, not true or false", p.Type)
		}
	default:
		return fmt.Errorf("must be of type %s", p.Type)
	}
	return nil
}

// example shows a model what a call looks like.
func (s schema) example() string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	var parts []string
	for _, name := range names {
		optional := ""
		if !slices.Contains(s.Required, name) {
			optional = " (optional)"
		}
		parts = append(parts, fmt.Sprintf("%q: %s%s", name, s.Properties[name].Type, optional))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
