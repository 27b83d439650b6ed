package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// left counts what of some words is in the file and its log and index, whatever the case.
func (h *home) left(words string) (n int) {
	h.t.Helper()
	for _, name := range []string{"vault.db", "vault.db-wal", "vault.db-shm"} {
		b, err := os.ReadFile(filepath.Join(h.folder, name))
		if err != nil && !os.IsNotExist(err) {
			h.t.Fatal(err)
		}
		n += bytes.Count(bytes.ToLower(b), bytes.ToLower([]byte(words)))
	}
	return n
}

// leftBytes counts some bytes in the same files.
func (h *home) leftBytes(canary string) (n int) {
	h.t.Helper()
	for _, name := range []string{"vault.db", "vault.db-wal", "vault.db-shm"} {
		b, err := os.ReadFile(filepath.Join(h.folder, name))
		if err != nil && !os.IsNotExist(err) {
			h.t.Fatal(err)
		}
		n += bytes.Count(b, []byte(canary))
	}
	return n
}

func TestMEM07ForgottenByCommandLeavesNoByte(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	const canary = "Quetzalcoatlstrasse"
	add := h.says(h.ann, "/remember I live  in the "+canary+"\n5")
	add.Kind, add.Raw = "command", []byte(`{"text":"`+canary+`"}`)
	var m Memory
	check(t, h.Command(t.Context(), add, h.ann, func(tx *Tx, _ Conversation) (out []Part, err error) {
		m, _, err = tx.Remember(Memory{Text: "I live  in the " + canary + "\n5", Key: "cmd", Source: "command"}, in)
		return []Part{{Text: "Remembered 1: " + m.Text}}, err
	}))
	h.remember(in, "my car is red")
	h.send()
	later := h.says(h.ann, "what else?")
	later.Quoted = "Remembered 1: " + m.Text
	must(h.Accept(t.Context(), later, h.ann, 0))(t)
	if h.left(canary) == 0 {
		t.Fatal("the canary was never there")
	}
	must(h.Forget(t.Context(), in, m.ID))(t)
	equal(t, "bytes left", h.left(canary), 0)
	wantTexts(t, "found", h.recall(in, canary+" live"))
	wantTexts(t, "other memories", h.recall(in, ""), "my car is red")
	contains(t, "the answer", h.parts()[0].Text, "Remembered 1: [forgotten]")
	contains(t, "the quote", h.str(`SELECT quoted FROM message WHERE text = 'what else?'`), "[forgotten]")
	equal(t, "nothing is left to sweep", must(h.Setting(t.Context(), settingSweep))(t), "")
	check(t, h.Check(t.Context()))
	h.reopen()
	equal(t, "bytes left after a restart", h.left(canary), 0)
}

// A fact that was told in passing stands in messages, steps, calls, questions, answers, and in the prompts of later runs.
func TestMEM07ForgottenTurnLeavesNoByte(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	const canary = "Quetzalcoatlstrasse"
	fact := `Ann's "old" address is ` + canary + ` 5 & 6`
	args, err := json.Marshal(map[string]string{"fact": fact})
	check(t, err)
	plain := strings.ReplaceAll(string(args), `\u0026`, "&")

	// The turn that teaches it, in which it stands in other words too.
	tell := h.says(h.ann, "By the way, it was in "+canary+", number five or six. Remember it.")
	tell.Raw = []byte(tell.Text)
	must(h.Accept(t.Context(), tell, h.ann, 0))(t)
	p := h.claim()
	check(t, must2(h.SaveContext(t.Context(), p.Run.ID, "nothing yet"))(t))
	h.step(p, StepDone{Step: Step{Text: "I note " + canary}, Calls: []Call{{Tool: "remember", Args: plain, Effect: "sets"}, {Tool: "remember", Args: string(args), Effect: "sets", State: Denied, Result: canary}}})
	p = h.progress(p.Run.ID)
	m, _, err := h.Remember(t.Context(), Memory{Text: fact, Source: "message", SourceMessage: p.Messages[0].ID, SourceRun: p.Run.ID}, in)
	check(t, err)
	c := p.Calls[0]
	c.State, c.Result, c.Receipt = Finished, "Remembered: "+fact, "Remembered 1: "+fact
	check(t, h.FinishCall(t.Context(), c))
	h.step(h.progress(p.Run.ID), StepDone{Step: Step{Text: "So it was " + canary}, End: &Ending{State: Done, Reply: "Noted: " + canary + " it was."}})
	h.send()
	taught := p.Run.ID

	// A later one recalls it, asks about it, and tells another.
	ask := h.says(h.ann, "write Bob my old address")
	ask.Quoted = "Noted: " + canary + " it was."
	must(h.Accept(t.Context(), ask, h.ann, 0))(t)
	p = h.claim()
	check(t, must2(h.SaveContext(t.Context(), p.Run.ID, "Known:\n- "+fact+"\n- my car is red"))(t))
	h.step(p, StepDone{Step: Step{Text: "It is " + strings.ToUpper(fact) + "."}, Park: true, Calls: []Call{
		{Tool: "recall", Args: `{"query":"address"}`, Effect: "reads", State: Finished, Result: "1: " + fact},
		{Tool: "send", Args: plain, Effect: "acts", Ask: &Question{Text: "Send: " + fact, Choices: yesNo}},
	}})
	_, err = h.decide(1, h.ann, "deny")
	check(t, err)
	h.claim()
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "It was\n" + fact}))
	h.send()
	h.send()
	h.do(func(tx *Tx) error {
		_, err := tx.insert(`INSERT INTO summary(conversation_id, from_pos, to_pos, text, model, created) VALUES(?,1,2,?,'m',0)`, p.Conversation.ID, "They spoke of how "+fact+".")
		return err
	})
	// Somebody else said the same words.
	bobs := h.accept(h.bob, fact)
	must(h.Forget(t.Context(), in, m.ID))(t)

	equal(t, "Bob's words", h.progress(bobs).Messages[0].Text, fact)
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`UPDATE message SET text = 'x' WHERE run_id = ?`, bobs)
		return err
	})
	check(t, h.sweep(t.Context()))
	equal(t, "bytes left", h.left(canary), 0)

	p = h.progress(taught)
	equal(t, "what was told", p.Messages[0].Text, "[forgotten]")
	equal(t, "the step", p.Steps[0].Text, "[forgotten]")
	p = h.progress(p.Run.ID + 1)
	equal(t, "context", p.Run.Context, "Known:\n- [forgotten]\n- my car is red")
	equal(t, "step", p.Steps[0].Text, "It is [forgotten].")
	equal(t, "result", p.Calls[0].Result, "1: [forgotten]")
	equal(t, "arguments", p.Calls[1].Args, `{"fact":"[forgotten]"}`)
	equal(t, "asked about", p.Approvals[0].Arguments, `{"fact":"[forgotten]"}`)
	equal(t, "question", p.Approvals[0].Question, "Send: [forgotten]")
	equal(t, "what was said", p.Messages[0].Text, "write Bob my old address")
	equal(t, "what was quoted", p.Messages[0].Quoted, "[forgotten]")
	equal(t, "answer", must(h.Reply(t.Context(), p.Run.ID))(t), "It was\n[forgotten]")
}

func TestOpenQuestionsKeepTheirWordsUntilTheyAreDecided(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	m := h.remember(in, "dinner at eight")
	p := h.claimed(h.ann, "write Bob")
	h.step(p, StepDone{Park: true, Calls: []Call{{Tool: "send", Args: `{"text":"dinner at eight"}`, Effect: "acts", Ask: &Question{Text: "dinner at eight", Choices: yesNo}}}})
	must(h.Forget(t.Context(), in, m.ID))(t)
	_, err := h.decide(1, h.ann, "approve")
	check(t, err)
	p = h.claim()
	equal(t, "arguments", p.Calls[0].Args, `{"text":"dinner at eight"}`)
	check(t, h.StartCall(t.Context(), p.Calls[0]))
}

func TestForgettingTouchesNobodyElse(t *testing.T) {
	h := newHome(t)
	group := h.inGroup("-5", h.ann)
	m := h.remember(h.private(h.ann), "likes tea")
	other := h.remember(h.private(h.ann), "who likes tea is welcome")
	here := h.accept(h.bob, "Ann likes tea")
	there := must(h.Accept(t.Context(), h.saysIn("-5", h.bob, "she likes tea"), h.bob, 0))(t).Run
	own := must(h.Accept(t.Context(), h.saysIn("-5", h.ann, "yes, who likes tea?"), h.ann, 0))(t).Run
	must(h.Forget(t.Context(), h.private(h.ann), m.ID))(t)
	equal(t, "Bob in private", h.progress(here).Messages[0].Text, "Ann likes tea")
	equal(t, "Bob in the group", h.progress(there).Messages[0].Text, "she likes tea")
	equal(t, "Ann in the group", h.progress(own).Messages[0].Text, "yes, who [forgotten]?")
	equal(t, "another memory", must(h.Memory(t.Context(), h.private(h.ann), other.ID))(t).Text, "who likes tea is welcome")
	wantTexts(t, "is found", h.recall(h.private(h.ann), "tea"), "who likes tea is welcome")

	told := h.remember(group, "she likes tea")
	must(h.Forget(t.Context(), group, told.ID))(t)
	equal(t, "Bob in the group, after what the group knew", h.progress(there).Messages[0].Text, "[forgotten]")
	_, err := h.Forget(t.Context(), group, told.ID)
	wantErr(t, err, ErrNotFound)
}

func TestBlankWholeWordsInAnyDress(t *testing.T) {
	for _, c := range []struct{ fact, text, want string }{
		{"tea", "Tea, teams and steaming TEA; tea", "[forgotten], teams and steaming [forgotten]; [forgotten]"},
		{"my sister", "my\n  sister and My Sister's", "[forgotten] and [forgotten]'s"},
		{"likes tea.", "she likes tea, likes tea", "she [forgotten], [forgotten]"},
		{`say "hi"`, `{"fact":"say \"hi\""}`, `{"fact":"[forgotten]\""}`},
		{"a<b & c", `{"x":"a\u003cb \u0026 c","y":"a<b & c"}`, `{"x":"[forgotten]","y":"[forgotten]"}`},
		{"école d'été", "L'ÉCOLE D'ÉTÉ", "L'[forgotten]"},
		{"怀孕", "我怀孕了", "我[forgotten]了"},
		{"tea", `one\ntea and \u0009tea`, `one\n[forgotten] and \u0009[forgotten]`},
		{"two words", `two\nwords`, `[forgotten]`},
		{"caf\xe9", "caf\ufffd", "[forgotten]"},
		{"...", "well... yes", "well[forgotten] yes"},
		{"(a|b)*", "(a|b)* aab", "([forgotten])* aab"},
		{"x", "no such thing", "no such thing"},
	} {
		if got := needleOf(c.fact).blank(c.text); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.fact, c.text, got, c.want)
		}
	}
}

// SQLite leaves bytes of moved rows in the free space of pages: only many rows of many sizes show it.
func TestMEM07NoByteIsLeftAmongManyMemories(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	r := rand.New(rand.NewPCG(1, 2))
	type row struct {
		id     int64
		canary string
	}
	var rows []row
	for range 30 {
		h.do(func(tx *Tx) error {
			for range 20 {
				canary := fmt.Sprintf("%016x", r.Uint64())
				m, _, err := tx.Remember(Memory{Text: canary + " " + strings.Repeat("words ", r.IntN(90)), Source: "command"}, in)
				if err != nil {
					return err
				}
				if len(rows) > 0 { // one grows, so that its page is divided
					grows := rows[r.IntN(len(rows))].id
					if _, err := tx.exec(`UPDATE memory SET text = ? || text WHERE id = ?`, strings.Repeat("more ", r.IntN(80)), grows); err != nil {
						return err
					}
				}
				rows = append(rows, row{m.ID, canary})
			}
			return nil
		})
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	h.do(func(tx *Tx) error {
		for _, row := range rows[:300] {
			if _, err := tx.Forget(in, row.id); err != nil {
				return err
			}
		}
		return nil
	})
	b := must(os.ReadFile(h.Path()))(t)
	for i, row := range rows {
		if found := bytes.Contains(b, []byte(row.canary)); found != (i >= 300) {
			t.Errorf("memory %d: bytes there: %t", i, found)
		}
	}
	equal(t, "log", len(must(os.ReadFile(h.Path()+"-wal"))(t)) > 100_000, false)
	check(t, h.Check(t.Context()))
}

func TestMEM07ASweepThatWasCutShortIsMadeUpFor(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	const canary = "Quetzalcoatlstrasse"
	m := h.remember(in, "I live in "+canary)
	// The power goes after the commit and before the sweep.
	check(t, h.write(t.Context(), "forget", durable, func(tx *Tx) error {
		_, err := tx.Forget(in, m.ID)
		tx.scrub = false
		return err
	}))
	copied := t.TempDir()
	for name, text := range files(t, h.folder) {
		check(t, os.WriteFile(filepath.Join(copied, name), []byte(text), 0o600))
	}
	check(t, h.Close())
	h.Vault = nil
	h.folder = copied
	if h.left(canary) == 0 {
		t.Fatal("the log is empty already")
	}
	h.open()
	equal(t, "bytes left", h.left(canary), 0)
	equal(t, "nothing is left to sweep", must(h.Setting(t.Context(), settingSweep))(t), "")
}

func TestForgetWaitsForNoReaderThatIsQuick(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	m := h.remember(in, "x1 is a fact")
	rows := must(h.rdb.QueryContext(t.Context(), `SELECT id FROM person`))(t)
	rows.Next()
	done := make(chan error, 1)
	go func() {
		_, err := h.Forget(t.Context(), in, m.ID)
		done <- err
	}()
	for h.count(`SELECT count(*) FROM memory`) > 0 { // until it has committed; then it waits for the reader to empty the log
	}
	check(t, rows.Close()) //nolint:sqlclosecheck // when it is closed is what is tested
	check(t, rows.Err())
	check(t, <-done)
}
