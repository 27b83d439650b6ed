package inbox

import (
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

func (w *world) press(who, data string) vault.Inbound {
	in := w.message(who, data)
	in.Kind, in.PressedOn = "press", "m1"
	return in
}

func TestApproveDenyAndAlways(t *testing.T) {
	for command, tc := range map[string]struct {
		answer string
		state  string
		call   vault.CallState
	}{
		"/approve 1":        {"Approved: question 1 (run_command).", "approved", vault.Approved},
		"/approve #1":       {"Approved: question 1 (run_command).", "approved", vault.Approved},
		"/deny 1":           {"Denied: question 1 (run_command) is not done.", "denied", vault.Denied},
		"/answer 1 always":  {"Approved: question 1 (run_command), and from now on without asking. /rules lists that.", "approved", vault.Approved},
		"/answer 1 APPROVE": {"Approved: question 1 (run_command).", "approved", vault.Approved},
		"/answer 1 maybe":   {"Question 1 (run_command) takes one of: approve, deny, always. Answer with /answer 1 CHOICE.", "open", vault.Asking},
		"/answer 1":         {"Question 1 (run_command) takes one of: approve, deny, always. Answer with /answer 1 CHOICE.", "open", vault.Asking},
		"/approve 2":        {"There is no question 2.", "open", vault.Asking},
		"/approve":          {"Which one? Write it as /approve N. Open questions: 1 (run_command).", "open", vault.Asking},
		"/answer":           {"Which one? Write it as /answer N CHOICE. Open questions: 1 (run_command).", "open", vault.Asking},
	} {
		w := newWorld(t)
		n := w.question("call")
		w.want(ana, command, tc.answer)
		a, err := w.v.Approval(t.Context(), n)
		w.check(err)
		p, err := w.v.Progress(t.Context(), a.Run)
		w.check(err)
		if a.State != tc.state || p.Calls[0].State != tc.call {
			t.Errorf("%s: the question is %s, the call %s", command, a.State, p.Calls[0].State)
		}
	}
	w := newWorld(t)
	w.want(ana, "/deny", "Which one? Write it as /deny N. No question is open.")
}

func TestAnswerOfAnUnknownOutcome(t *testing.T) {
	w := newWorld(t)
	w.question("unknown")
	w.want(ana, "/approve 1", "Question 1 (run_command) takes one of: again, worked, drop. Answer with /answer 1 CHOICE.")
	w.ask(ana, "/pause")
	w.want(ana, "/answer 1 worked", "Answered question 1 (run_command) with worked. I am paused: it goes on after /resume.")
	w.want(ana, "/answer 1 again", "Question 1 (run_command) is decided already: answered with worked by Ana on Fri 4 Dec 2026, 09:00 (Europe/Lisbon).")
}

// DUR-07: the tap works once; the second says what was decided, by whom, and when.
func TestDUR07SecondTapSaysItIsDecided(t *testing.T) {
	w := newWorld(t)
	n := w.question("call")
	first := w.hand(w.press(ana, "a:1:approve"))
	if said(first) != "Approved: question 1 (run_command)." || first[0].Approval != n || first[0].ReplyTo != "" {
		t.Errorf("first: %+v", first)
	}
	w.now = w.now.Add(time.Hour)
	second := w.hand(w.press(ana, "a:1:deny"))
	if said(second) != "Question 1 (run_command) is decided already: approved by Ana on Fri 4 Dec 2026, 09:00 (Europe/Lisbon)." || second[0].Approval != n {
		t.Errorf("second: %+v", second)
	}
	p := w.claim()
	if p.Calls[0].State != vault.Approved {
		t.Errorf("the call is %s", p.Calls[0].State)
	}
}

// DUR-08: an expired question says so and is not done; the same tap delivered again does nothing more.
func TestDUR08ExpiredOrRepeatedTaps(t *testing.T) {
	const expired = "Question 1 (run_command) has expired on Fri 4 Dec 2026, 10:00 (Europe/Lisbon): nobody had answered, so it was not done."
	w := newWorld(t)
	w.question("call")
	w.now = w.now.Add(time.Hour)
	tap := w.press(ana, "a:1:approve")
	if got := said(w.hand(tap)); got != expired {
		t.Errorf("the tap: %q", got)
	}
	if got := w.hand(tap); len(got) != 0 {
		t.Errorf("the same tap again: %q", said(got))
	}
	w.want(ana, "/approve 1", expired)
	if p := w.claim(); p.Calls[0].State != vault.Denied {
		t.Errorf("the call is %s", p.Calls[0].State)
	}
}

func TestDUR08ExpiredUnknownOutcomeClaimsNothing(t *testing.T) {
	w := newWorld(t)
	w.question("unknown")
	w.now = w.now.Add(2 * time.Hour)
	w.want(ana, "/answer 1 again", "Question 1 (run_command) has expired on Fri 4 Dec 2026, 10:00 (Europe/Lisbon): nobody had answered, so it may or may not have happened, and I do not repeat it.")
}

// SEC-02: only an owner's id decides, in whatever chat.
func TestSEC02MembersDecideNothing(t *testing.T) {
	w := newWorld(t)
	n := w.question("call")
	group := w.press(ben, "a:1:approve")
	group.Chat, group.ChatKind = "-100", vault.Group
	for _, in := range []vault.Inbound{w.press(ben, "a:1:approve"), w.press(ben, "a:9:approve"), group} {
		if got := said(w.hand(in)); got != "Only an owner can answer that." {
			t.Errorf("%+v: %q", in, got)
		}
	}
	for _, text := range []string{"/approve 1", "/deny 1", "/answer 1 always", "/approve", "/rules", "/rule drop 1", "/pause"} {
		w.want(ben, text, refusal)
		if got := said(w.hand(w.inGroup(ben, text))); got != refusal {
			t.Errorf("%s in the group: %q", text, got)
		}
	}
	stranger := w.press(eve, "a:1:approve")
	if got := w.hand(stranger); len(got) != 0 {
		t.Errorf("a stranger's tap: %q", said(got))
	}
	if a, err := w.v.Approval(t.Context(), n); err != nil || a.State != "open" {
		t.Fatalf("the question is %s (%v)", a.State, err)
	}
	owner := w.press(ana, "a:1:approve")
	owner.Chat, owner.ChatKind = "-100", vault.Group
	if got := said(w.hand(owner)); !strings.HasPrefix(got, "Approved") {
		t.Errorf("the owner's tap in the group: %q", got)
	}
}

func TestOddButtons(t *testing.T) {
	w := newWorld(t)
	for _, data := range []string{"", "x", "a:1", "a:x:y", "a:0:y", "b:1:approve"} {
		if got := said(w.hand(w.press(ana, data))); got != "I do not know that button any more." {
			t.Errorf("%q: %q", data, got)
		}
	}
}

func TestRules(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/rules", "No rules. Answering a question with always makes one.")
	w.question("call")
	w.ask(ana, "/answer 1 always")
	w.want(ana, "/rules", "1 · run_command without asking, for Ana in private chats (by Ana on Fri 4 Dec 2026, 09:00 (Europe/Lisbon))\n/rule drop N ends one.")
	for _, text := range []string{"/rule", "/rule drop", "/rule 1", "/rule keep 1"} {
		w.want(ana, text, "Write it as /rule drop N, for example /rule drop 2. /rules lists the numbers.")
	}
	w.want(ana, "/rule drop 2", "There is no rule 2. /rules lists them.")
	w.want(ana, "/rule Drop #1", "Rule 1 is ended: I ask again before run_command.")
	w.want(ana, "/rule drop 1", "There is no rule 1. /rules lists them.")
}
