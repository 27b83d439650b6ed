package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A backup that is made while the daemon works holds all of it, the last minute included, and a second home takes it up.
func TestDUR11ABackupOfALiveVaultIsWhole(t *testing.T) {
	h := newHome(t, "", "")
	h.daemon()
	ana := h.open("Ana")
	const facts = 200
	for n := range facts {
		ana.ask("remember that box "+strconv.Itoa(n)+" is full", fmt.Sprint("m", n))
	}
	ana.ask("remind me tomorrow at 9 to move the boxes", "last")
	copied := filepath.Join(h.dir, "copy.tar")
	h.ok("backup", copied)
	ana.ask("remember that this is later than the backup", "later")

	other := newHome(t, "", "")
	other.ok("restore", copied)
	other.daemon()
	memories, jobs := ask(other, viewMemory, query{Limit: everything}), ask(other, viewJobs, query{})
	if len(memories) != facts || len(jobs) != 1 || !strings.Contains(string(jobs[0].Text), "move the boxes") {
		t.Errorf("%d memories and the reminders %+v", len(memories), jobs)
	}
	for _, m := range memories {
		if strings.Contains(string(m.Text), "later") {
			t.Errorf("the copy holds what came after it: %q", m.Text)
		}
	}
}

// What an owner pinned stands in the prompt however long the talk has become, and the program asks before it writes to
// anybody, whatever the model thinks.
func TestLOOP23ARuleOutlivesTheTalk(t *testing.T) {
	const rule = "Never write to my boss without asking"
	ana := newPhone(t)
	model := newModelServer(t, func(p prompt) reply {
		switch {
		case p.says("write to Boss"):
			return use("send", map[string]any{"person": "Boss", "text": "I am ill"})
		case p.result():
			return words("As you say.")
		}
		return words("chat " + strings.Repeat("word ", 60))
	})
	h := newHome(t, "", strings.Replace(ana.settings(strings.Replace(model.settings(""), "model: one}", "model: one, context: 4096}", 1)),
		"telegram: 4242}]", "telegram: 4242}, {name: Boss, telegram: 77}]", 1))
	h.daemon()
	ana.ask("/remember " + rule)
	ana.ask("/pin 1")
	for n := range 60 {
		ana.ask(fmt.Sprint("small talk ", n, strings.Repeat(" padding", 30)))
	}
	asked := ana.ask("write to Boss that I am ill")
	if !strings.Contains(asked.Text, "May I do this? send") || len(asked.Buttons) == 0 {
		t.Errorf("it does not ask: %q", asked.Text)
	}
	prompts := model.asked()
	last := prompts[len(prompts)-1]
	seen := false
	for _, m := range last.Messages {
		seen = seen || strings.Contains(m.Content, rule)
	}
	if !seen {
		t.Error("the rule is not in the prompt any more")
	}
	if got := ana.api.Shown(77); len(got) != 0 {
		t.Errorf("the boss reads %v", got)
	}
}
