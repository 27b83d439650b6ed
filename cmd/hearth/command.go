package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// command is one thing that can be typed.
type command struct {
	name  string // "jobs add"
	args  string // what follows, as the help shows it
	about string
	flags []string // names in flagTable, besides those that every command takes
	min   int      // words after the name
	max   int      // -1 = any number
	text  bool     // takes free text: a word like -x is one, not a slip
	run   func(ctx context.Context, in *invocation) error
}

// words are the parts of the name.
func (c command) words() []string { return strings.Fields(c.name) }

// group is the first word.
func (c command) group() string { return c.words()[0] }

// flagInfo describes a flag.
type flagInfo struct {
	value string // what it takes, in capitals; "" = nothing
	about string
}

// flagTable are all flags. One that has a single letter is written with one dash, the others with two.
var flagTable = map[string]flagInfo{
	"config":       {"FILE", "the configuration; else $HEARTH_CONFIG, else $XDG_CONFIG_HOME/hearth/hearth.yaml"},
	"help":         {"", "this text"},
	"json":         {"", "the same as JSON, for scripts"},
	"all":          {"", "also what has ended"},
	"person":       {"NAME", "whose"},
	"as":           {"PERSON", "who is talking; the owner if nobody is named"},
	"run":          {"N", "of which run"},
	"m":            {"TEXT", "say one thing, print the answer, leave"},
	"n":            {"N", "how many"},
	"from":         {"INSTANT", "count from there (RFC 3339); now if not given"},
	"zone":         {"ZONE", "time zone, like Europe/Lisbon; the household's if not given"},
	"role":         {"owner|member", "what the new person may do"},
	"phone":        {"+NUMBER", "the number to link; then the code is one to type on the phone"},
	"accept-clock": {"", "the clock is right although it stands before what was seen earlier"},
}

// everyFlag is taken by every command.
var everyFlag = []string{"config", "help"}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// invocation is one command line, understood.
type invocation struct {
	*console
	command command
	words   []string // after the command's name
	flags   map[string]string
}

func (in *invocation) has(flag string) bool {
	_, ok := in.flags[flag]
	return ok
}

// number reads the i-th word as a row's number.
func (in *invocation) number(i int) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(in.words[i], "#"), 10, 64)
	if err != nil || n <= 0 {
		return 0, usage("%q is not a number: `hearth %s` shows them.", in.words[i], listingOf(in.command))
	}
	return n, nil
}

// listingOf names the command that lists what c works on.
func listingOf(c command) string {
	for _, other := range commands() {
		if other.name == c.group()+" list" {
			return other.name
		}
	}
	return c.name
}

// count reads a flag as a positive number; def when it is not given.
func (in *invocation) count(flag string, def int) (int, error) {
	if !in.has(flag) {
		return def, nil
	}
	n, err := strconv.Atoi(in.flags[flag])
	if err != nil || n < 1 {
		return 0, usage("%s takes a number from 1 on, not %q.", dashed(flag), in.flags[flag])
	}
	return n, nil
}

// dispatch finds the command and runs it.
func (c *console) dispatch(ctx context.Context, args []string) error {
	all := allFlags()
	words, flags, rest, err := parse(args, all, true)
	if err != nil {
		return err
	}
	words = append(words, rest...)
	if len(words) > 0 && words[0] == "help" {
		words, flags = words[1:], map[string]string{"help": ""}
	}
	_, help := flags["help"]
	if len(words) == 0 {
		if help {
			return c.print(helpText())
		}
		return usage("%s", strings.TrimSpace(helpText()))
	}
	found, used, err := find(words, help)
	if err != nil {
		return err
	}
	if help {
		return c.print(commandHelp(words[0]))
	}
	return c.invoke(ctx, found, used, args)
}

// invoke reads the command line once more, now that it is known which flags there may be. used are the words that name
// the command.
func (c *console) invoke(ctx context.Context, found command, used int, args []string) error {
	words, flags, rest, err := parse(args, append(slices.Clone(found.flags), everyFlag...), found.text)
	if err != nil {
		return err
	}
	words = append(words, rest...)[used:]
	if n := len(words); n < found.min || found.max >= 0 && n > found.max {
		return usage("This is `hearth %s`: %s, not %s.", strings.TrimSpace(found.name+" "+found.args), wordCount(found), quoted(words))
	}
	return found.run(ctx, &invocation{console: c, command: found, words: words, flags: flags})
}

func wordCount(c command) string {
	switch {
	case c.max == 0:
		return "nothing follows"
	case c.max == 1:
		return "one thing follows"
	case c.max > 0:
		return fmt.Sprintf("%d things follow", c.max) // no command takes fewer than its most
	case c.min == 1:
		return "something follows"
	}
	return fmt.Sprintf("at least %d things follow", c.min)
}

func quoted(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return "`" + strings.Join(words, " ") + "`"
}

// find gives the command that words begin with, and how many of them name it. Of a group alone the listing is meant, or
// the group's own command; helping accepts a group that has neither.
func find(words []string, helping bool) (found command, used int, err error) {
	var names []string
	grouped := false
	for _, c := range commands() {
		parts := c.words()
		if c.group() != words[0] {
			continue
		}
		grouped = true
		if len(parts) == 1 && len(found.name) == 0 || len(words) == 1 && len(parts) == 2 && parts[1] == "list" {
			found, used = c, 1
		}
		if len(parts) == 2 {
			names = append(names, parts[1])
			if len(words) > 1 && words[1] == parts[1] {
				return c, 2, nil
			}
		}
	}
	switch {
	case !grouped:
		return found, 0, usage("There is no command `hearth %s`%s; `hearth --help` shows what there is.", words[0], didYouMean(words[0], groups()))
	case used == 0 && !helping:
		what := fmt.Sprintf("there is no `hearth %s %s`%s", words[0], words[min(1, len(words)-1)], didYouMean(words[min(1, len(words)-1)], names))
		return found, 0, usage("%s; it takes one of: %s.", sentenceStart(what), strings.Join(names, ", "))
	}
	return found, used, nil
}

func sentenceStart(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// didYouMean names the nearest of what would be right, in brackets; "" when nothing is near.
func didYouMean(word string, names []string) string {
	if near := nearest(word, names); near != "" {
		return " (did you mean `" + near + "`?)"
	}
	return ""
}

// parse splits arguments into words and flags, which may stand anywhere. With free text a word that begins with a single
// dash and is no flag is text; "--" ends the flags, what follows is rest.
func parse(args, known []string, text bool) (words []string, flags map[string]string, rest []string, err error) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return words, flags, args[i+1:], nil
		case !strings.HasPrefix(arg, "-") || arg == "-":
			words = append(words, arg)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "h" {
			name = "help"
		}
		info, exists := flagTable[name]
		if !exists || !slices.Contains(known, name) {
			if text && !strings.HasPrefix(arg, "--") {
				words = append(words, arg)
				continue
			}
			return nil, nil, nil, usage("There is no flag %s here%s; text that begins with a dash goes behind a lone --.", arg, didYouMeanFlag(name, known))
		}
		switch {
		case info.value == "" && given:
			return nil, nil, nil, usage("%s takes no value.", dashed(name))
		case info.value != "" && !given:
			if i++; i == len(args) {
				return nil, nil, nil, usage("%s needs a value: %s %s.", dashed(name), dashed(name), info.value)
			}
			value = args[i]
		}
		flags[name] = value
	}
	return words, flags, nil, nil
}

func didYouMeanFlag(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return " (did you mean " + dashed(near) + "?)"
	}
	return ""
}

func allFlags() []string {
	var names []string
	for name := range flagTable {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *console) print(s string) error {
	_, err := io.WriteString(c.out, s)
	return err
}
