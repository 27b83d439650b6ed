package inbox

import (
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

func TestRememberAndList(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/memory", "I remember nothing yet. /remember TEXT keeps a fact.")
	w.want(ana, "/remember", "What shall I remember? Write it as /remember TEXT.")
	w.want(ana, "/remember ...", "There are no words to remember in this. Write it as /remember TEXT.")
	w.want(ana, "/remember   the bakery\n opens at seven", "Noted (memory 1): the bakery opens at seven")
	w.want(ana, "/remember The bakery opens at seven!", "I know that already (memory 1): the bakery opens at seven")
	w.want(ana, "/remember the spare key is under the pot", "Noted (memory 2): the spare key is under the pot")
	w.want(ana, "/remember "+strings.Repeat("x", 2001), "That has 2001 letters; at most 2000 fit into one memory. Tell it in several.")
	w.want(ana, "/memory", "2 · the spare key is under the pot\n1 · the bakery opens at seven")
	w.want(ana, "/memory bakery", "1 · the bakery opens at seven")
	w.want(ana, "/memory zebra", "I remember nothing about that. /memory lists everything.")
	m, err := w.v.Memory(t.Context(), vault.Scope{Person: w.person("Ana").ID}, 1)
	w.check(err)
	if m.Source != "command" || m.SourceMessage != 0 || m.Key == "" {
		t.Errorf("stored: %+v", m)
	}
}

// MEM-01, MEM-02: any script is found by a word inside, and any text is a search.
func TestMEM01MEM02EverythingIsASearch(t *testing.T) {
	w := newWorld(t)
	for _, fact := range []string{"我的妹妹怀孕了需要叶酸", "週末は子供としりとりをして遊びます", "party 🎉 on Saturday", "the C++ course starts soon", "write to name@example.org"} {
		w.ask(ana, "/remember "+fact)
	}
	for query, has := range map[string]string{"怀孕": "怀孕了", "しりとり": "しりとり", "🎉": "party", "C++": "C++ course", "name@example.org": "name@"} {
		if got := w.ask(ana, "/memory "+query); !strings.Contains(got, has) {
			t.Errorf("/memory %s: %q", query, got)
		}
	}
	for _, query := range []string{"what's up?", "AND", `"`, "'", "NEAR(", "*", "a OR", "-x", "col:x", "%", "\\", "(", "NULL"} {
		if got := w.ask(ana, "/memory "+query); got == "" || strings.Contains(got, "error") {
			t.Errorf("/memory %s: %q", query, got)
		}
	}
}

func TestALongListIsSeveralPartsWithWholeFacts(t *testing.T) {
	w := newWorld(t)
	facts := map[string]bool{}
	for n := range 60 {
		fact := strings.Repeat("word ", n) + "end of fact " + thousands(n)
		facts[fact] = true
		w.ask(ana, "/remember "+fact)
	}
	parts := w.hand(w.message(ana, "/memory"))
	shown := 0
	for _, p := range parts {
		if len(p.Text) > maxAnswer {
			t.Errorf("a part has %d bytes", len(p.Text))
		}
		for _, line := range strings.Split(p.Text, "\n") {
			if _, fact, ok := strings.Cut(line, " · "); ok && facts[fact] {
				shown++
			}
		}
	}
	if len(parts) < 2 || shown != listedMemories || !strings.HasSuffix(parts[len(parts)-1].Text, "… and more: /memory before 11 goes on, /memory QUERY searches") {
		t.Errorf("%d parts show %d facts whole", len(parts), shown)
	}
	rest := w.ask(ana, "/memory before 11")
	if n := strings.Count(rest, " · "); n != 10 || !strings.HasPrefix(rest, "10 · ") || strings.Contains(rest, "and more") {
		t.Errorf("the rest has %d facts: %q", n, rest)
	}
	w.want(ana, "/memory before 1", "There is nothing before memory 1.")
	if got := w.ask(ana, "/memory before the storm"); !strings.Contains(got, "nothing about that") {
		t.Errorf("a search that begins alike: %q", got)
	}
}

func TestPin(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remember the wifi is called fern")
	const usage = "Which one? Write it as /pin N, for example /pin 3, or /pin 3 off. /memory lists the numbers."
	w.want(ana, "/pin", usage)
	w.want(ana, "/pin 1 please", usage)
	w.want(ana, "/pin 9", "There is no memory 9. /memory lists what there is.")
	w.want(ana, "/pin 1", "Memory 1 is always in view from now on: the wifi is called fern")
	w.want(ana, "/memory", "1 · the wifi is called fern (pinned)")
	pinned, err := w.v.Pinned(t.Context(), vault.Scope{Person: w.person("Ana").ID})
	w.check(err)
	if len(pinned) != 1 {
		t.Error("it is not pinned")
	}
	w.want(ana, "/pin 1 off", "Memory 1 is no longer always in view: the wifi is called fern")
	w.want(ana, "/memory", "1 · the wifi is called fern")
}

// MEM-07: what is forgotten is gone, also from everything the commands themselves have said about it.
func TestMEM07ForgottenLeavesNoBytes(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remember  the old\naddress is CANARY  Street 99")
	w.ask(ana, "/remember the bakery opens at seven")
	w.ask(ana, "/remember The old address: is CANARY... street 99!") // the same again, in other letters
	for _, text := range []string{"/memory", "/memory address", "/why 1", "/pin 1", "/pin 1 off"} {
		w.ask(ana, text)
	}
	w.want(ana, "/forget", "Which one? Write it as /forget N, for example /forget 3. /memory lists the numbers.")
	w.now = w.now.Add(time.Hour)
	w.want(ana, "/forget 1", "Forgotten: memory 1, of Fri 4 Dec 2026, 09:00 (Europe/Lisbon). Its words are removed wherever I kept them, also from 4 messages.\nThere are no snapshots on this machine; a backup that you made keeps the words.")
	w.want(ana, "/forget 1", "There is no memory 1. /memory lists what there is.")
	w.want(ana, "/memory address", "I remember nothing about that. /memory lists everything.")
	w.want(ana, "/memory", "2 · the bakery opens at seven")
	if strings.Contains(strings.ToUpper(w.vaultBytes()), "CANARY") {
		t.Error("the words are still in the vault")
	}
}

// MEM-10, MEM-11: others, and groups, reach nothing that is somebody's own.
func TestMEM10MEM11MemoriesStayWithTheirPeople(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remember Ana hides CANARY")
	w.ask(ben, "/remember Ben hides nothing")
	for _, text := range []string{"/memory", "/memory hides", "/memory CANARY", "/memory *", "/why 1", "/forget 1", "/pin 1"} {
		got := w.ask(ben, text)
		if strings.Contains(got, "CANARY") || got == "" {
			t.Errorf("Ben, %s: %q", text, got)
		}
		got = said(w.hand(w.inGroup(ana, text)))
		if strings.Contains(got, "CANARY") || got == "" {
			t.Errorf("the group, %s: %q", text, got)
		}
	}
	group := func(who, text string) string { return said(w.hand(w.inGroup(who, text))) }
	for _, tc := range []struct{ who, text, want string }{
		{ana, "/memory", "I remember nothing in this group yet. /remember TEXT keeps a fact."},
		{ana, "/memory x", "I remember nothing about that in this group. /memory lists everything."},
		{ana, "/remember dinner is at eight", "Noted (memory 3): dinner is at eight"},
		{ben, "/memory", "3 · dinner is at eight"},
		{ben, "/forget 1", "There is no memory 1 in this group. /memory lists what there is."},
		{ben, "/why 3", "Memory 3: dinner is at eight\nTold by Ana with /remember on Fri 4 Dec 2026, 10:00 (Europe/Berlin)."},
	} {
		if got := group(tc.who, tc.text); got != tc.want {
			t.Errorf("the group, %s\n got: %s\nwant: %s", tc.text, got, tc.want)
		}
	}
	w.want(ana, "/memory CANARY", "1 · Ana hides CANARY")
}
