package main

import (
	"bytes"
	"encoding/json"
	"time"
)

// text is a word of a row. An absent one is null in JSON.
type text string

// MarshalJSON writes "" as null.
func (t text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return marshal(string(t))
}

// UnmarshalJSON reads null as "".
func (t *text) UnmarshalJSON(b []byte) error { return unmarshalOr(b, (*string)(t)) }

// number names another row. An absent one is null in JSON.
type number int64

// MarshalJSON writes 0 as null.
func (n number) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int64(n))
}

// UnmarshalJSON reads null as 0.
func (n *number) UnmarshalJSON(b []byte) error { return unmarshalOr(b, (*int64)(n)) }

// stamp is an instant of a row, in the row's zone. An absent one is null in JSON, others are RFC 3339 with the offset.
type stamp struct{ time.Time }

// at puts an instant into a zone; the zero time stays absent.
func at(zone *time.Location, t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	return stamp{t.In(zone)}
}

// MarshalJSON writes RFC 3339, or null.
func (s stamp) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(s.Format(time.RFC3339))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *stamp) UnmarshalJSON(b []byte) error { return unmarshalOr(b, &s.Time) }

// money is US dollars; nil is not known.
type money *float64

func dollars(usd float64, known bool) money {
	if !known {
		return nil
	}
	return &usd
}

// document is JSON that the vault holds as text: the arguments of a call. What is no JSON any more, because a person had
// it forgotten, is a string.
type document string

// MarshalJSON writes the JSON as it is.
func (d document) MarshalJSON() ([]byte, error) {
	if d == "" {
		return []byte("null"), nil
	}
	if json.Valid([]byte(d)) {
		return []byte(d), nil
	}
	return marshal(string(d))
}

// UnmarshalJSON keeps the JSON as it is.
func (d *document) UnmarshalJSON(b []byte) error {
	if string(b) != "null" {
		*d = document(b)
	}
	return nil
}

func unmarshalOr[T any](b []byte, to *T) error {
	if string(b) == "null" {
		return nil
	}
	return json.Unmarshal(b, to)
}

// marshal is json.Marshal without the escapes that are meant for web pages.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// rows makes sure that a listing without rows is [] and not null.
func rows[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
