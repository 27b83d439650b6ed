package vault

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func names(t *testing.T, h *home) (out []string) {
	t.Helper()
	for _, p := range must(h.People(t.Context()))(t) {
		line := p.Name + " " + string(p.Role) + " " + p.Source
		for _, id := range p.Identities {
			line += " " + id.Gateway + ":" + id.Ext
		}
		out = append(out, line)
	}
	return out
}

func TestSyncPeople(t *testing.T) {
	h := newHome(t)
	if diff := cmp.Diff([]string{"Ann owner config telegram:1 whatsapp:+351", "Bob member config telegram:2", "Cem member config telegram:3"}, names(t, h)); diff != "" {
		t.Error(diff)
	}
	code, _ := must3(h.NewPairCode(t.Context(), "Dan", Member))(t)
	dan := must(h.Pair(t.Context(), Inbound{Gateway: "telegram", Sender: "4"}, code))(t)

	// Bob moves to another number and becomes an owner, Cem goes, Eve comes, and Dan, who was paired, stays.
	changed := []Person{
		household[0],
		{Name: "bob", Role: Owner, Zone: "Asia/Tokyo", Identities: []Identity{{"telegram", "22"}}},
		{Name: "Eve", Role: Member, Identities: []Identity{{"telegram", "5"}}},
	}
	for range 2 { // it is done at every start
		check(t, h.SyncPeople(t.Context(), changed))
		if diff := cmp.Diff([]string{"Ann owner config telegram:1 whatsapp:+351", "Bob owner config telegram:22", "Dan member paired telegram:4", "Eve member config telegram:5"}, names(t, h)); diff != "" {
			t.Error(diff)
		}
	}
	bob := must(h.PersonBy(t.Context(), "telegram", "22"))(t)
	equal(t, "Bob's number", bob.ID, h.bob.ID)
	equal(t, "Bob's zone", bob.Zone, "Asia/Tokyo")
	for _, gone := range []string{"2", "3"} {
		_, err := h.PersonBy(t.Context(), "telegram", gone)
		wantErr(t, err, ErrNotFound)
	}
	_, err := h.PersonNamed(t.Context(), "Cem")
	wantErr(t, err, ErrNotFound)
	equal(t, "Cem can still be named", must(h.Person(t.Context(), h.cem.ID))(t).Name, "Cem")

	check(t, h.SyncPeople(t.Context(), household))
	equal(t, "Cem is who he was", must(h.PersonBy(t.Context(), "telegram", "3"))(t).ID, h.cem.ID)
	equal(t, "Dan is who he was", must(h.PersonBy(t.Context(), "telegram", "4"))(t).ID, dan.ID)
	check(t, h.SyncPeople(t.Context(), nil))
	if diff := cmp.Diff([]string{"Dan member paired telegram:4"}, names(t, h)); diff != "" {
		t.Error(diff)
	}
}

func TestZoneOfAChatHoldsUntilTheFilesChanges(t *testing.T) {
	h := newHome(t)
	zone := func() string { return must(h.PersonNamed(t.Context(), "Ann"))(t).Zone }
	equal(t, "the file's", zone(), "Europe/Lisbon")
	h.do(func(tx *Tx) error { return tx.SetZone(h.ann.ID, "America/New_York") })
	check(t, h.SyncPeople(t.Context(), household)) // at the next start
	equal(t, "the chat's", zone(), "America/New_York")
	moved := []Person{household[0], household[1], household[2]}
	moved[0].Zone = "Asia/Tokyo"
	check(t, h.SyncPeople(t.Context(), moved))
	equal(t, "the file's, when it changes", zone(), "Asia/Tokyo")
}

func TestZoneOfAChatHoldsWhereTheFileHasNone(t *testing.T) {
	h := newHome(t)
	h.do(func(tx *Tx) error { return tx.SetZone(h.bob.ID, "America/New_York") })
	check(t, h.SyncPeople(t.Context(), household))
	equal(t, "Bob's zone", must(h.PersonNamed(t.Context(), " BOB "))(t).Zone, "America/New_York")
}

func TestRemovedPeopleAreStrangersAndTheirJobsRest(t *testing.T) {
	for name, remove := range map[string]func(h *home) error{
		"by command": func(h *home) error { return h.RemovePerson(h.t.Context(), " bob ") },
		"from the file": func(h *home) error {
			return h.SyncPeople(h.t.Context(), []Person{household[0], household[2]})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			c := must(h.PrivateConversation(t.Context(), h.bob.ID))(t)
			j := must(h.AddJob(t.Context(), Job{Kind: Say, Person: h.bob.ID, Conversation: c.ID, Zone: "UTC", Text: "x", Next: h.clock.now()}))(t)
			mine := must(h.AddJob(t.Context(), Job{Kind: Say, Person: h.ann.ID, Conversation: c.ID, Zone: "UTC", Text: "x", Next: h.clock.now()}))(t)
			check(t, remove(h))
			_, err := h.PersonBy(t.Context(), "telegram", "2")
			wantErr(t, err, ErrNotFound)
			due := must(h.DueJobs(t.Context(), 10))(t)
			if len(due) != 1 || due[0].ID != mine.ID {
				t.Errorf("due: %v", due)
			}
			equal(t, "state", must(h.Job(t.Context(), j.ID))(t).State, JobPaused)
			wantErr(t, h.RemovePerson(t.Context(), "Bob"), ErrNotFound)

			check(t, h.SyncPeople(t.Context(), household)) // it was a mistake
			equal(t, "state after he came back", must(h.Job(t.Context(), j.ID))(t).State, JobWaiting)
			equal(t, "Bob's number", must(h.PersonBy(t.Context(), "telegram", "2"))(t).ID, h.bob.ID)
		})
	}
}

func TestTerminalOwner(t *testing.T) {
	h := newEmpty(t, Options{})
	_, err := h.FirstOwner(t.Context())
	wantErr(t, err, ErrNotFound)
	me := must(h.TerminalOwner(t.Context()))(t)
	equal(t, "name", me.Name, "Me")
	equal(t, "owner", me.IsOwner(), true)
	equal(t, "again", must(h.TerminalOwner(t.Context()))(t).ID, me.ID)

	known := newHome(t)
	equal(t, "with people", must(known.TerminalOwner(t.Context()))(t).ID, known.ann.ID)
}

func TestPrivateAddress(t *testing.T) {
	h := newHome(t)
	address := func(p Person) Address { return must(h.PrivateAddress(t.Context(), p.ID))(t) }
	equal(t, "somebody who has not written yet", address(h.ann), Address{Gateway: "telegram", Chat: "1"})

	in := h.says(h.ann, "hello")
	in.Gateway, in.Account, in.Chat = "whatsapp", "phone", "351@s"
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	equal(t, "where she wrote", address(h.ann), in.Address())

	h.clock.add(time.Minute)
	h.accept(h.ann, "hello")
	equal(t, "where she wrote last", address(h.ann), Address{"telegram", "bot", "1", ""})

	h.clock.add(time.Minute)
	must(h.Accept(t.Context(), h.saysIn("-5", h.ann, "hello all"), h.ann, 0))(t)
	equal(t, "a group is not private", address(h.ann), Address{"telegram", "bot", "1", ""})

	h.clock.add(time.Minute)
	in = h.says(h.ann, "hello")
	in.Gateway, in.Account, in.Chat = "terminal", "local", "1"
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	equal(t, "a phone before the terminal", address(h.ann), Address{"telegram", "bot", "1", ""})

	h.opt.Gateways = []string{"terminal", "whatsapp"}
	h.reopen()
	equal(t, "only what runs", address(h.ann).Gateway, "whatsapp")
	equal(t, "else the terminal", address(h.bob), TerminalAddress(h.bob.ID))
	to, who, err := h.OwnerAddress(t.Context())
	check(t, err)
	equal(t, "the owner's address", to.Gateway+" "+who.Name, "whatsapp Ann")
}

func TestOneConversationAPersonOverAllMessengers(t *testing.T) {
	h := newHome(t)
	first := h.progress(h.accept(h.ann, "from Telegram")).Conversation
	in := h.says(h.ann, "from WhatsApp")
	in.Gateway, in.Chat, in.Sender = "whatsapp", "351@s", "+351"
	second := h.progress(must(h.Accept(t.Context(), in, h.ann, 0))(t).Run)
	equal(t, "conversation", second.Conversation, first)
	equal(t, "the answer goes where it came from", second.Run.To.Gateway, "whatsapp")
	equal(t, "Bob's is another", h.progress(h.accept(h.bob, "hi")).Conversation.ID == first.ID, false)

	group := h.progress(must(h.Accept(t.Context(), h.saysIn("-5", h.ann, "hi"), h.ann, 0))(t).Run).Conversation
	equal(t, "a group's kind", group.Kind, Group)
	equal(t, "a group is nobody's", group.Person, 0)
	equal(t, "Bob in the group", h.progress(must(h.Accept(t.Context(), h.saysIn("-5", h.bob, "hi"), h.bob, 0))(t).Run).Conversation, group)
	equal(t, "conversations", h.count(`SELECT count(*) FROM conversation`), 3)
	if diff := cmp.Diff([]int64{first.ID, group.ID}, must(h.Conversations(t.Context(), h.ann.ID))(t)); diff != "" {
		t.Error(diff)
	}
	equal(t, "made before any message", must(h.PrivateConversation(t.Context(), h.cem.ID))(t).Person, h.cem.ID)
}

func TestSubscribe(t *testing.T) {
	h := newHome(t)
	ch, end := h.Subscribe()
	quiet := func() bool {
		select {
		case <-ch:
			return false
		default:
			return true
		}
	}
	equal(t, "quiet before", quiet(), true)
	check(t, h.Set(t.Context(), "a", "1"))
	check(t, h.Set(t.Context(), "a", "2"))
	equal(t, "quiet after commits", quiet(), false)
	equal(t, "one hint for two", quiet(), true)
	wantErr(t, h.Do(t.Context(), "x", func(*Tx) error { return ErrIdle }), ErrIdle)
	equal(t, "quiet after a rollback", quiet(), true)
	h.Wake()
	equal(t, "quiet after Wake", quiet(), false)
	end()
	check(t, h.Set(t.Context(), "a", "3"))
	equal(t, "quiet after the end", quiet(), true)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	wantErr(t, h.Set(cancelled, "a", "4"), context.Canceled)
	equal(t, "setting", must(h.Setting(t.Context(), "a"))(t), "3")
}
