package vault

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func to(chat string) Address { return Address{Gateway: "telegram", Account: "bot", Chat: chat} }

func (h *home) post(p Part) Part {
	h.t.Helper()
	if p.To == (Address{}) {
		p.To = to("1")
	}
	if p.Class == "" {
		p.Class = Notice
	}
	number := must(h.Post(h.t.Context(), p))(h.t)
	return h.part(number)
}

func (h *home) part(number int64) Part {
	h.t.Helper()
	return must(one(h.t.Context(), h.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE id = ?`, number))(h.t)
}

// texts gives the words of parts.
func texts(parts []Part) (out []string) {
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return out
}

func (h *home) heads() []string {
	h.t.Helper()
	return texts(must(h.Heads(h.t.Context(), "telegram"))(h.t))
}

func wantTexts(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestPartKeepsAllItsFields(t *testing.T) {
	h := newHome(t)
	p := h.progress(h.accept(h.ann, "x"))
	due := h.clock.now().Add(-time.Hour)
	want := Part{
		Run: p.Run.ID, Job: 3, Conversation: p.Conversation.ID, Key: "k", To: Address{"telegram", "bot", "1", "7"}, Class: Reminder, Text: "words", Entities: "[]",
		Buttons: []Button{{"Yes", "a:1:yes"}}, ReplyTo: "m5", Due: due, Late: "I was off",
	}
	got := h.post(want)
	want.ID, want.State, want.Created = got.ID, "sending", h.clock.now()
	want.NextTry = time.UnixMilli(0).UTC()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestLanesGoInOrder(t *testing.T) {
	h := newHome(t)
	equal(t, "first of a free lane", h.post(Part{Text: "a1"}).State, "sending")
	equal(t, "behind another", h.post(Part{Text: "a2"}).State, "waiting")
	equal(t, "another chat", h.post(Part{Text: "b1", To: to("2")}).State, "sending")
	equal(t, "another gateway", h.post(Part{Text: "w1", To: Address{Gateway: "whatsapp", Chat: "1"}}).State, "sending")
	h.post(Part{Text: "a3"})
	wantTexts(t, "heads", h.heads(), "a1", "b1")
	lanes := must(h.Lanes(t.Context()))(t)
	slices.Sort(lanes)
	wantTexts(t, "lanes", lanes, "telegram", "whatsapp")

	wantTexts(t, "sent", texts(h.send()), "a1", "b1")
	wantTexts(t, "heads", h.heads(), "a2")
	// What cannot be sent just now holds back what is behind it.
	a2 := must(h.Heads(t.Context(), "telegram"))(t)[0]
	check(t, h.Sending(t.Context(), a2))
	again := h.clock.now().Add(30 * time.Second)
	check(t, h.Undelivered(t.Context(), a2, NotSent, "no network", again))
	head := must(h.Heads(t.Context(), "telegram"))(t)[0]
	equal(t, "head", head.Text, "a2")
	equal(t, "next try", head.NextTry, again)
	equal(t, "state", head.State, "waiting")
	equal(t, "attempts", head.Attempts, 1)
	equal(t, "marked", head.Marked, false)
	equal(t, "error", head.Error, "no network")
	wantTexts(t, "sent", texts(h.send()), "a2")
	equal(t, "attempts", h.part(a2.ID).Attempts, 2)
	equal(t, "error", h.part(a2.ID).Error, "")
	wantTexts(t, "sent", texts(h.send()), "a3")
	equal(t, "free again", h.post(Part{Text: "a4"}).State, "sending")
}

func TestKeyPostsOnce(t *testing.T) {
	h := newHome(t)
	first := h.post(Part{Key: "k", Text: "one"})
	equal(t, "second", must(h.Post(t.Context(), Part{Key: "k", Text: "two", To: to("1"), Class: Notice}))(t), 0)
	h.post(Part{Text: "no key"})
	h.post(Part{Text: "no key"})
	h.send()
	h.reopen()
	equal(t, "after it was sent", must(h.Post(t.Context(), Part{Key: "k", Text: "two", To: to("1"), Class: Notice}))(t), 0)
	equal(t, "parts", len(h.parts()), 3)
	equal(t, "text", h.part(first.ID).Text, "one")
	for range 2 {
		check(t, h.Tell(t.Context(), "told", "The disk is nearly full."))
	}
	equal(t, "parts", len(h.parts()), 4)
}

func TestTellGoesToTheFirstOwner(t *testing.T) {
	h := newEmpty(t, Options{})
	check(t, h.Tell(t.Context(), "k", "x")) // there is none yet
	equal(t, "parts", len(h.parts()), 0)
	check(t, h.SyncPeople(t.Context(), household))
	check(t, h.Tell(t.Context(), "k", "x"))
	equal(t, "where", h.parts()[0].To, Address{Gateway: "telegram", Chat: "1"})
	equal(t, "conversation", h.parts()[0].Conversation, 1)
}

func TestDeliveredKeepsTheMessengersID(t *testing.T) {
	h := newHome(t)
	p := h.post(Part{Text: "x"})
	p.Stable = "chosen"
	check(t, h.Sending(t.Context(), p))
	equal(t, "stable", h.part(p.ID).Stable, "chosen")
	h.clock.add(time.Second)
	check(t, h.Delivered(t.Context(), p, "m77"))
	got := h.part(p.ID)
	equal(t, "state", got.State, "sent")
	equal(t, "ref", got.Ref, "m77")
	equal(t, "sent", got.Sent, h.clock.now())
	wantErr(t, h.Sending(t.Context(), p), ErrNotFound)
}

func TestPartThatMayHaveArrivedIsHandledByItsClass(t *testing.T) {
	for class, want := range map[Class]struct {
		state  string
		marked bool
		told   int
	}{
		Answer: {"waiting", true, 0}, Reminder: {"waiting", true, 0}, Notice: {"waiting", true, 0}, Asks: {"waiting", true, 0},
		Status: {"dropped", false, 0}, Letter: {"unknown", false, 1},
	} {
		h := newHome(t)
		p := h.post(Part{Text: "dinner at eight", Class: class, To: to("2")})
		check(t, h.Sending(t.Context(), p))
		check(t, h.Undelivered(t.Context(), p, MayHaveSent, "timeout", h.clock.now()))
		got := h.part(p.ID)
		equal(t, string(class), got.State, want.state)
		equal(t, string(class)+" marked", got.Marked, want.marked)
		equal(t, string(class)+" error", got.Error, "timeout")
		equal(t, string(class)+" told", len(h.parts())-1, want.told)
		if class != Letter {
			continue
		}
		contains(t, "what is told", h.parts()[1].Text, "dinner at eight", "/answer 1", "again, worked, drop")
		wantTexts(t, "the lane is free", h.heads(), h.parts()[1].Text)
		check(t, h.RetryPart(t.Context(), p.ID))
		equal(t, "marked on retry", h.part(p.ID).Marked, true)
		equal(t, "state on retry", h.part(p.ID).State, "waiting")
	}
}

func TestDeadLetterIsToldOnceAndNotToTheChatThatRefused(t *testing.T) {
	h := newHome(t)
	refuse := func(p Part) {
		check(t, h.Sending(t.Context(), p))
		for range 2 {
			check(t, h.Undelivered(t.Context(), p, Refused, "blocked by the user", time.Time{}))
		}
	}
	p := h.post(Part{Text: "hello Bob", To: to("2")})
	refuse(p)
	got := h.part(p.ID)
	equal(t, "state", got.State, "failed")
	equal(t, "parts", len(h.parts()), 2)
	contains(t, "what is told", h.parts()[1].Text, "blocked by the user", "hello Bob", "hearth outbox retry 1")
	equal(t, "where", h.parts()[1].To.Chat, "1")
	equal(t, "the lane is free", h.post(Part{Text: "next", To: to("2")}).State, "sending")

	// A person tries again, and is told again.
	check(t, h.RetryPart(t.Context(), p.ID))
	equal(t, "marked", h.part(p.ID).Marked, false)
	refuse(h.part(p.ID))
	equal(t, "notices", h.count(`SELECT count(*) FROM outbox WHERE text LIKE 'I could not%'`), 2)

	own := h.post(Part{Text: "hello Ann", To: to("1")})
	before := len(h.parts())
	check(t, h.Undelivered(t.Context(), own, Refused, "chat not found", time.Time{}))
	equal(t, "told in the chat that refused", len(h.parts())-before, 0)
	equal(t, "state", h.part(own.ID).State, "failed")
	open := must(h.Parts(t.Context(), true, 100))(t)
	equal(t, "listed as open", slices.ContainsFunc(open, func(p Part) bool { return p.ID == own.ID }), true)
}

func TestDropAndRetry(t *testing.T) {
	h := newHome(t)
	head, behind := h.post(Part{Text: "head"}), h.post(Part{Text: "behind"})
	wantErr(t, h.DropPart(t.Context(), head.ID), ErrNotFound) // it is in the air
	check(t, h.DropPart(t.Context(), behind.ID))
	wantErr(t, h.DropPart(t.Context(), behind.ID), ErrNotFound)
	wantErr(t, h.RetryPart(t.Context(), behind.ID), ErrNotFound)
	wantErr(t, h.RetryPart(t.Context(), head.ID), ErrNotFound)
	h.send()
	wantErr(t, h.DropPart(t.Context(), head.ID), ErrNotFound)
	equal(t, "open", len(must(h.Parts(t.Context(), true, 10))(t)), 0)
	wantTexts(t, "all", texts(must(h.Parts(t.Context(), false, 10))(t)), "behind", "head")
}

func TestSplitKeepsOrderAndPutsButtonsLast(t *testing.T) {
	h := newHome(t)
	p := h.progress(h.accept(h.ann, "x"))
	long := h.post(Part{Key: "reply", Run: p.Run.ID, Conversation: p.Conversation.ID, Class: Answer, Text: "a long text", ReplyTo: "m1", Buttons: []Button{{"Yes", "y"}}, Due: h.clock.now(), Late: "off"})
	second := h.post(Part{Text: "second", Run: p.Run.ID, Buttons: []Button{{"No", "n"}}})
	h.post(Part{Text: "third"})
	h.post(Part{Text: "elsewhere", To: to("2")})
	check(t, h.Split(t.Context(), long, []Piece{{"a", ""}, {"long", "[1]"}, {"text", ""}}))
	last := h.post(Part{Text: "fourth"})

	var lane []Part
	for _, p := range h.parts() {
		if p.To.Chat == "1" {
			lane = append(lane, p)
		}
	}
	wantTexts(t, "lane", texts(lane), "a", "long", "text", "second", "third", "fourth")
	equal(t, "the first keeps its number", lane[0].ID, long.ID)
	equal(t, "its state", lane[0].State, "sending")
	equal(t, "its reply mark", lane[0].ReplyTo, "m1")
	equal(t, "its lateness", lane[0].Late, "off")
	equal(t, "no buttons on the first", len(lane[0].Buttons)+len(lane[1].Buttons), 0)
	equal(t, "buttons on the last", len(lane[2].Buttons), 1)
	equal(t, "no second reply mark", lane[1].ReplyTo+lane[2].ReplyTo, "")
	equal(t, "said late once", lane[1].Late+lane[2].Late, "")
	equal(t, "styles", lane[1].Entities, "[1]")
	equal(t, "keys", lane[1].Key+" "+lane[2].Key, "reply/2 reply/3")
	equal(t, "run", lane[2].Run, p.Run.ID)
	equal(t, "later parts keep what is theirs", len(lane[3].Buttons), 1)
	equal(t, "later parts are as they were", lane[3].Run, second.Run)
	equal(t, "numbers go on", last.ID > lane[4].ID, true)
	wantTexts(t, "sent in order", texts([]Part{h.send()[0], h.send()[0], h.send()[0], h.send()[0], h.send()[0], h.send()[0]}), "a", "long", "text", "second", "third", "fourth")
}

func TestSplitOfOnePieceKeepsTheButtons(t *testing.T) {
	h := newHome(t)
	p := h.post(Part{Text: "x", Buttons: []Button{{"Yes", "y"}}})
	check(t, h.Split(t.Context(), p, []Piece{{"y", ""}}))
	got := h.part(p.ID)
	equal(t, "text", got.Text, "y")
	equal(t, "buttons", len(got.Buttons), 1)
}

func TestSplitOfADroppedPartPostsNothing(t *testing.T) {
	h := newHome(t)
	h.post(Part{Text: "head"})
	p := h.post(Part{Text: "x"})
	check(t, h.DropPart(t.Context(), p.ID))
	wantErr(t, h.Split(t.Context(), p, []Piece{{"a", ""}, {"b", ""}}), ErrNotFound)
	equal(t, "parts", len(h.parts()), 2)
}

func TestJobIsDoneWhenAllItsPiecesHaveArrived(t *testing.T) {
	h := newHome(t)
	j := h.reminder(h.ann, "a b", h.clock.now())
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next, Words: "a b"}))
	check(t, h.Split(t.Context(), h.parts()[0], []Piece{{"a", ""}, {"b", ""}}))
	h.send()
	equal(t, "after the first piece", h.job(j.ID).State, JobFiring)
	h.send()
	equal(t, "after the second", h.job(j.ID).State, JobDone)
}

func TestMoveChat(t *testing.T) {
	h := newHome(t)
	in := h.saysIn("-5", h.ann, "hello")
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	p := h.claim()
	h.post(Part{Text: "x", To: in.Address()})
	check(t, h.MoveChat(t.Context(), "telegram", "-5", "-100"))
	equal(t, "run", h.progress(p.Run.ID).Run.To.Chat, "-100")
	equal(t, "part", h.parts()[0].To.Chat, "-100")
	again := h.saysIn("-100", h.ann, "hello")
	equal(t, "conversation", h.progress(must(h.Accept(t.Context(), again, h.ann, 0))(t).Run).Conversation.ID, p.Conversation.ID)
}

func TestClipCutsAtARune(t *testing.T) {
	for in, want := range map[string]string{"abc": "abc", "äöüß": "äöüß", "äöüßx": "äöü…", strings.Repeat("日", 9): "日日日…"} {
		equal(t, in, clip(in, 4), want)
	}
}
