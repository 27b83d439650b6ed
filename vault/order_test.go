package vault

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// What of a sentence is a rule, and what of it is enforced: "-" = a fact, "shown" = a rule that nothing enforces.
func TestOrdersAreToldFromFacts(t *testing.T) {
	people := []Person{{Name: "Me"}, {Name: "Bob"}, {Name: "Ana Silva"}, {Name: "Zoë"}}
	const (
		askBob  = "I ask before each message to Bob"
		askAll  = "I ask before each message to anybody"
		vague   = "vague: " + askAll
		noBob   = "I send no message to Bob"
		noAll   = "I send no message to anybody"
		askRun  = "I ask before each command"
		noRun   = "I run no commands"
		askWeb  = "I ask before each search of the web and each page of it"
		noWeb   = "I do not look at the web"
		askFile = "I ask before each file that I write"
		noFile  = "I write no files"
	)
	for text, want := range map[string]string{
		"I never eat fish":                                           "-",
		"Ana always comes late":                                      "-",
		"my boss never writes to me without asking":                  "-",
		"Never Ending Story is her favourite film":                   "-",
		"Never been to Paris":                                        "-",
		"From now on I live in Porto":                                "-",
		"Don't like mushrooms":                                       "-",
		"Bob said: never write to my boss":                           "-",
		`"Never send messages" is a song`:                            "-",
		"“Never write to Bob” is a poem":                             "-",
		"Should you never write to Bob?":                             "-",
		"call mum on Friday":                                         "-",
		"Ask Ana before Friday":                                      "-",
		"ask me before Friday":                                       "-",
		"use of commands is dangerous":                               "-",
		"always late":                                                "-",
		"no fish without asking the cook":                            "-",
		"never":                                                      "-",
		"without asking":                                             "-",
		"when I am away the cat eats at eight":                       "-",
		"a. b. c. d. Never send messages.":                           "-",
		"always answer in Portuguese":                                "shown",
		"Answer in Portuguese":                                       "shown",
		"Call me Maria":                                              "shown",
		"be brief":                                                   "shown",
		"keep your answers short":                                    "shown",
		"From now on, be polite":                                     "shown",
		"Don't remind me of Christmas":                               "shown",
		"I want you to always use metric units":                      "shown",
		"never ask me before you send a message to Bob":              "shown",
		"don't ask before searching the web":                         "shown",
		"never write long answers":                                   "shown",
		"never write to me in capitals":                              "shown",
		"never write code without asking":                            "shown",
		"always write to Bob without asking":                         "shown",
		"never send money to Bob":                                    "shown",
		"When Bob writes, don't answer":                              "shown",
		"never write to my boss without asking":                      vague,
		"Never write to my boss without asking me first.":            vague,
		"never write to my boss":                                     vague,
		"Remember: never message Bob without my permission":          askBob,
		"remember that you must never text Bob unless I say so":      askBob,
		"please never send anything to bob without checking with me": askBob,
		"don’t send Bob a message without asking":                    askBob,
		"Ask me before you message Bob":                              askBob,
		"always ask before writing to Bob":                           askBob,
		"from now on ask me before each message to Bob":              askBob,
		"No messages to Bob without asking":                          askBob,
		"before you write to Bob, ask me":                            askBob,
		"never message Bob after 22:00":                              askBob,
		"when I am away, never write to Bob":                         askBob,
		"never message Ana without asking":                           "I ask before each message to Ana Silva",
		"never message zoë without asking":                           "I ask before each message to Zoë",
		"never write to Ana Silva or Bob without asking":             "I ask before each message to Ana Silva; " + askBob,
		"never send messages without asking":                         askAll,
		"never message anyone except Bob":                            askAll,
		"Never send without asking":                                  askAll,
		"never send messages to Bob":                                 noBob,
		"You must not message Bob":                                   noBob,
		"Bob is my boss. Never write to Bob.":                        noBob,
		"never send messages":                                        noAll,
		"stop sending messages to other people":                      noAll,
		"never run commands":                                         noRun,
		"do not execute any shell commands":                          noRun,
		"never use run_command":                                      noRun,
		"never run commands without asking":                          askRun,
		"ask before running commands":                                askRun,
		"never run commands in the workspace":                        askRun,
		"never send messages or run commands without asking":         askAll + "; " + askRun,
		"ask before searching the web":                               askWeb,
		"ask me before fetching a page":                              askWeb,
		"ask before searching":                                       askWeb,
		"never search the web without asking":                        askWeb,
		"ask before you search on the web":                           askWeb,
		"never search the web":                                       noWeb,
		"don't go online":                                            noWeb,
		"never look things up on the internet":                       noWeb,
		"never write files without asking":                           askFile,
		"never write files":                                          noFile,
	} {
		var got []string
		for _, o := range OrdersOf(text) {
			o = o.among(people)
			says := o.Says()
			if o.Vague {
				says = "vague: " + says
			}
			got = append(got, says)
		}
		said := strings.Join(got, "; ")
		switch kind := KindOf(text); {
		case kind == "fact" && said != "":
			t.Errorf("%q is a fact and does %q", text, said)
		case kind == "fact":
			said = "-"
		case said == "":
			said = "shown"
		}
		if said != want {
			t.Errorf("%q: %q, expected %q", text, said, want)
		}
	}
}

func TestAnOrderBindsWhomItNames(t *testing.T) {
	people := []Person{{Name: "Bob"}, {Name: "Eve"}}
	bob := OrdersOf("never write to Bob without asking")[0].among(people)
	boss := OrdersOf("never write to my boss")[0].among(people)
	for _, tt := range []struct {
		o            Order
		tool, person string
		want         bool
	}{
		{bob, "send", "Bob", true},
		{bob, "send", " BOB ", true},
		{bob, "send", "Eve", false},
		{bob, "web_fetch", "Bob", false},
		{boss, "send", "Eve", true},
		{boss, "send", "", true},
	} {
		if got := tt.o.Binds(tt.tool, tt.person); got != tt.want {
			t.Errorf("%+v binds %s to %q: %v", tt.o, tt.tool, tt.person, got)
		}
	}
}

// Orders reach a person's own runs wherever they write, a group's in the group, and nobody else's; words of somebody else,
// what was extracted, and what was forgotten never bind.
func TestOrdersOfAScope(t *testing.T) {
	h := newHome(t)
	mine, bobs := h.private(h.ann), h.private(h.bob)
	h.talk(h.ann, "hello", "ok")
	acc := must(h.Accept(t.Context(), h.saysIn("-1", h.ann, "hi"), h.ann, 0))(t)
	got := h.claim()
	equal(t, "run", got.Run.ID, acc.Run)
	group := ScopeOf(got.Conversation, h.ann.ID)
	keep := func(in Scope, m Memory) int64 {
		t.Helper()
		m.Kind = "rule"
		out, _, err := h.Remember(t.Context(), m, in)
		check(t, err)
		return out.ID
	}
	own := keep(mine, Memory{Text: "never run commands", Source: "command"})
	keep(mine, Memory{Text: "never search the web", Source: "message", Origin: "forwarded from Eve"})
	keep(mine, Memory{Text: "never write files", Source: "extracted"})
	in := keep(group, Memory{Text: "ask before searching the web", Source: "command"})
	numbers := func(s Scope) string {
		var out []int64
		t.Helper()
		for _, o := range must(h.Orders(t.Context(), s))(t) {
			out = append(out, o.Memory)
		}
		return fmt.Sprint(out)
	}
	equal(t, "in private", numbers(mine), fmt.Sprint([]int64{own}))
	equal(t, "in the group", numbers(group), fmt.Sprint([]int64{own, in}))
	equal(t, "Bob's", numbers(bobs), "[]")
	equal(t, "Bob's in the group", numbers(Scope{Person: h.bob.ID, Conversation: group.Conversation, Group: true}), fmt.Sprint([]int64{in}))
	must(h.Forget(t.Context(), mine, own))(t)
	equal(t, "after forgetting", numbers(mine), "[]")
}

// What is first told as a fact from elsewhere becomes a rule when the person says it, and only then.
func TestAFactSaidAgainAsARuleIsOne(t *testing.T) {
	h := newHome(t)
	mine := h.private(h.ann)
	const text = "Never run commands"
	must2 := func(m Memory) Memory {
		t.Helper()
		out, _, err := h.Remember(t.Context(), m, mine)
		check(t, err)
		return out
	}
	must2(Memory{Kind: "fact", Text: text, Source: "message", Origin: "forwarded from Eve"})
	equal(t, "forwarded again", must2(Memory{Kind: "fact", Text: text, Source: "message"}).Kind, "fact")
	m := must2(Memory{Kind: "rule", Text: text, Source: "command"})
	equal(t, "said", m.Kind+m.Origin+m.Source, "rulecommand")
	equal(t, "stored", must(h.Memory(t.Context(), mine, m.ID))(t).Kind, "rule")
	equal(t, "told as a fact", must2(Memory{Kind: "fact", Text: text, Source: "message", Origin: "forwarded from Eve"}).Kind, "rule")
}

// No words panic; what is enforced is a rule, of tools that are known; and a rule that opens nothing.
func FuzzOrders(f *testing.F) {
	for _, s := range []string{"", ",", "never", "no", "before , ask", "before you send, ask me", "ask me before", "don't send bob , or run commands", "when ,", "never ing", "’", "\xff never send to \xff", "never send a message to , or", "write to"} {
		f.Add(s)
	}
	people := []Person{{Name: "Bob"}, {Name: ""}, {Name: "Ana Silva"}}
	f.Fuzz(func(t *testing.T, s string) {
		orders := OrdersOf(s)
		if len(orders) > 0 && KindOf(s) != "rule" {
			t.Errorf("%q is enforced and no rule", s)
		}
		for _, o := range orders {
			o = o.among(people)
			if o.Do != OrderAsk && o.Do != OrderDeny && o.Do != OrderOff || len(o.Tools) == 0 || o.Says() == "" || !utf8.ValidString(o.Says()) {
				t.Errorf("%q: %+v", s, o)
			}
		}
		if note := OrderNote(Memory{Kind: KindOf(s), Text: s, Source: "command"}, people); (note != "") != (KindOf(s) == "rule") {
			t.Errorf("%q: %q", s, note)
		}
	})
}
