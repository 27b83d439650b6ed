package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/brain"
	"hearth/skills"
	"hearth/vault"
)

// household is the model with the real tools on a real vault: what a person reads, without a brain between.
type household struct {
	t     *testing.T
	v     *vault.Vault
	now   time.Time
	tools skills.Set
	files string
	me    vault.Person
	talk  []brain.Msg
	calls int
}

func newHousehold(t *testing.T) *household {
	h := &household{t: t, now: now(t), files: filepath.Join(t.TempDir(), "workspace")}
	ctx := context.Background()
	v, err := vault.Open(ctx, t.TempDir(), vault.Options{Now: func() time.Time { return h.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	h.v = v
	if h.me, err = v.TerminalOwner(ctx); err != nil {
		t.Fatal(err)
	}
	tools, err := skills.Builtin(skills.Deps{Vault: v, Workspace: h.files})
	if err != nil {
		t.Fatal(err)
	}
	if h.tools, err = skills.NewSet(tools...); err != nil {
		t.Fatal(err)
	}
	return h
}

// say gives what a person reads after a message: the receipts of what was done, then the model's words.
func (h *household) say(words string) string {
	h.t.Helper()
	ctx := context.Background()
	conversation, err := h.v.PrivateConversation(ctx, h.me.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	req := brain.Request{Now: h.now, Words: []string{words}, Messages: slices.Concat(h.talk, []brain.Msg{{Role: "user", Text: words}})}
	for _, tool := range h.tools.All() {
		req.Tools = append(req.Tools, brain.ToolSpec{Name: tool.Name, About: tool.About, Schema: tool.Schema})
	}
	var read []string
	for range 3 {
		res := generate(h.t, req)
		if len(res.Calls) == 0 {
			if res.Text != "" {
				read = append(read, res.Text)
			}
			answer := strings.Join(read, "\n")
			h.talk = append(h.talk, brain.Msg{Role: "user", Text: words}, brain.Msg{Role: "assistant", Text: answer})
			return answer
		}
		req.Messages = append(req.Messages, brain.Msg{Role: "assistant", Calls: res.Calls})
		for _, c := range res.Calls {
			tool, ok := h.tools.Named(c.Name)
			if !ok {
				h.t.Fatalf("%q: it calls %s", words, c.Name)
			}
			args, err := skills.Canonical(tool, c.Args)
			if err != nil {
				h.t.Fatal(err)
			}
			h.calls++
			out, err := tool.Run(ctx, skills.Call{
				Key: fmt.Sprint(h.calls), Person: h.me, Conversation: conversation, To: vault.TerminalAddress(h.me.ID),
				Now: h.now, Said: h.now, Zone: h.now.Location(), Words: req.Words,
			}, args)
			if err != nil {
				out = skills.Result{Text: err.Error()}
			}
			if out.Receipt != "" {
				read = append(read, out.Receipt)
			}
			req.Messages = append(req.Messages, brain.Msg{Role: "tool", CallID: c.ID, Tool: c.Name, Text: out.Text})
		}
	}
	h.t.Fatalf("%q takes more than three steps", words)
	return ""
}

func TestADayWithoutALanguageModel(t *testing.T) {
	h := newHousehold(t)
	for _, line := range []struct{ say, read string }{
		{"hello", hello},
		{"remind me in 1 minute to stretch", "Reminder 1: Tue 10 Mar 2026, 10:01 (Europe/Lisbon): stretch"},
		{"remind me about the dentist", "When shall I remind you about the dentist?"},
		{"tomorrow at 9", "Reminder 2: Wed 11 Mar 2026, 09:00 (Europe/Lisbon): the dentist"},
		{"make it 10", "Reminder 2 is now: Wed 11 Mar 2026, 10:00 (Europe/Lisbon): the dentist"},
		{"no, I meant friday", "Reminder 2 is now: Fri 13 Mar 2026, 10:00 (Europe/Lisbon): the dentist"},
		{"what reminders do I have?", "Your reminders, next first:\n• Reminder 1: Tue 10 Mar 2026, 10:01 (Europe/Lisbon): stretch\n• Reminder 2: Fri 13 Mar 2026, 10:00 (Europe/Lisbon): the dentist"},
		{"cancel the dentist reminder", "Cancelled: Reminder 2 (the dentist)."},
		{"what's next", "Next comes Reminder 1: Tue 10 Mar 2026, 10:01 (Europe/Lisbon): stretch"},
		{"cancel reminder 9", "There is no reminder 9."},
		{"remind me on 31 february to pay", ""},
		{"remember that my sister is allergic to nuts", "Noted (memory 1): my sister is allergic to nuts"},
		{"remember that the bakery opens at seven", "Noted (memory 2): the bakery opens at seven"},
		{"save milk and bread to shopping.txt", "Wrote shopping.txt (14 bytes)."},
		{"list files", "Files in the workspace:\n• shopping.txt (14 bytes)"},
		{"read shopping.txt", "shopping.txt:\nmilk and bread"},
		{"read shoping.txt", "There is no shoping.txt in the workspace; at its top there is: shopping.txt."},
	} {
		if got := h.say(line.say); got != line.read && line.read != "" || got == "" {
			t.Errorf("%q is answered with\n%q\nexpected\n%q", line.say, got, line.read)
		}
	}
	h.now = h.now.Add(24 * time.Hour)
	for _, line := range []struct{ say, read string }{
		{"what do you know about my sister", "Here is what I know about your sister: my sister is allergic to nuts (memory 1, since 10 Mar 2026)"},
		{"when does my bakery open?", "Here is what I know about that: the bakery opens at seven (memory 2, since 10 Mar 2026)"},
		{"forget that my sister is allergic to nuts", "Forgotten: memory 1."},
		{"what do you know about my sister", "I know nothing about your sister. Tell me with \"remember that …\"."},
		{"forget memory 1", "There is no memory 1 to forget."},
	} {
		if got := h.say(line.say); got != line.read {
			t.Errorf("%q is answered with\n%q\nexpected\n%q", line.say, got, line.read)
		}
	}
	if _, err := os.Stat(filepath.Join(h.files, "shopping.txt")); err != nil {
		t.Error(err)
	}
	jobs, err := h.v.Jobs(context.Background(), 0, false, 10)
	if err != nil || len(jobs) != 2 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

func TestAskedAboutAnUnclearTimeNothingIsStored(t *testing.T) {
	h := newHousehold(t)
	if got := h.say("remind me on 31 february to pay"); !strings.Contains(got, "?") {
		t.Errorf("it says %q", got)
	}
	if jobs, err := h.v.Jobs(context.Background(), 0, false, 10); err != nil || len(jobs) != 0 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}
