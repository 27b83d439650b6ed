package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of docs/contract.md, the README and --help name the same commands.
func TestCommandsAreThoseOfTheContract(t *testing.T) {
	page, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## Command line")
	if !found {
		t.Fatal("docs/contract.md has no part about the command line")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	promised := map[string][]string{} // group: subcommands
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(row, `\|`, "\x00"), "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z]+)([^`]*)`").FindAllStringSubmatch(cells[1], -1) {
			promised[m[1]] = nil
			if list := regexp.MustCompile(`\[([a-z\x00 A-Z]+)\]`).FindStringSubmatch(m[2]); list != nil {
				for sub := range strings.SplitSeq(list[1], "\x00") {
					if word := strings.Fields(sub)[0]; word != strings.ToUpper(word) {
						promised[m[1]] = append(promised[m[1]], word)
					}
				}
			}
		}
	}
	if len(promised) < 15 {
		t.Fatalf("the table names only %d commands: is this the right table?", len(promised))
	}
	help := helpText()
	for group, subs := range promised {
		if !regexp.MustCompile(`\b` + group + `\b`).MatchString(help) {
			t.Errorf("--help does not name %s", group)
		}
		for _, sub := range subs {
			if !slices.ContainsFunc(commands(), func(c command) bool { return c.name == group+" "+sub }) {
				t.Errorf("there is no %s %s", group, sub)
			}
		}
	}
	for _, group := range groups() {
		if _, ok := promised[group]; !ok {
			t.Errorf("the contract does not name %s", group)
		}
	}
}

// Whatever the README shows to be typed can be typed.
func TestCommandsOfTheREADMEExist(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?m)(?:`|^\\s*\\$? ?(?:bin/|\\./)?)hearth ([a-z]+)(?: ([a-z]+))?").FindAllStringSubmatch(string(page), -1)
	if len(shown) == 0 {
		t.Fatal("the README shows no command")
	}
	for _, m := range shown {
		words := []string{m[1]}
		if m[2] != "" {
			words = append(words, m[2])
		}
		if _, _, err := find(words, false); err != nil && !slices.ContainsFunc(commands(), func(c command) bool { return c.name == m[1] }) {
			t.Errorf("the README shows hearth %s: %v", strings.Join(words, " "), err)
		}
	}
}

func TestEveryFlagOfACommandIsInTheTable(t *testing.T) {
	for _, c := range commands() {
		for _, f := range append(slices.Clone(c.flags), everyFlag...) {
			if flagTable[f].about == "" {
				t.Errorf("%s takes %s, which nobody explains", c.name, dashed(f))
			}
		}
		if c.about == "" || c.run == nil || c.max >= 0 && c.max < c.min {
			t.Errorf("%s is incomplete", c.name)
		}
	}
}
