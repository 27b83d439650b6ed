package vault

import (
	"fmt"
	"testing"
	"time"
)

func TestAcceptStoresMessageAndRunTogether(t *testing.T) {
	h := newHome(t)
	in := h.says(h.ann, "hello")
	in.Forwarded, in.Quoted, in.Raw = "Eve", "what?", []byte(`{"raw":1}`)
	in.Sent = h.clock.now().Add(-time.Minute)
	acc := must(h.Accept(t.Context(), in, h.ann, 0))(t)
	p := h.progress(acc.Run)
	equal(t, "burst", acc.Burst, false)
	equal(t, "state", p.Run.State, Queued)
	equal(t, "where the answer goes", p.Run.To, Address{"telegram", "bot", in.Chat, ""})
	equal(t, "trigger", p.Run.Trigger, "message")
	equal(t, "person", p.Person.Name, "Ann")
	m := p.Messages[0]
	want := Message{ID: m.ID, Run: acc.Run, Step: -1, Pos: m.Pos, Role: "user", Person: h.ann.ID, Kind: "text", Text: "hello", Forwarded: "Eve", Quoted: "what?", Ext: in.ID, Sent: in.Sent, Received: h.clock.now()}
	equal(t, "message", m, want)
	equal(t, "raw", h.str(`SELECT raw FROM message`), `{"raw":1}`)
}

func TestAcceptTakesAMessageOnce(t *testing.T) {
	h := newHome(t)
	in := h.says(h.ann, "hello")
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	for range 2 {
		_, err := h.Accept(t.Context(), in, h.ann, 0)
		wantErr(t, err, ErrRepeat)
	}
	h.reopen()
	_, err := h.Accept(t.Context(), in, h.ann, time.Second)
	wantErr(t, err, ErrRepeat)
	equal(t, "messages", h.count(`SELECT count(*) FROM message`), 1)
	equal(t, "runs", h.count(`SELECT count(*) FROM run`), 1)

	// An id repeats between chats, senders, bots and messengers; each of those is another message.
	for _, change := range []func(*Inbound){
		func(in *Inbound) { in.Chat = "-100" },
		func(in *Inbound) { in.Account = "other bot" },
		func(in *Inbound) { in.Gateway = "whatsapp" },
		func(in *Inbound) { in.Sender = "12" },
		func(in *Inbound) { in.ID = "m2" },
	} {
		other := in
		change(&other)
		must(h.Accept(t.Context(), other, h.ann, 0))(t)
	}
	equal(t, "messages", h.count(`SELECT count(*) FROM message`), 6)
}

func TestLOOP04FiveShortMessagesMakeOneRun(t *testing.T) {
	h := newHome(t)
	var run int64
	for i := range 5 {
		acc := must(h.Accept(t.Context(), h.says(h.ann, fmt.Sprint("part ", i)), h.ann, 800*time.Millisecond))(t)
		if i == 0 {
			run = acc.Run
		}
		equal(t, "run", acc.Run, run)
		equal(t, "burst", acc.Burst, i > 0)
		_, err := h.Claim(t.Context())
		wantErr(t, err, ErrIdle)
		h.clock.add(400 * time.Millisecond)
	}
	equal(t, "next ready", must(h.NextReady(t.Context()))(t), h.clock.now().Add(400*time.Millisecond))
	h.clock.add(400 * time.Millisecond)
	p := h.claim()
	equal(t, "messages", len(p.Messages), 5)
	for i, m := range p.Messages {
		equal(t, "order", m.Text, fmt.Sprint("part ", i))
	}
	equal(t, "runs", h.count(`SELECT count(*) FROM run`), 1)
}

func TestBurstEndsAfterFourSeconds(t *testing.T) {
	h := newHome(t)
	begun := h.clock.now()
	first := must(h.Accept(t.Context(), h.says(h.ann, "0"), h.ann, 800*time.Millisecond))(t)
	for range 8 { // somebody who never stops typing
		h.clock.add(500 * time.Millisecond)
		must(h.Accept(t.Context(), h.says(h.ann, "more"), h.ann, 800*time.Millisecond))(t)
	}
	equal(t, "ready", h.progress(first.Run).Run.Ready, begun.Add(4*time.Second))
	equal(t, "messages of the first run", len(h.progress(first.Run).Messages), 8)
	equal(t, "runs", h.count(`SELECT count(*) FROM run`), 2) // the one at 4.0 s came too late
}

func TestWhatMakesABurst(t *testing.T) {
	const burst = 800 * time.Millisecond
	for name, c := range map[string]struct {
		wait   time.Duration
		burst  time.Duration
		change func(h *home, in *Inbound)
		want   bool
	}{
		"close together":            {wait: 500 * time.Millisecond, burst: burst, want: true},
		"too late":                  {wait: burst, burst: burst},
		"off":                       {burst: 0},
		"other thread":              {burst: burst, change: func(_ *home, in *Inbound) { in.Thread = "5" }},
		"other account":             {burst: burst, change: func(_ *home, in *Inbound) { in.Account = "b2" }},
		"other gateway":             {burst: burst, change: func(_ *home, in *Inbound) { in.Gateway = "whatsapp" }},
		"other chat":                {burst: burst, change: func(_ *home, in *Inbound) { in.Chat = "7" }},
		"sent within a second more": {burst: burst, change: func(_ *home, in *Inbound) { in.Sent = in.Sent.Add(burst + time.Second) }, want: true},
		// After an hour offline everything arrives in one go, and is still many thoughts.
		"sent far apart": {burst: burst, change: func(_ *home, in *Inbound) { in.Sent = in.Sent.Add(burst + time.Second + time.Millisecond) }},
		"sent earlier":   {burst: burst, change: func(_ *home, in *Inbound) { in.Sent = in.Sent.Add(-time.Minute) }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			must(h.Accept(t.Context(), h.says(h.ann, "one"), h.ann, c.burst))(t)
			in := h.says(h.ann, "two")
			h.clock.add(c.wait)
			if c.change != nil {
				c.change(h, &in)
			}
			equal(t, "burst", must(h.Accept(t.Context(), in, h.ann, c.burst))(t).Burst, c.want)
		})
	}
	t.Run("other sender in the same group", func(t *testing.T) {
		h := newHome(t)
		must(h.Accept(t.Context(), h.saysIn("-5", h.ann, "one"), h.ann, burst))(t)
		equal(t, "burst", must(h.Accept(t.Context(), h.saysIn("-5", h.bob, "two"), h.bob, burst))(t).Burst, false)
		equal(t, "burst", must(h.Accept(t.Context(), h.saysIn("-5", h.ann, "three"), h.ann, burst))(t).Burst, true)
	})
	t.Run("never with a run in hand", func(t *testing.T) {
		h := newHome(t)
		first := must(h.Accept(t.Context(), h.says(h.ann, "one"), h.ann, burst))(t)
		h.clock.add(burst)
		h.claim()
		h.clock.add(-burst / 2) // not even when the clock goes back
		acc := must(h.Accept(t.Context(), h.says(h.ann, "two"), h.ann, burst))(t)
		if acc.Run == first.Run || acc.Burst {
			t.Errorf("joined run %d: %+v", first.Run, acc)
		}
	})
}

func edited(in Inbound, words string, at int64) Inbound {
	in.Text, in.EditTime = words, at
	return in
}

func TestEdit(t *testing.T) {
	h := newHome(t)
	in := h.says(h.ann, "at five")
	run := must(h.Accept(t.Context(), in, h.ann, 0))(t).Run

	t.Run("what no model has seen is replaced", func(t *testing.T) {
		for i, words := range []string{"at six", "at seven"} {
			equal(t, "run", must(h.Accept(t.Context(), edited(in, words, int64(10+i)), h.ann, 0))(t).Run, run)
		}
		p := h.progress(run)
		equal(t, "messages", len(p.Messages), 1)
		equal(t, "text", p.Messages[0].Text, "at seven")
		equal(t, "marked as edited", p.Messages[0].Edited, false)
	})
	t.Run("neither the first words nor an older edit come back", func(t *testing.T) {
		for _, again := range []Inbound{in, edited(in, "at six", 10), edited(in, "at seven", 11), edited(in, "at seven", 12)} {
			_, err := h.Accept(t.Context(), again, h.ann, 0)
			wantErr(t, err, ErrRepeat)
		}
		equal(t, "text", h.progress(run).Messages[0].Text, "at seven")
		equal(t, "runs", h.count(`SELECT count(*) FROM run`), 1)
	})
	t.Run("what a running run has seen is corrected", func(t *testing.T) {
		p := h.claim()
		h.step(p, StepDone{Step: Step{Text: "thinking"}})
		equal(t, "run", must(h.Accept(t.Context(), edited(in, "at eight", 20), h.ann, 0))(t).Run, run)
		p = h.progress(run)
		equal(t, "messages", len(p.Messages), 2)
		equal(t, "first text", p.Messages[0].Text, "at seven")
		equal(t, "first seen", p.Messages[0].Step, 0)
		equal(t, "second text", p.Messages[1].Text, "at eight")
		equal(t, "second edited", p.Messages[1].Edited, true)
		equal(t, "second seen", p.Messages[1].Step, -1)
		_, err := h.Accept(t.Context(), edited(in, "at eight", 20), h.ann, 0)
		wantErr(t, err, ErrRepeat)
	})
	t.Run("a preview added to it is no news", func(t *testing.T) {
		_, err := h.Accept(t.Context(), edited(in, "at eight", 21), h.ann, 0)
		wantErr(t, err, ErrRepeat)
	})
	t.Run("after its end it is only stored", func(t *testing.T) {
		check(t, h.EndRun(t.Context(), run, Ending{State: Done, Reply: "ok"}))
		equal(t, "run", must(h.Accept(t.Context(), edited(in, "at nine", 30), h.ann, 0))(t).Run, 0)
		equal(t, "stored", h.count(`SELECT count(*) FROM message WHERE text = 'at nine' AND run_id IS NULL AND raw IS NULL`), 1)
		_, err := h.Claim(t.Context())
		wantErr(t, err, ErrIdle)
	})
	t.Run("of something never seen it is only stored", func(t *testing.T) {
		equal(t, "run", must(h.Accept(t.Context(), edited(h.says(h.ann, ""), "old", 40), h.ann, 0))(t).Run, 0)
	})
	t.Run("a waiting run is corrected too", func(t *testing.T) {
		in := h.says(h.ann, "send it")
		must(h.Accept(t.Context(), in, h.ann, 0))(t)
		p := h.claim()
		h.step(p, StepDone{Park: true, Calls: []Call{{Tool: "send", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: []string{"approve", "deny"}}}}})
		equal(t, "run", must(h.Accept(t.Context(), edited(in, "no, do not", 50), h.ann, 0))(t).Run, p.Run.ID)
		equal(t, "messages", len(h.progress(p.Run.ID).Messages), 2)
	})
}

func TestRawIsDroppedWhenTheRunEnds(t *testing.T) {
	h := newHome(t)
	raw := func(in Inbound) Inbound { in.Raw = []byte("raw"); return in }
	left := func() int { return h.count(`SELECT count(*) FROM message WHERE raw IS NOT NULL`) }
	for _, end := range []func(p Progress){
		func(p Progress) {
			check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Failed, Reason: "x", Reply: "sorry"}))
		},
		func(p Progress) { h.step(p, StepDone{End: &Ending{State: Done, Reply: "ok"}}) },
		func(p Progress) {
			h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
		},
	} {
		must(h.Accept(t.Context(), raw(h.says(h.ann, "hello")), h.ann, 0))(t)
		equal(t, "raw", left(), 1)
		end(h.claim())
		equal(t, "raw after the end", left(), 0)
	}
	// A command has no run that ends.
	check(t, h.Command(t.Context(), raw(h.says(h.ann, "/remember x")), h.ann, func(*Tx, Conversation) ([]Part, error) { return nil, nil }))
	equal(t, "raw of a command", left(), 0)
}
