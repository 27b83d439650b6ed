package whatsapp

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"hearth/gateways/inbox"
	"hearth/gateways/whatsapp/wafake"
	"hearth/vault"
)

// These tests are named after reports of users of other programs: who is let in, and who is written to.

// decides has the program's own inbox say what becomes of a message.
func (w *world) decides() {
	box := inbox.New(inbox.Options{Vault: w.vault})
	w.accepting(func(in vault.Inbound) error { return box.Accept(w.t.Context(), in) })
}

// runs gives what the model has been asked to do, the last first.
func (w *world) runs() []vault.Run {
	w.t.Helper()
	runs, err := w.vault.Runs(w.t.Context(), 0, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	return runs
}

// once leaves out what came again: the library may tell a message twice, and the server brings again what is not acknowledged.
func once(in []vault.Inbound) (out []vault.Inbound) {
	seen := map[string]bool{}
	for _, m := range in {
		if !seen[m.ID] {
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	return out
}

// comes waits until the last that was taken is this.
func (w *world) comes(text string) {
	w.t.Helper()
	w.eventually(text+" is taken", func() bool {
		in := w.inbound(1)
		return in[len(in)-1].Text == text
	})
}

// waits gives all that waits to be said on WhatsApp.
func (w *world) waits() []vault.Part {
	w.t.Helper()
	parts, err := w.vault.Heads(w.t.Context(), Name)
	if err != nil {
		w.t.Fatal(err)
	}
	return parts
}

// written gives how many messages the agent's device has sent, to whomever.
func (w *world) written() (n int) {
	for _, s := range w.server.Sent(w.me, "message") {
		if s.From.Device != 0 {
			n++
		}
	}
	return n
}

// The very first message of somebody allowed shows a LID that nothing is known about, and their number beside it: they were
// turned away although the number was there.
func TestHermesAgent63415FirstContactByLID(t *testing.T) {
	w := linked(t, Dedicated)
	w.decides()
	w.ann.Show(wafake.ByLID)
	number, err := w.client().Store.LIDs.GetPNForLID(t.Context(), w.ann.LID)
	if err != nil || !number.IsEmpty() {
		t.Fatalf("the LID is known before: %v, %v", number, err)
	}
	w.says(w.ann, "hello")
	w.inbound(1)
	if runs, parts := w.runs(), w.waits(); len(runs) != 1 || len(parts) != 0 {
		t.Errorf("%d runs, and this is said: %+v", len(runs), parts)
	}
}

// The rules who may write were asked about the LID, before the number behind it was looked up: somebody allowed was turned
// away wherever the message itself does not tell the number. Somebody else's LID lets nobody in.
func TestOmni178RulesAreAskedAboutTheNumber(t *testing.T) {
	w := linked(t, Dedicated)
	w.decides()
	bob := w.server.AddAccount("Bob", "15550000003")
	for n, a := range []*wafake.Account{w.ann, bob} { // the library learns which number is whose
		a.Show(wafake.ByNumber)
		w.says(a, "hello")
		w.inbound(n + 1)
	}
	before := len(w.runs())
	for _, a := range []*wafake.Account{w.ann, bob} {
		a.Show(wafake.ByLIDOnly)
		w.says(a, "hello again")
	}
	in := w.inbound(4)
	if in[2].Sender != "+"+w.ann.PN.User || in[3].Sender != "+"+bob.PN.User {
		t.Errorf("from %q and %q", in[2].Sender, in[3].Sender)
	}
	if runs := w.runs(); before != 1 || len(runs) != 2 {
		t.Errorf("%d runs, then %d", before, len(runs))
	}
}

// Who was let in once stayed in: pairings were kept beside the list of those allowed. Here one who is removed, in the file or
// by command, is a stranger under each id and by whatever they were let in, and is not written to any more.
func TestOpenclaw22599RemovedPeopleAreStrangers(t *testing.T) {
	for name, remove := range map[string]func(*world) error{
		"by command":    func(w *world) error { return w.vault.RemovePerson(w.t.Context(), "Bob") },
		"from the file": func(w *world) error { w.people(w.annOnly()...); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := linked(t, Dedicated)
			bob := w.server.AddAccount("Bob", "15550000003")
			w.people(append(w.annOnly(), vault.Person{Name: "Bob", Identities: []vault.Identity{{Gateway: "telegram", Ext: "2"}}, Role: vault.Member})...)
			w.decides()
			code, _, err := w.vault.NewPairCode(t.Context(), "Bob", vault.Member)
			if err != nil {
				t.Fatal(err)
			}
			w.says(bob, "/pair "+code)
			w.says(bob, "hello")
			w.inbound(2)
			if runs := w.runs(); len(runs) != 1 {
				t.Fatalf("%d runs of somebody who is paired", len(runs))
			}
			queued := w.part(w.to(bob), "the shopping list")
			if _, err := w.gw.Send(t.Context(), queued); err != nil {
				t.Fatal(err)
			}
			w.hears(bob, "the shopping list")
			if err := remove(w); err != nil {
				t.Fatal(err)
			}
			if e := w.fails(queued); e.Outcome != vault.Refused {
				t.Errorf("what waits for somebody who was removed: %v", e)
			}
			for n, shown := range []wafake.Addressing{wafake.ByNumber, wafake.ByLID, wafake.ByLIDOnly} {
				bob.Show(shown)
				w.says(bob, "and now?")
				w.inbound(3 + n)
			}
			if runs := w.runs(); len(runs) != 1 {
				t.Errorf("%d runs after the removal", len(runs))
			}
		})
	}
}

func (w *world) annOnly() []vault.Person {
	return []vault.Person{{Name: "Ann", Role: vault.Owner, Identities: []vault.Identity{{Gateway: Name, Ext: "+" + w.ann.PN.User}}}}
}

// Every new connection made the program write to people of the address book. Here a connection says nothing to anybody,
// however often it is made, and whoever has written before.
func TestOpenclaw97088AConnectionWritesToNobody(t *testing.T) {
	for _, mode := range []string{Dedicated, Self} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, mode)
			stop := w.receive()
			w.link()
			bob := w.server.AddAccount("Bob", "15550000003")
			w.sends(w.me, bob.PN, &waE2E.Message{Conversation: proto.String("hello from the phone")}) // now he is a contact
			w.says(bob, "hello")
			w.says(w.ann, "hello")
			seen, to := 2, w.to(w.ann)
			if mode == Self {
				seen, to = 1, w.to(w.me)
			}
			w.says(w.me, "hello myself") // seen in Self only
			w.inbound(seen)
			for range 2 {
				w.reconnects()
			}
			stop()
			w.gw = w.gateway(mode)
			w.receive()
			w.up()
			w.stays("nothing is written", func() bool { return w.written() == 0 })
			if _, err := w.gw.Send(t.Context(), w.part(to, "hello")); err != nil || w.written() != 1 {
				t.Errorf("%d messages were counted after one, %v", w.written(), err)
			}
		})
	}
}

// reconnects cuts the line and waits for the next one.
func (w *world) reconnects() {
	w.t.Helper()
	before := w.server.Payload(w.deviceOf())
	w.server.Cut(w.deviceOf())
	w.eventually("it logs in again", func() bool { return w.server.Payload(w.deviceOf()) != before })
	w.up()
}

// Reminders went to whoever had written last. Here they go where they were made, and what the program has to say goes to
// the owner, whoever else writes in between.
func TestOpenclaw19701RemindersGoWhereTheyWereMade(t *testing.T) {
	w := linked(t, Dedicated)
	bob, eve := w.server.AddAccount("Bob", "15550000003"), w.server.AddAccount("Eve", "15550000004")
	w.people(append(w.annOnly(), vault.Person{Name: "Bob", Role: vault.Member, Identities: []vault.Identity{{Gateway: Name, Ext: "+" + bob.PN.User}}})...)
	w.decides()
	w.says(w.ann, "/remind tomorrow at 9, call the doctor")
	w.inbound(1)
	w.delivers("Reminder 1")
	w.hearsOf(w.ann, "call the doctor")
	for n, a := range []*wafake.Account{bob, eve} {
		w.says(a, "hello, it is me")
		w.inbound(2 + n)
	}
	w.delivers("This is a private assistant") // Eve's line
	j, err := w.vault.Job(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.vault.Fire(t.Context(), j, vault.Firing{Due: j.Next, Words: "Reminder 1: call the doctor"}); err != nil {
		t.Fatal(err)
	}
	if err := w.vault.Tell(t.Context(), "disk", "The disk is nearly full."); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, p := range w.waits() {
			if p.To != w.to(w.ann) {
				t.Errorf("%q would go to %v", p.Text, p.To)
			}
			w.deliver(p)
		}
	}
	w.hears(w.ann, "Reminder 1: call the doctor")
	w.hears(w.ann, "The disk is nearly full.")
	if _, text, err := w.phone(bob).Hear(300 * time.Millisecond); err == nil {
		t.Errorf("Bob was told %q", text)
	}
}

// deliver sends a part as the outbox does.
func (w *world) deliver(p vault.Part) {
	w.t.Helper()
	p.Stable = w.gw.NewID()
	if err := w.vault.Sending(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	ref, err := w.gw.Send(w.t.Context(), p)
	if err != nil {
		w.t.Fatalf("send %q: %v", p.Text, err)
	}
	if err := w.vault.Delivered(w.t.Context(), p, ref); err != nil {
		w.t.Fatal(err)
	}
}

// delivers sends the one part that waits, which begins so.
func (w *world) delivers(begins string) {
	w.t.Helper()
	parts := w.waits()
	if len(parts) != 1 || !strings.HasPrefix(parts[0].Text, begins) {
		w.t.Fatalf("want %q, and this waits: %+v", begins, parts)
	}
	w.deliver(parts[0])
}

// hearsOf waits for the next text that a phone gets, which must contain something.
func (w *world) hearsOf(a *wafake.Account, part string) {
	w.t.Helper()
	_, text, err := w.phone(a).Hear(hearLimit)
	if err != nil || !strings.Contains(text, part) {
		w.t.Fatalf("%s heard %q, %v; want %q", a.Name, text, err, part)
	}
}

// Switched off it answered all the same. Here a group in which the agent takes no part gets nothing, also when it is named,
// answered or commanded there, and from the moment it is switched off; the chat with oneself knows no groups at all.
func TestOpenclaw18543OffMeansOff(t *testing.T) {
	for _, mode := range []string{Dedicated, Self} {
		t.Run(mode, func(t *testing.T) {
			var groups atomic.Value
			groups.Store(groupsAll)
			w := linked(t, mode, func(g *Gateway) { g.opt.Groups = func() string { return groups.Load().(string) } })
			group := w.server.AddGroup("Family", true, w.me, w.ann)
			count := 0
			if mode == Dedicated {
				w.sends(w.ann, group, words("hello")) // it takes part
				w.inbound(1)
				w.eventually("that is marked as read", func() bool { read, _ := w.marks(); return read == 1 })
				groups.Store(groupsOff)
				count++
			}
			read, typing := w.marks()
			me := w.me.LID.String()
			for _, m := range []*waE2E.Message{
				words("hello all"),
				words("/status"),
				{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("@" + w.me.LID.User + " hello"), ContextInfo: &waE2E.ContextInfo{MentionedJID: []string{me}}}},
				{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("and?"), ContextInfo: &waE2E.ContextInfo{StanzaID: proto.String("A"), Participant: &me}}},
			} {
				w.sends(w.ann, group, m)
			}
			last := w.ann
			if mode == Self {
				last = w.me
			}
			w.says(last, "the end")
			if in := once(w.inbound(count + 1)); len(in) != count+1 || in[count].Text != "the end" {
				t.Errorf("%+v", in)
			}
			if mode == Self {
				read-- // one's own words are not marked
			} else {
				w.eventually("the end is marked as read", func() bool { now, _ := w.marks(); return now == read+1 })
			}
			if r, ty := w.marks(); r != read+1 || ty != typing {
				t.Errorf("%d read marks, %d times writing, want %d and %d", r, ty, read+1, typing)
			}
		})
	}
}

// In a group people are known by their LIDs, and an answer to what the agent said was not seen as one.
func TestGroupsThatKnowTheAgentByItsLID(t *testing.T) {
	w := linked(t, Dedicated, inGroups(groupsMention))
	group := w.server.AddGroup("Family", true, w.me, w.ann)
	device := w.me.LID
	device.Device = 1
	other := w.ann.LID.String()
	n := 0
	says := func(t *testing.T, info *waE2E.ContextInfo, want bool, wrap bool) {
		t.Helper()
		m := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("and bread?"), ContextInfo: info}}
		if wrap {
			m = &waE2E.Message{BotInvokeMessage: wrapped(m)}
		}
		w.sends(w.ann, group, m)
		n++
		if in := w.inbound(n)[n-1]; in.Mentioned != want || in.Text != "and bread?" || in.Chat != group.String() {
			t.Errorf("%v came as %+v", info, in)
		}
	}
	said := w.gw.NewID()
	answer := func(to string) *waE2E.ContextInfo {
		return &waE2E.ContextInfo{StanzaID: &said, Participant: &to, QuotedMessage: words("soup")}
	}
	t.Run("openclaw#48494", func(t *testing.T) {
		says(t, answer(w.me.LID.String()), true, false)
		says(t, answer(w.me.LID.String()), true, true) // as some phones send it
		says(t, answer(other), false, false)
	})
	t.Run("nanobot#2501", func(t *testing.T) { // with the number of the device, too
		says(t, answer(device.String()), true, false)
		says(t, &waE2E.ContextInfo{MentionedJID: []string{other, device.String()}}, true, false)
		says(t, &waE2E.ContextInfo{MentionedJID: []string{other}}, false, false)
	})
}
