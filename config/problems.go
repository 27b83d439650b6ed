package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with the settings.
type Problem struct {
	File     string
	Line     int    // 0: the file as a whole
	Variable string // the environment variable it stems from, instead of File and Line
	Key      string // empty when it is not about one
	Text     string // what is wrong and what would be right
	Suggest  string // what was probably meant, or empty
}

// String writes the problem as file:line: key: text (did you mean …?), or VARIABLE: key: text.
func (p Problem) String() string {
	var b strings.Builder
	switch {
	case p.Variable != "":
		b.WriteString(p.Variable)
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d", p.File, p.Line)
	default:
		b.WriteString(p.File)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Text)
	if p.Suggest != "" {
		b.WriteString(" (did you mean " + p.Suggest + "?)")
	}
	return b.String()
}

// Error is everything wrong with the settings, in the order of the file's lines, then by environment variable.
type Error struct{ Problems []Problem }

// Error lists the problems, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// newError sorts problems and drops repetitions, as an alias used twice makes them. No text shows a secret of r.
func newError(problems []Problem, r *Redactor) *Error {
	for i := range problems {
		p := &problems[i]
		p.Key, p.Text, p.Suggest = r.Redact(p.Key), r.Redact(p.Text), r.Redact(p.Suggest)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Variable, b.Variable), cmp.Compare(a.Line, b.Line))
	})
	seen := map[Problem]bool{}
	return &Error{Problems: slices.DeleteFunc(problems, func(p Problem) bool {
		again := seen[p]
		seen[p] = true
		return again
	})}
}
