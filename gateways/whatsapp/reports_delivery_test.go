package whatsapp

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"hearth/gateways/whatsapp/wafake"
	"hearth/vault"
)

// These tests are named after reports of users of other programs: what arrives, how often, and as what.

// The agent's own words came back to it in the chat with oneself, and it answered them without end. Here they are known by
// their id, before and after a restart, and also while nobody knows yet whether they have arrived.
func TestHermesAgent4273SelfChatDoesNotAnswerItself(t *testing.T) {
	w := newWorld(t, Self)
	stop := w.receive()
	w.link()
	w.decides()
	w.says(w.me, "hello")
	w.inbound(1)
	if _, err := w.vault.Post(t.Context(), vault.Part{To: w.to(w.me), Class: vault.Answer, Text: "noted"}); err != nil {
		t.Fatal(err)
	}
	answer := w.waits()[0]
	answer.Stable = w.gw.NewID()
	if err := w.vault.Sending(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	if _, err := w.gw.Send(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	w.hears(w.me, "noted")
	echo := func() {
		t.Helper()
		if _, err := w.phone(w.me).Say(w.me.PN, "noted", whatsmeow.SendRequestExtra{ID: answer.Stable}); err != nil {
			t.Fatal(err)
		}
	}
	says := func(text string, want int) { // a message to oneself may come twice; it is one all the same
		t.Helper()
		w.says(w.me, text)
		w.eventually(text+" is taken", func() bool { return len(w.runs()) >= want })
	}
	echo()
	if err := w.vault.Delivered(t.Context(), answer, answer.Stable); err != nil {
		t.Fatal(err)
	}
	echo()
	says("one more", 2)
	stop()
	w.gw = w.gateway(Self)
	w.receive()
	w.up()
	echo()
	says("the end", 3)
	for _, in := range w.inbound(3) {
		if in.Text == "noted" {
			t.Errorf("it took its own words: %+v", in)
		}
	}
	if n := len(w.runs()); n != 3 {
		t.Errorf("%d runs", n)
	}
}

// An agent with a number of its own took what that number wrote to itself for a message, answered there, and answered that.
func TestOpenclaw61108ADedicatedNumberDoesNotTalkToItself(t *testing.T) {
	w := linked(t, Dedicated)
	w.people(append(w.annOnly(), vault.Person{Name: "Hearth", Role: vault.Member, Identities: []vault.Identity{{Gateway: Name, Ext: "+" + w.me.PN.User}}})...)
	for _, to := range []types.JID{w.me.PN, w.me.LID, w.ann.PN} {
		w.sends(w.me, to, words("hello"))
	}
	w.says(w.ann, "the end")
	if in := w.inbound(1); len(in) != 1 || in[0].Text != "the end" {
		t.Errorf("%+v", in)
	}
}

// After each new connection the same message came once more, hundreds of times in all, and filled the conversation.
func TestOpenclaw61575ReplayedMessagesAreOne(t *testing.T) {
	w := linked(t, Dedicated)
	w.decides()
	id := w.says(w.ann, "hello")
	const replays = 5
	for n := range replays {
		w.inbound(n + 1)
		w.reconnects()
		if _, err := w.phone(w.ann).Say(w.me.PN, "hello", whatsmeow.SendRequestExtra{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	w.inbound(replays + 1)
	w.says(w.ann, "the end")
	w.comes("the end")
	runs := w.runs()
	if len(runs) != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	p, err := w.vault.Progress(t.Context(), runs[1].ID)
	if err != nil || len(p.Messages) != 1 {
		t.Errorf("the run holds %d messages, %v", len(p.Messages), err)
	}
	if parts := w.waits(); len(parts) != 0 {
		t.Errorf("it says %+v", parts)
	}
}

// What people wrote while the line was down, the program running, was taken for old history and dropped.
func TestOpenWA1660WhatCameWhileTheLineWasDown(t *testing.T) {
	w := linked(t, Dedicated, inGroups(groupsAll))
	group := w.server.AddGroup("Family", true, w.me, w.ann)
	w.phone(w.ann) // its line stays
	w.server.Down(true)
	w.server.Cut(w.deviceOf())
	w.eventually("the line is down", func() bool { return !w.server.Online(w.deviceOf()) })
	for _, text := range []string{"a", "b"} {
		w.says(w.ann, text)
	}
	w.sends(w.ann, group, words("c"))
	w.server.Down(false)
	w.up()
	for i, in := range w.inbound(3) {
		if in.Text != string(rune('a'+i)) {
			t.Errorf("message %d is %q", i, in.Text)
		}
	}
	w.eventually("all is acknowledged", func() bool { return w.server.Waiting(w.deviceOf()) == 0 })
}

// The first message to somebody new often could not be read by them: a phone that asks for it again gets it, more than once.
func TestWhatsmeow160FirstMessageIsSentUntilItCanBeRead(t *testing.T) {
	w := linked(t, Dedicated)
	w.phone(w.ann)
	var sent atomic.Int32
	w.server.OnSend(func(from types.JID, _ string) wafake.Fate {
		return wafake.Fate{Garble: from.User == w.me.PN.User && sent.Add(1) <= 3}
	})
	p := w.part(w.to(w.ann), "readable in the end")
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	m, text, err := w.phone(w.ann).Hear(hearLimit)
	if err != nil || text != p.Text || m.Info.ID != p.Stable || sent.Load() != 4 {
		t.Errorf("%q, %v, after %d times", text, err, sent.Load())
	}
}

// People whom the number had long talked with could not be written to either (error 463). It is tried once, and what the
// owner is told is true of them too.
func TestBaileys2688ReachOutLockOfSomebodyWhoWrote(t *testing.T) {
	w := linked(t, Dedicated)
	w.decides()
	w.says(w.ann, "hello")
	w.inbound(1)
	if _, err := w.vault.Post(t.Context(), vault.Part{To: w.to(w.ann), Class: vault.Answer, Text: "hello Ann"}); err != nil {
		t.Fatal(err)
	}
	p := w.waits()[0]
	p.Stable = w.gw.NewID()
	w.server.OnSend(func(types.JID, string) wafake.Fate { return wafake.Fate{Error: reachOut} })
	e := w.fails(p)
	if e.Outcome != vault.Refused || !strings.Contains(e.Human, "until they next write") {
		t.Errorf("%v", e)
	}
	if err := w.vault.Undelivered(t.Context(), p, e.Outcome, e.Human, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for _, again := range w.waits() {
		if again.ID == p.ID {
			t.Error("it would be tried again")
		}
	}
	if n := w.written(); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	w.server.OnSend(nil)
	if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "and now?")); err != nil {
		t.Errorf("once the lock is off: %v", err)
	}
}

// Numbers that send in bursts are banned: two messages are a while apart, to whomever they go.
func TestBaileys1869MessagesKeepTheirDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		var mu sync.Mutex
		var at []time.Duration
		began := time.Now()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if err := p.wait(t.Context(), time.Second); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				at = append(at, time.Since(began))
			})
		}
		all.Wait()
		for i, when := range at {
			if i > 0 && (when-at[i-1] < time.Second || when-at[i-1] > 1500*time.Millisecond) {
				t.Errorf("message %d goes out at %v, the one before at %v", i, when, at[i-1])
			}
		}
	})
	const gap = 300 * time.Millisecond
	w := linked(t, Dedicated, func(g *Gateway) { g.limits.gap = gap })
	w.phone(w.ann)
	var mu sync.Mutex
	var at []time.Time
	w.server.OnSend(func(types.JID, string) wafake.Fate {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		return wafake.Fate{}
	})
	for range 2 {
		if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "hello")); err != nil {
			t.Fatal(err)
		}
	}
	if len(at) != 2 || at[1].Sub(at[0]) < gap/2 { // the first one took longer on its way: it needed keys
		t.Errorf("they went out at %v", at)
	}
}

// Long answers failed without a word. Here they come whole, in several messages, in order.
func TestOpencodeChatBridge21LongAnswersArrive(t *testing.T) {
	w := linked(t, Dedicated)
	w.decides()
	w.says(w.ann, "tell me everything")
	w.inbound(1)
	var long strings.Builder
	const lines = 400
	for n := range lines {
		fmt.Fprintf(&long, "Line %d is about the **garden**, what grows there, and when.\n", n)
	}
	if _, err := w.vault.Post(t.Context(), vault.Part{To: w.to(w.ann), Class: vault.Answer, Text: long.String()}); err != nil {
		t.Fatal(err)
	}
	whole := w.waits()[0]
	if err := w.vault.Split(t.Context(), whole, w.gw.Split(whole)); err != nil {
		t.Fatal(err)
	}
	var heard []string
	ids := map[types.MessageID]bool{}
	for parts := w.waits(); len(parts) > 0; parts = w.waits() {
		w.deliver(parts[0])
		m, text, err := w.phone(w.ann).Hear(hearLimit)
		if err != nil || len([]rune(text)) > textLimit {
			t.Fatalf("piece %d has %d letters, %v", len(heard), len([]rune(text)), err)
		}
		heard = append(heard, text)
		ids[m.Info.ID] = true
	}
	at := -1
	all := strings.Join(heard, "\n")
	for n := range lines {
		next := strings.Index(all, fmt.Sprintf("Line %d is about the *garden*, what grows there, and when.", n))
		if next <= at {
			t.Fatalf("line %d is missing, or at the wrong place", n)
		}
		at = next
	}
	if len(heard) < 5 {
		t.Errorf("it came in %d messages", len(heard))
	}
	t.Run("evolution-go#61", func(t *testing.T) { // of several messages under one id, the first alone arrived
		if len(ids) != len(heard) {
			t.Errorf("%d messages came under %d ids", len(heard), len(ids))
		}
	})
	t.Run("too long for one", func(t *testing.T) {
		if e := w.fails(w.part(w.to(w.ann), strings.Repeat("x", hardLimit+1))); e.Outcome != vault.Refused || !strings.Contains(e.Human, "too long") {
			t.Errorf("%v", e)
		}
	})
}

// Tables, lists and blocks of code were shown with the marks that they are written in.
func TestSynaplan268TablesAndCodeAreReadable(t *testing.T) {
	w := linked(t, Dedicated)
	w.says(w.ann, "compare them")
	if err := w.vaultTakes(w.inbound(1)[0]); err != nil {
		t.Fatal(err)
	}
	text := "## Result\n\n- **tea**: good\n- __milk__: better\n\n| What | Price |\n|------|------:|\n| tea | 2 |\n| milk | 1 |\n\n```python\nprint(1)\n```\n"
	if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), text)); err != nil {
		t.Fatal(err)
	}
	_, got, err := w.phone(w.ann).Hear(hearLimit)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"#", "**", "__", "|--", "--:", "```python"} {
		if strings.Contains(got, raw) {
			t.Errorf("%q is shown:\n%s", raw, got)
		}
	}
	for _, kept := range []string{"*Result*", "*tea*", "*milk*", "Price", "print(1)", "```"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q is lost:\n%s", kept, got)
		}
	}
}

// A voice note that is forwarded comes as plain audio, and nothing was done with it. Here it has its honest line like any
// other, and is never an order.
func TestHermesAgent105809ForwardedVoiceNoteIsAnswered(t *testing.T) {
	w := linked(t, Dedicated)
	w.decides()
	for n, m := range []*waE2E.AudioMessage{
		{PTT: proto.Bool(true), Mimetype: proto.String("audio/ogg; codecs=opus")},
		{Mimetype: proto.String("audio/ogg; codecs=opus"), ContextInfo: &waE2E.ContextInfo{IsForwarded: proto.Bool(true), ForwardingScore: proto.Uint32(1)}},
	} {
		w.sends(w.ann, w.me.PN, &waE2E.Message{AudioMessage: m})
		in := w.inbound(n + 1)[n]
		if want := []string{"voice", "audio"}[n]; in.Kind != want || in.Forwarded == "" != (n == 0) {
			t.Errorf("it came as %+v", in)
		}
		w.delivers([]string{"I cannot listen to voice notes yet", "I cannot listen to audio yet"}[n])
		w.hearsOf(w.ann, "I cannot listen to")
	}
}
