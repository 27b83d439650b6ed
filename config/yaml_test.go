package config

import (
	"testing"

	"github.com/goccy/go-yaml/ast"
)

func TestAPanicOfTheParserIsAMistakeOfTheFile(t *testing.T) {
	t.Parallel()
	_, err := guarded(func() (*ast.File, error) { panic("odd text") })
	if err == nil {
		t.Fatal("a panic is no error")
	}
	if m := syntaxMistake(err, []byte("token: x\n")); m.line != 1 || m.text != "cannot be read as YAML" {
		t.Errorf("it is told as %v", m)
	}
}

// What is wrong with the YAML itself is told in words, with its line, and without showing the line, which may hold a token.
func TestYAMLThatCannotBeRead(t *testing.T) {
	t.Parallel()
	checkProblems(t, []mistaken{
		{`
log:
  level: info
  level: debug
`, []string{
			`3: level is set twice, first on line 2; keep one of them`,
		}},
		{`log: *x`, []string{
			`1: *x refers to an anchor that is not set above; a value that begins with * needs quotes`,
		}},
		{`log: !!map {level: info}`, []string{
			`1: the tag !!map is not supported; a value that begins with ! needs quotes`,
		}},
		{`
log:
  <<: {level: info}
`, []string{
			`2: merge keys (<<) are not supported; write the keys out`,
		}},
		{`
---
log: {level: info}
---
log: {level: debug}
`, []string{
			`4: a second document begins here (---); put everything into one`,
		}},
		{`hello`, []string{
			`1: the file must have keys at its left edge: timezone, people, vault, gateways, brain, skills, scheduler, log; it is one value`,
		}},
		{`- a`, []string{
			`1: the file must have keys at its left edge: timezone, people, vault, gateways, brain, skills, scheduler, log; it is a list`,
		}},
		{"a: 1\nb:\n\tc: 2\n", []string{
			`3: is indented with a tab; YAML takes spaces only`,
		}},
		{`log: {level: info`, []string{
			`1: a comma or a closing } is missing, here or on a line before`,
		}},
		{`skills: {permissions: {*: allow}}`, []string{
			`1: * needs quotes: "*"`,
		}},
		{`
skills:
  permissions:
    *: allow
`, []string{
			`3: * needs quotes: "*"`,
		}},
		{`
people:
  - name: @ana
`, []string{
			"2: a value that begins with @, ` or % needs quotes",
		}},
		{`gateways: {telegram: {token: ${X}}}`, []string{
			`1: a value with ${NAME} needs quotes here: "${NAME}"`,
		}},
		{`
log:
  level: info
 format: text
`, []string{
			`3: does not line up with the lines above; keys of one section have the same indentation`,
		}},
		{`
log:
  level: "info
`, []string{
			`2: a quote is opened and never closed`,
		}},
		{`
log:
  level: a: b
`, []string{
			`2: has a second ": " in it; a value with a colon and a space needs quotes`,
		}},
		{`
brain:
  persona: 'it's'
`, []string{
			`2: there is more after the closing quote; put the whole value in quotes, and write a quote inside it twice`,
		}},
		{`
brain:
  persona: "C:\Users"
`, []string{
			`2: a backslash inside double quotes has a meaning of its own; write \\, or use single quotes`,
		}},
		{`
log:
  level: info
    format: text
`, []string{
			`3: is indented further than the line above, which has a value already; keys of one section have the same indentation`,
		}},
		{"a: \xff\n", []string{
			`1: is not UTF-8 text; save the file as UTF-8`,
		}},
		{`
a: [1, 2
b: 3
`, []string{
			`2: a comma or a closing ] is missing, here or on a line before`,
		}},
	})
}
