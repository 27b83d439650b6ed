package vault

import (
	"testing"
	"time"
)

// learnedFrom reads a conversation with given facts, and gives how many memories there are then.
func (h *home) learnedFrom(c int64, facts ...Fact) int {
	h.t.Helper()
	u := must(h.Unlearned(h.t.Context(), c, time.Time{}, 100))(h.t)
	check(h.t, h.Learn(h.t.Context(), Learned{Conversation: c, From: u.From, UpTo: u.UpTo, Facts: facts}))
	return h.count(`SELECT count(*) FROM memory`)
}

func TestATalkIsQuietWhenNobodySpeaks(t *testing.T) {
	h := newHome(t)
	quiet := func() int { return len(must(h.Quiet(t.Context(), h.clock.now().Add(-10*time.Minute)))(t)) }
	equal(t, "an empty vault", quiet(), 0)
	p := h.claimed(h.ann, "I have a red boat")
	h.clock.add(time.Hour)
	equal(t, "while it is worked on", quiet(), 0)
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "Nice."}))
	equal(t, "just answered", quiet(), 0)
	h.clock.add(10 * time.Minute)
	equal(t, "at rest", quiet(), 1)
	other := h.claimed(h.bob, "hello there")
	equal(t, "somebody else's talk", quiet(), 1)
	check(t, h.EndRun(t.Context(), other.Run.ID, Ending{State: Done, Reply: "Hi."}))
	c := p.Conversation.ID
	u := must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t)
	equal(t, "lines", len(u.Lines), 1)
	equal(t, "what the program said moves it on", u.UpTo > u.Lines[0].Pos, true)
	equal(t, "learned", h.learnedFrom(c), 0)
	h.clock.add(time.Hour)
	equal(t, "read; Bob's is not", quiet(), 1)
	forward := h.says(h.ann, "Eve has a red boat")
	forward.Forwarded = "Eve"
	must(h.Accept(t.Context(), forward, h.ann, 0))(t)
	check(t, h.EndRun(t.Context(), h.claim().Run.ID, Ending{State: Done}))
	_ = h.learnedFrom(other.Conversation.ID)
	h.clock.add(time.Hour)
	equal(t, "nothing of a person's own", quiet(), 0)
}

// A reading moves on by pages; what is old or lost words is passed by.
func TestUnlearnedIsReadInPages(t *testing.T) {
	h := newHome(t)
	c := h.claimed(h.ann, "the first line").Conversation.ID
	for _, words := range []string{"the second line", "what is [forgotten] here", "the last line"} {
		h.clock.add(time.Hour)
		h.accept(h.ann, words)
	}
	u := must(h.Unlearned(t.Context(), c, time.Time{}, 2))(t)
	equal(t, "a page", len(u.Lines), 2)
	equal(t, "up to", u.UpTo, u.Lines[1].Pos)
	equal(t, "the newest", u.Newest.Equal(h.clock.now()), true)
	check(t, h.Learn(t.Context(), Learned{Conversation: c, From: u.From, UpTo: u.UpTo}))
	u = must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t)
	equal(t, "without the blanked one", len(u.Lines), 1)
	equal(t, "the rest", u.Lines[0].Text, "the last line")
	u = must(h.Unlearned(t.Context(), c, h.clock.now().Add(time.Minute), 100))(t)
	equal(t, "too old", len(u.Lines), 0)
	equal(t, "learned", h.learnedFrom(c), 0)
	u = must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t)
	equal(t, "nothing is left", u.From, u.UpTo)
}

// What a reading came to is checked against the vault as it is when it is kept.
func TestMEM13EachFactStandsInAPersonsOwnLine(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "my boat is red and lies in Faro")
	own, c := p.Messages[0].ID, p.Conversation.ID
	message := func(in Inbound, from Person) int64 {
		return h.progress(must(h.Accept(t.Context(), in, from, 0))(t).Run).Messages[0].ID
	}
	forward := h.says(h.ann, "the boat of Eve is red")
	forward.Forwarded = "Eve"
	forwarded := message(forward, h.ann)
	bobs := message(h.says(h.bob, "my boat is red"), h.bob)
	gone := message(h.says(h.ann, "my [forgotten] boat is red"), h.ann)
	fact := func(message int64) Fact { return Fact{Kind: "fact", Text: "Ann's boat is red", Message: message} }
	u := must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t)
	l := Learned{Conversation: c, From: u.From, UpTo: u.UpTo, Facts: []Fact{
		fact(0), fact(99), fact(forwarded), fact(bobs), fact(gone), {Kind: "rule", Text: "Ann's boat is red", Message: own}, {Kind: "fact", Text: "Ann sells balloons", Message: own}, {Kind: "fact", Message: own},
	}}
	early := l
	early.From, early.UpTo, early.Facts = l.From+1, l.UpTo+1, []Fact{fact(own)}
	check(t, h.Learn(t.Context(), early)) // overtaken
	equal(t, "kept by one that was overtaken", h.count(`SELECT count(*) FROM memory`), 0)
	equal(t, "and it moves nothing", must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t).From, u.From)
	check(t, h.Learn(t.Context(), l))
	equal(t, "kept", h.count(`SELECT count(*) FROM memory`), 0)
	equal(t, "read", must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t).From, u.UpTo)
	// The same line again, by a later reading: it is behind.
	equal(t, "kept of a line that was read", h.learnedFrom(c, fact(own)), 0)
	again := message(h.says(h.ann, "as I said, the boat is red"), h.ann)
	equal(t, "kept", h.learnedFrom(c, fact(again)), 1)
	m := must(h.Memory(t.Context(), h.private(h.ann), 1))(t)
	equal(t, "source", m.Source, "extracted")
	equal(t, "message", m.SourceMessage, again)
	equal(t, "person", m.Person, h.ann.ID)
}

func TestMEM13SoMuchIsLearnedInADay(t *testing.T) {
	h := newHome(t)
	c := h.private(h.ann).Conversation
	day := func() int {
		for range 4 {
			run := h.accept(h.ann, "a b c d e f g h i boat0 boat1 boat2 boat3 boat4 boat5 boat6 boat7 boat8 boat9")
			msg := h.progress(run).Messages[0].ID
			var facts []Fact
			for range 10 {
				facts = append(facts, Fact{Kind: "fact", Text: "boat" + string(rune('0'+len(facts))) + " of " + string(rune('a'+run)) + "z", Message: msg})
			}
			h.learnedFrom(c, facts...)
		}
		return h.count(`SELECT count(*) FROM memory`)
	}
	run := h.accept(h.ann, "hello boats")
	equal(t, "of no facts", h.learnedFrom(c), 0)
	check(t, h.EndRun(t.Context(), h.claim().Run.ID, Ending{State: Done}))
	_ = run
	equal(t, "in a day", day(), maxLearnedDay)
	h.clock.add(25 * time.Hour)
	equal(t, "in two", day(), 2*maxLearnedDay)
}

// What a reading may replace: what it is about, of the same person, told before.
func TestMEM04AReadingReplacesOnlyWhatItIsAbout(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	c := in.Conversation
	porto := h.remember(in, "I live in Porto")
	h.do(func(tx *Tx) error { _, err := tx.Pin(in, porto.ID, true); return err })
	car := h.remember(in, "my car is blue")
	rule, _, err := h.Remember(t.Context(), Memory{Text: "never say where I live", Kind: "rule", Source: "command"}, in)
	check(t, err)
	learn := func(words, text string, replaces int64) Memory {
		t.Helper()
		h.clock.add(time.Minute)
		msg := h.progress(h.accept(h.ann, words)).Messages[0].ID
		h.clock.add(time.Minute)
		h.learnedFrom(c, Fact{Kind: "fact", Text: text, Message: msg, Replaces: replaces})
		return must(h.Memories(t.Context(), h.ann.ID, 1))(t)[0]
	}
	replaced := func(number int64) int64 { return must(h.Memory(t.Context(), in, number))(t).SupersededBy }
	_ = learn("I have moved to Faro and live there", "Ann lives in Faro", car.ID)
	equal(t, "the car is another thing", replaced(car.ID), int64(0))
	_ = learn("we live in Faro with Tom", "Ann and Tom live in Faro", rule.ID)
	equal(t, "a rule stays", replaced(rule.ID), int64(0))
	lisbon := learn("no, I live in Lisbon now", "Ann lives in Lisbon", porto.ID)
	equal(t, "Porto is history", replaced(porto.ID), lisbon.ID)
	equal(t, "what was pinned still is", must(h.Pinned(t.Context(), in))(t)[0].ID, lisbon.ID)

	// A line that was written before something was told does not overrule it.
	msg := h.progress(h.accept(h.ann, "my car is green, I think")).Messages[0].ID
	h.clock.add(time.Minute)
	told := h.remember(in, "my car is yellow")
	h.learnedFrom(c, Fact{Kind: "fact", Text: "Ann's car is green", Message: msg, Replaces: told.ID})
	equal(t, "what was told later stays", replaced(told.ID), int64(0))

	// In a group nobody's line replaces what another one said.
	group := h.inGroup("-5", h.bob)
	bobs := h.remember(group, "Bob likes tea")
	h.clock.add(time.Minute)
	acc := must(h.Accept(t.Context(), h.saysIn("-5", h.ann, "no tea for me, I like coffee"), h.ann, 0))(t)
	h.learnedFrom(group.Conversation, Fact{Kind: "preference", Text: "Ann likes coffee, no tea", Message: h.progress(acc.Run).Messages[0].ID, Replaces: bobs.ID})
	equal(t, "Bob's stays", must(h.Memory(t.Context(), group, bobs.ID))(t).SupersededBy, int64(0))
	equal(t, "and Ann's is there", len(h.recall(group, "coffee")), 1)
}

// The facts, and how far the talk was read, are one event with the end of the work.
func TestAReadingEndsInOneCommit(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "my boat is red")
	c, msg := p.Conversation.ID, p.Messages[0].ID
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "Nice."}))
	check(t, h.QueueTask(t.Context(), c, TaskFacts, 0))
	task := h.claim()
	u := must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t)
	done := TaskDone{Learned: &Learned{Conversation: c, From: u.From, UpTo: u.UpTo, Facts: []Fact{{Kind: "fact", Text: "Ann's boat is red", Message: msg}}}}
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`UPDATE run SET state = 'stopped' WHERE id = ?`, task.Run.ID)
		return err
	})
	wantErr(t, h.EndTask(t.Context(), task.Run.ID, done), ErrNotRunning)
	equal(t, "kept by one that was stopped", h.count(`SELECT count(*) FROM memory`), 0)
	equal(t, "read", must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t).From, u.From)
	check(t, h.QueueTask(t.Context(), c, TaskFacts, 0))
	check(t, h.EndTask(t.Context(), h.claim().Run.ID, done))
	equal(t, "kept", h.count(`SELECT count(*) FROM memory`), 1)
	equal(t, "read to the end", must(h.Unlearned(t.Context(), c, time.Time{}, 100))(t).From, u.UpTo)
}
