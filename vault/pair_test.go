package vault

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func sender(id, name string) Inbound {
	return Inbound{Gateway: "telegram", Account: "bot", Chat: id, ChatKind: Private, Sender: id, SenderName: name}
}

func (h *home) code(name string, role Role) string {
	h.t.Helper()
	code, _ := must3(h.NewPairCode(h.t.Context(), name, role))(h.t)
	return code
}

func TestFirstPersonIsOwner(t *testing.T) {
	h := newEmpty(t, Options{})
	p := must(h.Pair(t.Context(), sender("1", "Ann"), h.code("", Member)))(t)
	equal(t, "name", p.Name, "Ann")
	equal(t, "role", p.Role, Owner)
	equal(t, "source", p.Source, "paired")
	equal(t, "known by id", must(h.PersonBy(t.Context(), "telegram", "1"))(t).ID, p.ID)
	second := must(h.Pair(t.Context(), sender("2", "Bob"), h.code("", Member)))(t)
	equal(t, "role of the second", second.Role, Member)
	equal(t, "asked for as owner", must(h.Pair(t.Context(), sender("3", "Cem"), h.code("", Owner)))(t).Role, Owner)
}

func TestPairCodeWorksOnceForTenMinutes(t *testing.T) {
	h := newHome(t)
	code, expires := must3(h.NewPairCode(t.Context(), "Dan", Member))(t)
	equal(t, "letters", len(code), 8)
	equal(t, "letters that are misread", strings.ContainsAny(code, "0O1IL"), false)
	equal(t, "expires", expires, h.clock.now().Add(10*time.Minute))

	h.clock.add(10*time.Minute - time.Millisecond)
	must(h.Pair(t.Context(), sender("4", "x"), " "+strings.ToLower(code)+" "))(t)
	_, err := h.Pair(t.Context(), sender("5", "y"), code)
	wantErr(t, err, ErrBadCode)

	late := h.code("Eve", Member)
	h.clock.add(10 * time.Minute)
	_, err = h.Pair(t.Context(), sender("5", "y"), late)
	wantErr(t, err, ErrBadCode)

	old := h.code("Eve", Member)
	fresh := h.code("Eve", Member) // takes the old one's place
	_, err = h.Pair(t.Context(), sender("5", "y"), old)
	wantErr(t, err, ErrBadCode)
	must(h.Pair(t.Context(), sender("5", "y"), fresh))(t)
}

func TestPairingAllowsFiveTries(t *testing.T) {
	for tries, want := range map[int]error{4: nil, 5: ErrBadCode} {
		h := newHome(t)
		code := h.code("Dan", Member)
		for i := range tries {
			_, err := h.Pair(t.Context(), sender(fmt.Sprint(100+i), "Mallory"), "WRONG")
			wantErr(t, err, ErrBadCode)
			h.reopen() // a restart forgives nothing
		}
		_, err := h.Pair(t.Context(), sender("4", "Dan"), code)
		wantErr(t, err, want)
		if want != nil {
			_, err := h.PersonBy(t.Context(), "telegram", "4")
			wantErr(t, err, ErrNotFound)
			must(h.Pair(t.Context(), sender("4", "Dan"), h.code("Dan", Member)))(t) // a new code has its own tries
		}
	}
}

func TestPairingLinksASecondMessenger(t *testing.T) {
	h := newHome(t)
	in := sender("+491", "whatever they call themselves")
	in.Gateway = "whatsapp"
	p := must(h.Pair(t.Context(), in, h.code(" bob ", Owner)))(t)
	equal(t, "person", p.ID, h.bob.ID)
	equal(t, "role", p.Role, Member) // a code for somebody known changes no role
	equal(t, "role that is kept", must(h.PersonBy(t.Context(), "whatsapp", "+491"))(t).Role, Member)
	equal(t, "the first messenger", must(h.PersonBy(t.Context(), "telegram", "2"))(t).ID, h.bob.ID)
	check(t, h.SyncPeople(t.Context(), household)) // and it outlives a restart
	equal(t, "after a restart", must(h.PersonBy(t.Context(), "whatsapp", "+491"))(t).ID, h.bob.ID)
}

func TestNobodyBecomesSomebodyByTheirDisplayName(t *testing.T) {
	h := newHome(t)
	check(t, h.RemovePerson(t.Context(), "Cem"))
	seen := map[int64]bool{h.ann.ID: true, h.bob.ID: true, h.cem.ID: true}
	for i, name := range []string{
		"Ann", "ann", " Ann ", "Ann\n", "A\tnn", "Bob", "Cem" /* who was removed */, "", "", "telegram 107", "Ann (telegram 111)", "Ann", "Ann", strings.Repeat("Ann ", 100),
	} {
		who := sender(fmt.Sprint(100+i), name)
		p := must(h.Pair(t.Context(), who, h.code("", Member)))(t)
		if seen[p.ID] {
			t.Errorf("%q became %q (%d)", name, p.Name, p.ID)
		}
		seen[p.ID] = true
		if n := len([]rune(p.Name)); n > 90 || n == 0 || strings.ContainsAny(p.Name, "\n\t") {
			t.Errorf("the name is %q", p.Name)
		}
		equal(t, "role", p.Role, Member)
		equal(t, "known by id", must(h.PersonBy(t.Context(), "telegram", who.Sender))(t).ID, p.ID)
	}
	equal(t, "Ann", must(h.PersonBy(t.Context(), "telegram", "1"))(t).ID, h.ann.ID)
	equal(t, "Ann is still owner", must(h.FirstOwner(t.Context()))(t).ID, h.ann.ID)
	_, err := h.PersonNamed(t.Context(), "Cem")
	wantErr(t, err, ErrNotFound)
}

func TestCodeWithoutANameChangesNothingForSomebodyKnown(t *testing.T) {
	h := newHome(t)
	p := must(h.Pair(t.Context(), sender("1", "Ann"), h.code("", Member)))(t)
	equal(t, "person", p.ID, h.ann.ID)
	equal(t, "role", p.Role, Owner)
	equal(t, "people", len(names(t, h)), 3)
}

func TestPairingForgetsTheStranger(t *testing.T) {
	h := newHome(t)
	check(t, h.Stranger(t.Context(), sender("4", "Dan"), "line"))
	must(h.Pair(t.Context(), sender("4", "Dan"), h.code("Dan", Member)))(t)
	equal(t, "strangers", h.count(`SELECT count(*) FROM stranger`), 0)
}

func TestSomebodyRemovedComesBackByACodeInTheirName(t *testing.T) {
	h := newHome(t)
	c := must(h.PrivateConversation(t.Context(), h.cem.ID))(t)
	j := must(h.AddJob(t.Context(), Job{Kind: Say, Person: h.cem.ID, Conversation: c.ID, Zone: "UTC", Text: "x", Next: h.clock.now()}))(t)
	check(t, h.RemovePerson(t.Context(), "Cem"))
	p := must(h.Pair(t.Context(), sender("33", ""), h.code("Cem", Member)))(t)
	equal(t, "person", p.ID, h.cem.ID)
	equal(t, "job", must(h.Job(t.Context(), j.ID))(t).State, JobWaiting)
}
