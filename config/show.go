package config

import (
	"strconv"
	"strings"
)

// Show lists the effective settings, one a line, with every secret masked and where each was set.
func (c *Config) Show() string {
	var b strings.Builder
	r := NewRedactor(c)
	c.settings(func(s setting) {
		shown := s.shown
		if shown == "" {
			shown = `""`
		}
		line := s.path + ": " + shown
		switch at, set := c.source.origins[s.key]; {
		case set && at.variable != "":
			line += "  # " + at.variable
		case set:
			line += "  # line " + strconv.Itoa(at.line)
		}
		b.WriteString(r.Redact(line) + "\n")
	})
	return b.String()
}

// Diff lists what differs between two configurations, one sentence a key, with secrets masked; what a running program
// cannot take up says that it needs a restart.
func Diff(before, after *Config) []string {
	was, is := before.sides(), after.sides()
	told := map[string]bool{}
	var out []string
	r := NewRedactor(before, after)
	say := func(s setting, line string) {
		if s.field.restart {
			line += " (takes effect after a restart)"
		}
		out = append(out, r.Redact(line))
	}
	for _, s := range is.list {
		old, had := was.byPath[s.path]
		switch {
		case !was.wholes[s.whole]:
			if !told[s.whole] {
				say(s, s.whole+": added")
			}
			told[s.whole] = true
		case !had:
			say(s, s.path+": added, "+orNothing(s.shown))
		case old.raw != s.raw && old.shown == s.shown: // only what is secret differs
			say(s, s.path+": changed")
		case old.raw != s.raw:
			say(s, s.path+": "+orNothing(old.shown)+" → "+orNothing(s.shown))
		}
	}
	for _, s := range was.list {
		_, has := is.byPath[s.path]
		switch {
		case !is.wholes[s.whole]:
			if !told[s.whole] {
				say(s, s.whole+": removed")
			}
			told[s.whole] = true
		case !has:
			say(s, s.path+": removed")
		}
	}
	return out
}

// side is a configuration laid out for comparing.
type side struct {
	list   []setting
	byPath map[string]setting
	wholes map[string]bool
}

func (c *Config) sides() side {
	s := side{byPath: map[string]setting{}, wholes: map[string]bool{}}
	c.settings(func(one setting) {
		s.list = append(s.list, one)
		s.byPath[one.path] = one
		s.wholes[one.whole] = true
	})
	s.wholes[""] = true
	return s
}

func orNothing(shown string) string {
	if shown == "" {
		return "(nothing)"
	}
	return shown
}
