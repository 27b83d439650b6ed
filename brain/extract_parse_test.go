package brain

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

func TestParseFacts(t *testing.T) {
	one := []readFact{{Kind: "fact", Text: "Ana has a boat", Line: 2}}
	for answer, want := range map[string][]readFact{
		`{"facts":[{"kind":"Fact ","text":"Ana has a boat","line":2}]}`:                                                              one,
		"Sure!\n```json\n{\"facts\":[{\"kind\":\"fact\",\"text\":\"Ana has a boat\",\"line\":\"2\",\"replaces\":null}]}\n```\nDone.": one,
		`[{"kind":"fact","text":"Ana has a boat","line":2}]`:                                                                         one,
		`{"facts":[3,"x",null,{"kind":"fact","text":"Ana has a boat","line":2},{"text":5}]}`:                                         {{}, one[0]},
		`{"facts":[{"kind":"fact","text":"x","line":1.5,"replaces":"#12"}]}`:                                                         {{Kind: "fact", Text: "x", Replaces: 12}},
		`{"facts":[{"kind":"fact","text":"x","line":-1,"replaces":99999999999999}]}`:                                                 {{Kind: "fact", Text: "x"}},
		`{"facts":[]}`: nil,
		`[]`:           nil,
	} {
		got, ok := parseFacts(answer)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %t %s", answer, ok, diff)
		}
	}
	for _, answer := range []string{"", "nothing", "{", `{"facts":`, `{"facts":null}`, `{}`, `"facts"`, `{"facts":{}}`, strings.Repeat(" ", maxFactsAnswer) + `{"facts":[]}`} {
		if got, ok := parseFacts(answer); ok {
			t.Errorf("%.40q is a list of facts: %v", answer, got)
		}
	}
}

// Each check by itself: what it drops would be kept without it.
func TestMEM13WhatIsNoFactIsDropped(t *testing.T) {
	people := []vault.Person{{ID: 1, Name: "Ana"}, {ID: 2, Name: "Ben"}}
	lines := []vault.Message{{ID: 10, Person: 1, Text: "my sister Rita is allergic to nuts, 2 kinds"}, {ID: 11, Person: 2, Text: "I swim every day"}}
	good := readFact{Kind: "person", Text: "Ana's sister Rita is allergic to nuts", About: "Rita", Line: 1, Replaces: 3}
	for name, c := range map[string]struct {
		change func(*readFact)
		group  bool
		want   string
	}{
		"as it is":           {func(*readFact) {}, false, good.Text},
		"in a group":         {func(*readFact) {}, true, good.Text},
		"no line":            {func(f *readFact) { f.Line = 0 }, false, ""},
		"a line too far":     {func(f *readFact) { f.Line = 3 }, false, ""},
		"another line":       {func(f *readFact) { f.Line = 2 }, false, ""},
		"a rule":             {func(f *readFact) { f.Kind = "rule" }, false, ""},
		"no kind":            {func(f *readFact) { f.Kind = "" }, false, ""},
		"no words":           {func(f *readFact) { f.Text = "..." }, false, ""},
		"one word":           {func(f *readFact) { f.Text = "nuts" }, false, ""},
		"a question":         {func(f *readFact) { f.Text = "Is Rita allergic to nuts?" }, false, ""},
		"two lines":          {func(f *readFact) { f.Text += "\nRita is allergic to nuts" }, false, ""},
		"too long":           {func(f *readFact) { f.Text += strings.Repeat(" nuts", 60) }, false, ""},
		"code":               {func(f *readFact) { f.Text = "{sister Rita is allergic to nuts}" }, false, ""},
		"a gap":              {func(f *readFact) { f.Text = "sister Rita is allergic to [forgotten]" }, false, ""},
		"an invented number": {func(f *readFact) { f.Text += " of 5 kinds" }, false, ""},
		"a number there is":  {func(f *readFact) { f.Text += " of 2 kinds" }, false, good.Text + " of 2 kinds"},
		"mostly invented":    {func(f *readFact) { f.Text = "Rita sells red balloons in Faro" }, false, ""},
		"about nobody there": {func(f *readFact) { f.About = "Mallory" }, false, ""},
		"about the writer":   {func(f *readFact) { f.About = "ana" }, false, good.Text},
		"unnamed in a group": {func(f *readFact) { *f = readFact{Kind: "fact", Text: "swims every day", Line: 2} }, true, "Ben: swims every day"},
		"unnamed in private": {func(f *readFact) { *f = readFact{Kind: "fact", Text: "swims every day", Line: 2} }, false, "swims every day"},
	} {
		f := good
		c.change(&f)
		got := ""
		for _, kept := range checkFacts([]readFact{f, f}, lines, people, c.group) {
			got += kept.Text
			if kept.Message != lines[f.Line-1].ID || kept.Replaces != f.Replaces {
				t.Errorf("%s: %+v", name, kept)
			}
		}
		if got != c.want {
			t.Errorf("%s: kept %q, want %q", name, got, c.want)
		}
	}
}

func TestReadingFits(t *testing.T) {
	var lines []vault.Message
	for i := range 30 {
		lines = append(lines, vault.Message{ID: int64(i), Pos: int64(i), Text: strings.Repeat("word ", 40)})
	}
	known := []vault.Memory{{ID: 1, Text: strings.Repeat("old ", 500)}, {ID: 2, Text: "short\nfact"}}
	for _, room := range []int{1, 500, 2000, 100_000} {
		words, read := reading(known, lines, nil, room)
		if len(words) > max(room, 300) || read < 1 || strings.Count(words, "Somebody: ") != read || room == 100_000 && read != 30 {
			t.Errorf("in %d characters %d lines take %d", room, read, len(words))
		}
	}
}

func FuzzParseFacts(f *testing.F) {
	for _, seed := range []string{`{"facts":[{"kind":"fact","text":"Ana has a boat","about":"Ana","line":1,"replaces":2}]}`, `[{"kind":"place","text":"the boat is in Faro","line":"1"}]`, "```json\n{}\n```", "[[[[", `{"facts":[{"line":1e99}]}`, "\xff{"} {
		f.Add(seed, "the boat of Ana is in Faro")
	}
	f.Fuzz(func(t *testing.T, answer, line string) {
		found, ok := parseFacts(answer)
		if !ok && len(found) > 0 || len(found) > maxFactsRead {
			t.Fatalf("%d facts, %t", len(found), ok)
		}
		lines := []vault.Message{{ID: 7, Person: 1, Text: line, Sent: time.Unix(0, 0)}}
		for _, group := range []bool{false, true} {
			for _, fact := range checkFacts(found, lines, []vault.Person{{ID: 1, Name: "Ana"}}, group) {
				if fact.Message != 7 || fact.Replaces < 0 || fact.Kind == "rule" || strings.ContainsAny(fact.Text, "\r\n") || utf8.RuneCountInString(fact.Text) > maxFactText+maxFactText {
					t.Fatalf("kept %+v", fact)
				}
			}
		}
	})
}
