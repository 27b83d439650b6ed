package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
	"hearth/vault"
)

// An evening on the phone, through the real program: pairing, talk, a reminder, a follow-up the day after, a page, a file,
// memory, a stop, another model by one line of the configuration, and a stranger.
func TestAnEveningOnThePhone(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><head><title>Tides</title></head><body><article><h1>Tides</h1><p>High water is at 21:14 tonight, says the harbour master of Cascais.</p></article></body></html>")
	}))
	defer page.Close()
	ana := newPhone(t)
	hanging, swapped := make(chan struct{}, 1), make(chan struct{})
	model := newModelServer(t, func(p prompt) reply {
		switch {
		case p.result() && p.tool() == "web_fetch" && strings.Contains(p.last(), "21:14"):
			return words("High water is at **21:14**.")
		case p.result() && p.tool() == "recall" && strings.Contains(p.last(), "allergic"):
			return words("Your sister is allergic to nuts.")
		case p.result():
			return words("All set, says " + p.Model + ".")
		case p.says("hello"):
			return words("**Good evening**, Ana. Try `/help` & <b>so on</b>.")
		case p.says("oven"):
			return use("remind", map[string]any{"when": "in 10 minutes", "text": "turn the oven off"})
		case p.says("boat tomorrow"):
			return use("follow_up", map[string]any{"when": "tomorrow at 9", "goal": "ask whether the boat is sold"})
		case p.says("whether the boat is sold"):
			return words("Is the boat sold?")
		case p.says("high water"):
			return use("web_fetch", map[string]any{"url": page.URL})
		case p.says("shopping list"):
			return use("write_file", map[string]any{"path": "shopping.txt", "content": "milk\nbread\n"})
		case p.says("my sister is allergic"):
			return use("remember", map[string]any{"fact": "Ana's sister is allergic to nuts"})
		case p.says("know about my sister"):
			return use("recall", map[string]any{"query": "sister"})
		case p.says("think hard"):
			hanging <- struct{}{}
			return reply{hang: true}
		case p.says("water the plants"):
			<-swapped
			return use("remember", map[string]any{"fact": "the plants want water"})
		}
		return words("I heard: " + p.last())
	})
	h := newHome(t, "", strings.Replace(ana.settings(model.settings("")), fmt.Sprintf(", telegram: %d", ana.who.ID), "", 1))
	h.edit("skills: {", "skills: {web: {allow_hosts: [127.0.0.1]}, ")
	evening := time.Date(2026, 12, 3, 18, 30, 0, 0, time.UTC)
	began := time.Now()
	ana.now = func() time.Time { return evening.Add(time.Since(began)) }
	h.clocked(evening.Format(time.RFC3339))
	h.daemon()

	// Strangers get one neutral line, and nothing of theirs reaches the model.
	eve := tgfake.Person{ID: 666, First: "Eve"}
	for _, words := range []string{"hello", "/status", "let me in"} {
		ana.api.Say(eve, words)
	}
	// Ana is one until she taps Start with the code.
	code := strings.Fields(h.ok("pair", "--person", "Ana"))[0]
	if paired := ana.ask("/start " + code); !strings.Contains(paired.Text, "Ana") {
		t.Fatalf("pairing: %q", paired.Text)
	}

	hello := ana.ask("hello")
	if hello.Text != "Good evening, Ana. Try /help & <b>so on</b>." && hello.Text != "Good evening, Ana. Try /help & so on." {
		t.Errorf("the greeting: %q", hello.Text)
	}
	if len(hello.Entities) < 2 || hello.Entities[0].Type != "bold" || !hello.PreviewOff {
		t.Errorf("its styles: %+v, preview off: %t", hello.Entities, hello.PreviewOff)
	}
	ana.say("the oven is on")
	ana.hears("Reminder 1: Thu 3 Dec 2026, 18:40")
	ana.say("come back to the boat tomorrow")
	ana.hears("Fri 4 Dec 2026, 09:00 (Europe/Lisbon)")
	ana.say("when is high water?")
	ana.hears("High water is at 21:14.")
	ana.say("write a shopping list")
	ana.hears("Wrote")
	if h.read("ws/shopping.txt") != "milk\nbread\n" {
		t.Errorf("the list: %q", h.read("ws/shopping.txt"))
	}
	ana.say("my sister is allergic to nuts")
	ana.hears("Noted")
	ana.say("what do you know about my sister?")
	ana.hears("Your sister is allergic to nuts.")

	// A stop takes at once, whatever the model does.
	ana.say("think hard")
	<-hanging
	eventually(t, "it is seen typing", func() bool { return len(ana.api.Calls("sendChatAction")) > 0 })
	ana.say("/stop")
	ana.hears("Stopped")

	// Another model by one line, while it works: the run goes on with it from its next step.
	ana.say("somebody must water the plants")
	eventually(t, "the first model is asked", func() bool {
		asked := model.asked()
		return strings.Contains(asked[len(asked)-1].last(), "plants")
	})
	h.edit("model: one, models", "model: two, models")
	eventually(t, "the other model is in use", func() bool { return ask(h, viewStatus, query{}).Model.InUse == "two" })
	close(swapped)
	ana.hears("All set, says two.")

	// Ten minutes later, and the day after.
	began, evening = time.Now(), evening.Add(10*time.Minute)
	h.setClock(evening.Format(time.RFC3339))
	if oven := ana.hears("Reminder 1: turn the oven off"); oven.Text != "Reminder 1: turn the oven off" {
		t.Errorf("the reminder: %q", oven.Text)
	}
	began, evening = time.Now(), time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)
	h.setClock(evening.Format(time.RFC3339))
	ana.hears("Is the boat sold?")
	ana.quiet(h)

	for _, once := range []string{"Good evening", "All set, says two", "21:14", "Wrote", "Your sister is allergic", "Is the boat sold?", "Stopped"} {
		if all, marked := ana.copies(once); all != 1 || marked != 0 {
			t.Errorf("%q is shown %d times, %d of them marked", once, all, marked)
		}
	}
	if got := ana.api.Shown(eve.ID); len(got) > 1 {
		t.Errorf("a stranger gets %d answers: %v", len(got), got)
	}
	for _, p := range model.asked() {
		for _, m := range p.Messages {
			if strings.Contains(m.Content, "let me in") || strings.Contains(m.Content, "Eve") {
				t.Errorf("the model reads a stranger: %q", m.Content)
			}
		}
	}
}

// The power goes at each point of an answer on Telegram. In the second life every message is answered, once or again with a
// mark, and what it asked for has happened once.
func TestKilledAtEveryPointOfAnEvening(t *testing.T) {
	for _, point := range []string{
		"before:accept", "after:accept", "before:claim", "after:claim", "after:context",
		"ask-model", "model-answered", "before:step", "after:step", "tool-start", "before:remember", "after:remember", "tool-end",
		"before:finish-call", "after:finish-call", "ask-model:2", "model-answered:2", "before:step:2", "after:step:2",
		"before:sending", "after:sending", "send", "sent", "before:sent", "after:sent",
		"after:accept:2", // in the second message
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			ana := newPhone(t)
			model := newModelServer(t, func(p prompt) reply {
				switch {
				case p.says("gate"):
					return use("remember", map[string]any{"fact": "the gate code is blue"})
				case p.result():
					return words("I keep the gate code.")
				}
				return words("And good night to you.")
			})
			h := newHome(t, "crashpoints", ana.settings(model.settings("")))
			ana.say("the gate code is blue")
			ana.say("good night")
			killed := h.begin([]string{crashVariable + "=" + point}, "run")
			if code := killed.wait(20 * time.Second); code != -1 {
				t.Fatalf("the daemon was not killed at %s but exits %d:\n%s", point, code, killed.log)
			}
			h.daemon()
			// The second message may join the first one's run, and share its answer.
			ana.hears("Noted (memory 1)")
			ana.hears("And good night to you.")
			ana.quiet(h)
			for _, answer := range []string{"Noted (memory 1)", "And good night to you."} {
				if all, marked := ana.copies(answer); all-marked > 1 || all > 2 {
					t.Errorf("%q is shown %d times, %d of them marked: %q", answer, all, marked, ana.texts())
				}
			}
			if facts := ask(h, viewMemory, query{}); len(facts) != 1 {
				t.Errorf("memories: %+v", facts)
			}
			for _, r := range ask(h, viewRuns, query{}) {
				if r.State != string(vault.Done) {
					t.Errorf("run %d is %s (%s)", r.ID, r.State, r.Reason)
				}
			}
		})
	}
}

// Telegram's front door is broken for 20 seconds just when the answer is to go out.
func TestTelegramIsBrokenAtReplyTime(t *testing.T) {
	t.Parallel()
	ana := newPhone(t)
	model := newModelServer(t, func(p prompt) reply {
		return words("An answer to: " + p.last()[strings.LastIndex(p.last(), "question"):])
	})
	h := newHome(t, "", ana.settings(model.settings("")))
	h.daemon()
	ana.api.Fault("sendMessage", -1, tgfake.BadGateway())
	ana.say("question one")
	eventually(t, "the answer is tried", func() bool { return len(ana.api.Calls("sendMessage")) > 0 })
	broken := time.NewTimer(20 * time.Second)
	ana.say("question two") // it waits behind the first
	<-broken.C
	if n := len(ana.api.Calls("sendMessage")); n > 10 {
		t.Errorf("%d tries in 20 s", n)
	}
	ana.api.Mend()
	ana.hears("question two")
	ana.quiet(h)
	for _, q := range []string{"question one", "question two"} {
		if all, marked := ana.copies(q); all != 1 || marked != 0 {
			t.Errorf("%s is answered %d times, %d of them marked: %q", q, all, marked, ana.texts())
		}
	}
	if texts := ana.texts(); len(texts) == 2 && !strings.Contains(texts[0], "one") {
		t.Errorf("out of order: %q", texts)
	}
}

// The model is away for 30 seconds just when a follow-up and a reminder come due.
func TestTheModelIsAwayWhenAFollowUpIsDue(t *testing.T) {
	t.Parallel()
	ana := newPhone(t)
	model := newModelServer(t, func(p prompt) reply {
		switch {
		case p.says("plumber tomorrow"):
			return use("follow_up", map[string]any{"when": "tomorrow at 9", "goal": "ask whether the pipe holds"})
		case p.says("whether the pipe holds"):
			return words("Does the pipe hold?")
		}
		return words("Fine.")
	})
	h := newHome(t, "", ana.settings(model.settings("")))
	evening, began := time.Date(2026, 12, 3, 18, 30, 0, 0, time.UTC), time.Now()
	ana.now = func() time.Time { return evening.Add(time.Since(began)) }
	h.clocked(evening.Format(time.RFC3339))
	h.daemon()
	ana.say("ask me about the plumber tomorrow")
	ana.hears("Fri 4 Dec 2026, 09:00")
	ana.ask("/remind tomorrow at 9, pay the plumber")
	ana.quiet(h)

	model.down()
	began, evening = time.Now(), time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)
	h.setClock(evening.Format(time.RFC3339))
	away := time.NewTimer(30 * time.Second)
	ana.hears("pay the plumber") // what only speaks needs no model
	<-away.C
	model.up()
	ana.hears("Does the pipe hold?")
	ana.quiet(h)
	if all, marked := ana.copies("Does the pipe hold?"); all != 1 || marked != 0 {
		t.Errorf("the follow-up comes %d times, %d of them marked: %q", all, marked, ana.texts())
	}
}
