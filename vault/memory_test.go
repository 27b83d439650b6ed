package vault

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// private is what a person may reach from their own chat, inGroup what they may from a group.
func (h *home) private(p Person) Scope {
	h.t.Helper()
	return ScopeOf(must(h.PrivateConversation(h.t.Context(), p.ID))(h.t), p.ID)
}

func (h *home) inGroup(group string, p Person) Scope {
	h.t.Helper()
	acc := must(h.Accept(h.t.Context(), h.saysIn(group, p, "hi"), p, 0))(h.t)
	return ScopeOf(h.progress(acc.Run).Conversation, p.ID)
}

func (h *home) remember(in Scope, fact string) Memory {
	h.t.Helper()
	m, _, err := h.Remember(h.t.Context(), Memory{Text: fact, Source: "command"}, in)
	check(h.t, err)
	return m
}

func (h *home) recall(in Scope, query string) (out []string) {
	h.t.Helper()
	for _, m := range must(h.Recall(h.t.Context(), in, query, 10))(h.t) {
		out = append(out, m.Text)
	}
	return out
}

func TestRememberKeepsAllFields(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	want := Memory{Key: "call:3", Kind: "preference", Text: "likes  tea\nwith\x00 milk", Source: "message", SourceMessage: 4, SourceRun: 5, Origin: "forwarded from Eve"}
	got, known, err := h.Remember(t.Context(), want, in)
	check(t, err)
	equal(t, "known", known, false)
	want.ID, want.Person, want.Scope, want.Text, want.Created, want.Updated = 1, h.ann.ID, "person", "likes tea with milk", h.clock.now(), h.clock.now()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, must(h.Memory(t.Context(), in, 1))(t)); diff != "" {
		t.Error(diff)
	}
	for _, nothing := range []string{"", " ", "?!", "...", "\x00"} {
		_, _, err := h.Remember(t.Context(), Memory{Text: nothing, Source: "command"}, in)
		wantErr(t, err, ErrNoFact)
	}
	got, known, err = h.Remember(t.Context(), Memory{Text: "other words", Key: "call:3", Source: "message"}, in)
	check(t, err)
	equal(t, "known by its key", known, true)
	equal(t, "text", got.Text, "likes tea with milk")
	equal(t, "invalid bytes", h.remember(in, "caf\xe9 noir").Text, "caf\ufffd noir")
}

func TestMEM05TheSameFactIsOneMemory(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	first := h.remember(in, "My sister is allergic to nuts.")
	h.clock.add(time.Hour)
	for _, again := range []string{"my sister is allergic to nuts", "MY SISTER is allergic -- to nuts!", "  My sister\nis allergic to nuts  ", "my sister is allérgic to nuts"} {
		m, known, err := h.Remember(t.Context(), Memory{Text: again, Source: "message"}, in)
		check(t, err)
		equal(t, again, known, true)
		equal(t, "number", m.ID, first.ID)
	}
	got := must(h.Memories(t.Context(), h.ann.ID, 10))(t)
	equal(t, "memories", len(got), 1)
	equal(t, "text", got[0].Text, "My sister is allergic to nuts.")
	equal(t, "updated", got[0].Updated, h.clock.now())
	for _, other := range []string{"my sister is allergic to nuts and milk", "nuts my sister is allergic to", "I like C", "I like C++", "I like C#", "tea 😀", "tea 😡", "tea"} {
		_, known, err := h.Remember(t.Context(), Memory{Text: other, Source: "message"}, in)
		check(t, err)
		equal(t, other, known, false)
	}
	// What Bob tells of himself is another fact.
	_, known, err := h.Remember(t.Context(), Memory{Text: "my sister is allergic to nuts", Source: "message"}, h.private(h.bob))
	check(t, err)
	equal(t, "known of Bob", known, false)
}

func TestMEM01FoundByAWordInsideASentence(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	for _, f := range []string{"我的妻子怀孕了，预产期在十月", "週末は友達としりとりをします", "우리 아이는 끝말잇기를 좋아한다", "ฉันแพ้ถั่วลิสง", "猫和狗", "ガレージの鍵は赤い箱"} {
		h.remember(in, f)
	}
	for query, want := range map[string]string{
		"怀孕": "我的妻子怀孕了，预产期在十月", "孕": "我的妻子怀孕了，预产期在十月", "しりとり": "週末は友達としりとりをします", "끝말잇기": "우리 아이는 끝말잇기를 좋아한다", "끝말": "우리 아이는 끝말잇기를 좋아한다",
		"ถั่ว": "ฉันแพ้ถั่วลิสง", "狗": "猫和狗", "狗 猫": "猫和狗", "狗，猫": "猫和狗", "ｶﾞﾚｰｼﾞ": "ガレージの鍵は赤い箱", "孕怀": "",
	} {
		got := strings.Join(h.recall(in, query), "|")
		if got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}

func TestMEM02AnyTextIsAQuery(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	for _, f := range []string{
		"what's up? is what Tom always says", "I write C++ at work", "I learn C at night", "mail me at name@example.org", "the gate code is AND-OR-7", "I love 🍕 and 🏳️‍🌈", "version 3.5 of the file",
		"Anna-Maria's follow-up is on monday", "l'école de Zoë", "my allergies are nuts and cats", "straße 5", "ПОЕЗД в ёлки", "x² + y²", "𝚨lpha",
	} {
		h.remember(in, f)
	}
	h.remember(h.private(h.bob), "Bob's what's up C++ name@example.org AND 🍕")
	for query, want := range map[string]string{
		"what's up?": "Tom", "C++": "C++", "c++": "C++", "name@example.org": "mail me", "example": "mail me", "AND": "and", "gate OR code": "gate", "🍕": "🍕", "🏳️‍🌈": "🍕", `"`: "", `""`: "", "'": "", "*": "𝚨lpha", "": "𝚨lpha",
		"NEAR(": "", "NEAR(gate code)": "gate", "gate*": "gate", "col:gate": "gate", "tokens:gate": "gate", "^gate": "gate", "-gate": "gate", "NOT gate": "gate", "gate -code": "gate", "(gate": "gate", "{gate}": "gate", "3.5": "3.5", "?!": "",
		"anna": "Anna", "maria": "Anna", "follow up": "Anna", "follow-up": "Anna", "ecole": "école", "ÉCOLE": "école", "zoe": "école", "allergy": "allergies", "allergic": "", "allergies to": "allergies", "cat": "cats",
		"STRASSE": "", "Straße": "straße", "елки": "ёлки", "поезд": "ёлки", "x2": "x²", "αlpha": "𝚨", "C#": "", "C": "C at night", "nothing like it": "", "\x00gate\xff": "gate",
		strings.Repeat("gate ", 5000): "gate", strings.Repeat("怀", 5000): "", "gate " + strings.Repeat("x y z ", 2000): "gate",
	} {
		found := must(h.Recall(t.Context(), in, query, 10))(t)
		got := ""
		if len(found) > 0 {
			got = found[0].Text
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%.40q finds %q, want %q", query, got, want)
		}
		for _, m := range found {
			if m.Person != h.ann.ID {
				t.Errorf("%.40q finds another's %q", query, m.Text)
			}
		}
	}
}

func TestRecallPutsAllWordsBeforeSome(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	for _, f := range []string{"the plumber comes on monday", "the doctor comes on friday", "monday is bin day"} {
		h.remember(in, f)
	}
	wantTexts(t, "all words", h.recall(in, "plumber monday"), "the plumber comes on monday")
	equal(t, "some words", len(h.recall(in, "plumber tuesday doctor")), 2)
	wantTexts(t, "newest", h.recall(in, ""), "monday is bin day", "the doctor comes on friday", "the plumber comes on monday")
	equal(t, "bounded", len(must(h.Recall(t.Context(), in, "", 2))(t)), 2)
}

func TestMEM10EverybodySeesTheirOwnOnly(t *testing.T) {
	h := newHome(t)
	ann, bob := h.private(h.ann), h.private(h.bob)
	secret := h.remember(ann, "the canary sings in the kitchen")
	own := h.remember(bob, "the dog barks in the kitchen")
	shared := h.remember(ann, "the kitchen is blue")
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`UPDATE memory SET scope = 'household' WHERE id = ?`, shared.ID)
		return err
	})
	for _, query := range []string{"canary", "kitchen", "", "*", "canary kitchen", "canary OR kitchen"} {
		for _, text := range h.recall(bob, query) {
			if strings.Contains(text, "canary") {
				t.Errorf("Bob's %q finds %q", query, text)
			}
		}
	}
	equal(t, "Bob's kitchen", len(h.recall(bob, "kitchen")), 2)
	_, err := h.Memory(t.Context(), bob, secret.ID)
	wantErr(t, err, ErrNotFound)
	wantErr(t, h.Do(t.Context(), "pin", func(tx *Tx) error { _, err := tx.Pin(bob, secret.ID, true); return err }), ErrNotFound)
	for _, foreign := range []int64{secret.ID, shared.ID} { // also what is shared is its teller's to take back
		_, err = h.Forget(t.Context(), bob, foreign)
		wantErr(t, err, ErrNotFound)
	}
	equal(t, "Bob's list", len(must(h.Memories(t.Context(), h.bob.ID, 10))(t)), 1)
	_, err = h.Memory(t.Context(), ann, own.ID)
	wantErr(t, err, ErrNotFound)
	must(h.Memory(t.Context(), bob, shared.ID))(t)
	equal(t, "everything is there", h.count(`SELECT count(*) FROM memory`), 3)
}

func TestMEM11AGroupSeesItsOwnAndTheHouseholds(t *testing.T) {
	h := newHome(t)
	private := h.private(h.ann)
	group, other := h.inGroup("-5", h.ann), h.inGroup("-6", h.ann)
	bobHere := h.inGroup("-5", h.bob)
	h.remember(private, "the canary is in the safe")
	told := h.remember(group, "the party is on friday at the safe")
	equal(t, "scope", told.Scope, "conversation")
	equal(t, "teller", told.Person, h.ann.ID)
	wantTexts(t, "the group", h.recall(group, "safe"), "the party is on friday at the safe")
	wantTexts(t, "Bob there", h.recall(bobHere, "safe"), "the party is on friday at the safe")
	wantTexts(t, "another group", h.recall(other, "safe"))
	wantTexts(t, "Ann in private", h.recall(private, "safe"), "the canary is in the safe")
	wantTexts(t, "all in the group", h.recall(group, ""), "the party is on friday at the safe")
	h.do(func(tx *Tx) error { _, err := tx.Pin(private, 1, true); return err })
	equal(t, "pinned in the group", len(must(h.Pinned(t.Context(), group))(t)), 0)
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`UPDATE memory SET scope = 'household' WHERE id = 1`)
		return err
	})
	equal(t, "shared with the household", len(h.recall(other, "safe")), 1)
}

func TestScopeOfMemory(t *testing.T) {
	h := newHome(t)
	for _, in := range []Scope{h.private(h.ann), h.private(h.bob), h.inGroup("-5", h.bob)} {
		m := h.remember(in, "a fact of each")
		reached := must(h.ScopeOfMemory(t.Context(), m.ID))(t)
		must(h.Forget(t.Context(), reached, m.ID))(t)
	}
	_, err := h.ScopeOfMemory(t.Context(), 99)
	wantErr(t, err, ErrNotFound)
}

func TestPin(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	h.remember(in, "one")
	two := h.remember(in, "two")
	pin := func(on bool) {
		h.do(func(tx *Tx) error {
			m, err := tx.Pin(in, two.ID, on)
			equal(t, "pinned", m.Pinned, on)
			return err
		})
	}
	pin(true)
	pinned := must(h.Pinned(t.Context(), in))(t)
	equal(t, "pinned", len(pinned), 1)
	equal(t, "which", pinned[0].ID, two.ID)
	equal(t, "for Bob", len(must(h.Pinned(t.Context(), h.private(h.bob)))(t)), 0)
	pin(false)
	equal(t, "pinned", len(must(h.Pinned(t.Context(), in))(t)), 0)
	wantErr(t, h.Do(t.Context(), "pin", func(tx *Tx) error { _, err := tx.Pin(in, 99, true); return err }), ErrNotFound)
}

func TestSupersededMemoriesAreNotFound(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	old, now := h.remember(in, "I live in Porto"), h.remember(in, "I live in Lisbon")
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`UPDATE memory SET superseded_by = ?, pinned = 1 WHERE id = ?`, now.ID, old.ID)
		return err
	})
	wantTexts(t, "found", h.recall(in, "live"), "I live in Lisbon")
	wantTexts(t, "newest", h.recall(in, ""), "I live in Lisbon")
	equal(t, "pinned", len(must(h.Pinned(t.Context(), in))(t)), 0)
	equal(t, "listed", len(must(h.Memories(t.Context(), 0, 10))(t)), 2)
	must(h.Forget(t.Context(), in, now.ID))(t) // the other refers to it
	equal(t, "left", len(must(h.Memories(t.Context(), 0, 10))(t)), 1)
}

func TestMemoryIsBounded(t *testing.T) {
	h := newHome(t)
	in := h.private(h.bob)
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?)
			INSERT INTO memory(person_id, scope, kind, text, norm, source, created, updated) SELECT ?, 'person', 'fact', i, i, 'command', 0, 0 FROM n`, maxMemories, h.bob.ID)
		return err
	})
	_, _, err := h.Remember(t.Context(), Memory{Text: "one more", Source: "command"}, in)
	wantErr(t, err, ErrTooManyMemories)
	h.remember(h.private(h.ann), "one more")
}

func TestTokens(t *testing.T) {
	for in, want := range map[string]string{
		"Hello, World!": "hello world", "what's up": "what s up", "C++ and C#": "c 0x632b2b and c 0x6323", "a+b": "a 0x612b b", "#tag ##": "tag", "café Ångström": "cafe angstrom", "怀孕x2": "怀 孕 x2",
		"10:30": "10 30", "": "", "++": "", "½": "1 2", "ＡＢＣ": "abc", "K": "k", "I\u0307": "i", "𐄇": "𐄇",
	} {
		equal(t, fmt.Sprintf("tokens of %q", in), strings.Join(tokens(in), " "), want)
	}
	for in, want := range map[string]string{
		"allergies to nuts": `"allerg"* "to" "nut"*`, "cat": `("cat" OR "cats")`, "C++": `"0x632b2b"`, "怀孕 了": `"怀 孕" "了"`, "3.5": `"3" "5"`, "bus": `("bus" OR "buss")`, "boss": `"bos"*`, "flies": `"fli"*`, "": "",
	} {
		equal(t, fmt.Sprintf("query of %q", in), strings.Join(queryTokens(in), " "), want)
	}
}
