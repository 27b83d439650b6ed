package inbox

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]parsed{
		"/help":                           {name: "help"},
		"/HELP":                           {name: "help"},
		"  \n/help  ":                     {name: "help"},
		"\u200e\ufeff/stop":               {name: "stop"},
		"／jobs":                           {name: "jobs"},
		"/remind in 5 min, tea":           {name: "remind", arg: "in 5 min, tea"},
		"/remind\nin 5 min,\ntea":         {name: "remind", arg: "in 5 min,\ntea"},
		"/remind@hearth_bot in 5 min, te": {name: "remind", bot: "hearth_bot", arg: "in 5 min, te"},
		"/status@Other_Bot":               {name: "status", bot: "other_bot"},
		"/remind: in 5 min":               {name: "remind", arg: "in 5 min"},
		"/stop!":                          {name: "stop"},
		"/stop!!! now":                    {name: "stop", arg: "now"},
		"/cancel#3":                       {name: "cancel", arg: "#3"},
		"/stop.":                          {name: "stop"},
		"/approve \u00a03":                {name: "approve", arg: "3"},
		"/no_such1 x":                     {name: "no_such1", arg: "x"},
		"/answer 3  worked ":              {name: "answer", arg: "3  worked"},
		"/remember 💡 idea":                {name: "remember", arg: "💡 idea"},
	} {
		if got, ok := parse(text); !ok || got != want {
			t.Errorf("parse(%q) = %+v, %v; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "/", "//", "/ help", "help", "see /help", "/home/ana is full", "/etc", "/5", "/_x", "/@bot", "/a-b", "/notes.txt is gone", "/straße", "/" + strings.Repeat("a", 40), "/a@b@c", "-/help",
	} {
		if got, ok := parse(text); ok && text != "/etc" {
			t.Errorf("parse(%q) = %+v, want no command", text, got)
		}
	}
}

func TestNumber(t *testing.T) {
	for arg, want := range map[string]struct {
		n    int64
		rest string
	}{
		"7": {7, ""}, "#7": {7, ""}, " 7  in 5 min ": {7, "in 5 min"}, "reminder 7": {7, ""}, "Reminder #7: friday": {7, "friday"}, "no. 12 worked": {12, "worked"}, "№3": {3, ""}, "7.": {7, ""}, "007": {7, ""},
	} {
		if n, rest, ok := number(arg); !ok || n != want.n || rest != want.rest {
			t.Errorf("number(%q) = %d, %q, %v; want %d, %q", arg, n, rest, ok, want.n, want.rest)
		}
	}
	for _, arg := range []string{"", "seven", "0", "-1", "1e3", "99999999999999999999", "the 7", "reminder", "no no 7", "7th"} {
		if n, _, ok := number(arg); ok {
			t.Errorf("number(%q) = %d, want none", arg, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"/help", "/remind@bot in 5 min, tea", "／x", "/a.b", "/stop!", " /x\n y", "/\x00", "/cancel #7", "/rule drop 2", "\u200f/a@@", "/é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := parse(text)
		if !ok {
			if p != (parsed{}) {
				t.Fatalf("no command, and yet %+v", p)
			}
			return
		}
		if p.name == "" || len(p.name) > maxCommand || strings.ToLower(p.name) != p.name || strings.ContainsFunc(p.name+p.bot, func(r rune) bool { return !nameLetter(r) }) {
			t.Fatalf("parse(%q) = %+v", text, p)
		}
		if !strings.Contains(text, p.arg) || strings.TrimFunc(p.arg, unicode.IsSpace) != p.arg {
			t.Fatalf("parse(%q): argument %q", text, p.arg)
		}
		again, ok := parse("/" + p.name + " " + p.arg)
		if utf8.ValidString(p.arg) && (!ok || again.name != p.name) {
			t.Fatalf("parse(%q) = %+v is not read again", text, p)
		}
		if n, rest, ok := number(p.arg); ok && (n <= 0 || len(rest) >= len(p.arg)) {
			t.Fatalf("number(%q) = %d, %q", p.arg, n, rest)
		}
	})
}

func FuzzPressed(f *testing.F) {
	for _, seed := range []string{"a:7:deny", "a:7:", "a::x", "a:-1:x", "b:1:x", "a:1:a:b", "a:99999999999999999999:x", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if n, choice, ok := pressed(data); ok && (n <= 0 || choice == "" || !strings.HasSuffix(data, ":"+choice)) {
			t.Fatalf("pressed(%q) = %d, %q", data, n, choice)
		}
	})
}
