package whatsapp

import (
	"strings"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"hearth/gateways/whatsapp/wafake"
	"hearth/vault"
)

// These tests are named after what users of other programs have reported, where it could happen here.

// marks gives the types of the receipts that the agent has sent, and whether it has shown itself writing.
func (w *world) marks() (read int, typing int) {
	for _, s := range w.server.Sent(w.me, "receipt") {
		if s.Node.Attrs["type"] == "read" {
			read++
		}
	}
	return read, len(w.server.Sent(w.me, "chatstate"))
}

// An allowed number that comes as a LID is the person it belongs to.
func TestZeroclaw6350AllowedNumberArrivesAsLID(t *testing.T) {
	w := linked(t, Dedicated)
	want := "+" + w.ann.PN.User
	for n, shown := range []wafake.Addressing{wafake.ByNumber, wafake.ByLID, wafake.ByLIDOnly, wafake.AsSent} {
		w.ann.Show(shown)
		w.says(w.ann, "hello")
		in := w.inbound(n + 1)[n]
		if in.Sender != want || in.Chat != want || in.Account != "+"+w.me.PN.User {
			t.Errorf("shown as %v, it came from %q in %q", shown, in.Sender, in.Chat)
		}
	}
}

// Somebody whose number is never told is a stranger by their LID, is not marked as read, and can be paired by that.
func TestOpenclaw119475SenderWithoutANumber(t *testing.T) {
	w := linked(t, Dedicated)
	bob := w.server.AddAccount("Bob", "15550000003")
	bob.Show(wafake.ByLIDOnly)
	w.says(bob, "hello")
	in := w.inbound(1)[0]
	if in.Sender != bob.LID.String() || in.Chat != bob.LID.String() {
		t.Fatalf("it came from %q in %q", in.Sender, in.Chat)
	}
	code, _, err := w.vault.NewPairCode(t.Context(), "Bob", vault.Member)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.vault.Pair(t.Context(), in, code); err != nil {
		t.Fatal(err)
	}
	bob.Show(wafake.ByLID) // now the number is told: the person stays
	w.says(bob, "again")
	if in := w.inbound(2)[1]; in.Sender != bob.LID.String() {
		t.Errorf("after pairing by LID it came from %q", in.Sender)
	}
	if _, err := w.gw.Send(t.Context(), w.part(in.Address(), "hello Bob")); err != nil {
		t.Fatal(err)
	}
	w.hears(bob, "hello Bob")
}

// A device's number is no part of who somebody is.
func TestPicoclaw2540DeviceSuffix(t *testing.T) {
	w := linked(t, Dedicated)
	device := w.ann.LID
	device.Device = 7
	who, err := w.gw.identify(t.Context(), w.client(), device, types.EmptyJID)
	if err != nil || who.ext != w.ann.LID.String() {
		t.Errorf("%+v, %v", who, err)
	}
	device = w.ann.PN
	device.Device = 7
	if who, err = w.gw.identify(t.Context(), w.client(), device, types.EmptyJID); err != nil || who.ext != "+"+w.ann.PN.User || !who.known {
		t.Errorf("%+v, %v", who, err)
	}
}

func (w *world) client() *whatsmeow.Client {
	w.t.Helper()
	l, _, _ := w.gw.now()
	if l == nil {
		w.t.Fatal("there is no line")
	}
	return l.client
}

// Strangers see no read mark and nobody writing.
func TestStrangersAreNotMarkedAsRead(t *testing.T) {
	w := linked(t, Dedicated)
	bob := w.server.AddAccount("Bob", "15550000003")
	w.says(bob, "anybody there?")
	w.inbound(1)
	if err := w.gw.Typing(t.Context(), w.to(bob)); err != nil {
		t.Fatal(err)
	}
	w.says(w.ann, "hello") // marked, which shows that marks work
	w.eventually("Ann's message is marked", func() bool { read, _ := w.marks(); return read > 0 })
	for _, s := range w.server.Sent(w.me, "receipt") {
		if jid, ok := s.Node.Attrs["to"].(types.JID); s.Node.Attrs["type"] == "read" && ok && (jid.User == bob.PN.User || jid.User == bob.LID.User) {
			t.Errorf("a stranger was marked: %v", s.Node.Attrs)
		}
	}
	if read, typing := w.marks(); read != 1 || typing != 0 {
		t.Errorf("%d marks, %d times writing", read, typing)
	}
}

// The read mark comes when the message is taken, not with the answer; and writing is shown to who is answered.
func TestOpenclaw128875ReadMarkComesAtOnce(t *testing.T) {
	w := linked(t, Dedicated)
	w.says(w.ann, "hello")
	w.inbound(1)
	w.eventually("it is marked as read", func() bool { read, _ := w.marks(); return read == 1 })
	if err := w.vaultTakes(w.inbound(1)[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.gw.Typing(t.Context(), w.to(w.ann)); err != nil {
		t.Fatal(err)
	}
	w.eventually("it shows itself writing", func() bool { _, typing := w.marks(); return typing == 1 })
}

// vaultTakes stores a message as the inbox does.
func (w *world) vaultTakes(in vault.Inbound) error {
	p, err := w.vault.PersonBy(w.t.Context(), Name, in.Sender)
	if err != nil {
		return err
	}
	_, err = w.vault.Accept(w.t.Context(), in, p, 0)
	return err
}

// In the mode of one's own number nobody else is ever answered, and contacts get nothing: not when they write, nor when the
// owner writes to them, nor in groups, nor from what is sent.
func TestOpenclaw75569ContactsOfTheOwnNumberGetNothing(t *testing.T) {
	w := linked(t, Self)
	w.says(w.ann, "hello from a contact")
	w.sends(w.me, w.ann.PN, &waE2E.Message{Conversation: proto.String("hello to a contact")})
	group := w.server.AddGroup("Family", true, w.me, w.ann)
	w.sends(w.ann, group, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: proto.String("@" + w.me.LID.User + " hello"), ContextInfo: &waE2E.ContextInfo{MentionedJID: []string{w.me.LID.String()}},
	}})
	w.sends(w.me, group, &waE2E.Message{Conversation: proto.String("hello to the group")})
	w.sends(w.me, w.me.PN, &waE2E.Message{Conversation: proto.String("hello to myself")})
	in := once(w.inbound(1))
	if len(in) != 1 || in[0].Text != "hello to myself" || in[0].Sender != "+"+w.me.PN.User || in[0].Chat != in[0].Sender || in[0].ChatKind != vault.Private {
		t.Errorf("%+v", in)
	}
	w.people(vault.Person{Name: "Ann", Role: vault.Owner, Identities: []vault.Identity{{Gateway: Name, Ext: "+" + w.ann.PN.User}}})
	if e := w.fails(w.part(w.to(w.ann), "hello")); e.Outcome != vault.Refused {
		t.Errorf("a contact could be written to: %v", e)
	}
	if sent := w.server.Sent(w.me, "presence"); len(sent) != 0 {
		for _, s := range sent {
			if s.From.Device != 0 {
				t.Errorf("the owner's phone would be muted: %v", s.Node.Attrs)
			}
		}
	}
}

// A restart of the program does not answer again what was answered: ids are kept in the vault.
func TestCogtrix2053SeenIDsSurviveARestart(t *testing.T) {
	w := newWorld(t, Dedicated)
	stop := w.receive()
	w.link()
	w.says(w.ann, "hello")
	first := w.inbound(1)[0]
	if err := w.vaultTakes(first); err != nil {
		t.Fatal(err)
	}
	stop()
	w.gw = w.gateway(Dedicated)
	w.receive()
	w.up()
	if _, err := w.phone(w.ann).Say(w.me.PN, "hello", whatsmeow.SendRequestExtra{ID: first.ID}); err != nil {
		t.Fatal(err)
	}
	if err := w.vaultTakes(w.inbound(2)[1]); err == nil || !strings.Contains(err.Error(), vault.ErrRepeat.Error()) {
		t.Errorf("the same id was taken twice: %v", err)
	}
}

// What came while the program was off is taken, in order, and nothing is marked that was not taken.
func TestOpenclaw132260MessagesDuringDowntime(t *testing.T) {
	w := newWorld(t, Dedicated)
	stop := w.receive()
	w.link()
	stop()
	w.eventually("offline", func() bool { return !w.server.Online(w.deviceOf()) })
	for _, text := range []string{"a", "b", "c"} {
		w.says(w.ann, text)
	}
	if read, _ := w.marks(); read != 0 {
		t.Error("marked while off")
	}
	w.receive()
	for i, in := range w.inbound(3) {
		if in.Text != string(rune('a'+i)) {
			t.Errorf("message %d is %q", i, in.Text)
		}
	}
}

// A sender-key event has the id of the message that follows, and must not take its place.
func TestFirstGroupMessageIsNotLostToItsKeys(t *testing.T) {
	w := linked(t, Dedicated, inGroups(groupsAll))
	group := w.server.AddGroup("Family", true, w.me, w.ann)
	w.sends(w.ann, group, &waE2E.Message{Conversation: proto.String("soup?")})
	w.sends(w.ann, group, &waE2E.Message{Conversation: proto.String("bread?")})
	in := w.inbound(2)
	if in[0].Text != "soup?" || in[1].Text != "bread?" || in[0].Kind != "text" || !in[0].Mentioned || in[0].Chat != group.String() || in[0].ChatKind != vault.Group {
		t.Errorf("%+v", in)
	}
	if _, err := w.gw.Send(t.Context(), w.part(in[0].Address(), "who asks?")); err == nil {
		t.Error("it wrote to a group in which nobody known has written")
	}
	if err := w.vaultTakes(in[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.gw.Send(t.Context(), w.part(in[0].Address(), "both")); err != nil {
		t.Fatal(err)
	}
	w.hears(w.ann, "both")
}

// Sending and taking in at the same time loses nothing.
func TestWhatsmeow1168And1095TalkingAtOnce(t *testing.T) {
	const n = 60
	w := linked(t, Dedicated)
	w.says(w.ann, "hello")
	w.inbound(1)
	if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "hello")); err != nil {
		t.Fatal(err)
	}
	w.hears(w.ann, "hello")
	var all sync.WaitGroup
	all.Go(func() {
		for range n {
			w.says(w.ann, "from Ann")
		}
	})
	all.Go(func() {
		for range n {
			if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "from Hearth")); err != nil {
				t.Errorf("Send: %v", err)
			}
		}
	})
	all.Wait()
	for range n {
		w.hears(w.ann, "from Hearth")
	}
	w.inbound(1 + n)
}

// A recipient who could not read a message gets it again, also after a restart of the program.
func TestWacli86RetryAfterARestart(t *testing.T) {
	w := newWorld(t, Dedicated)
	stop := w.receive()
	w.link()
	w.phone(w.ann).Disconnect()
	w.server.OnSend(func(types.JID, string) wafake.Fate { return wafake.Fate{Garble: true} })
	if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "readable after all")); err != nil {
		t.Fatal(err)
	}
	w.server.OnSend(nil)
	stop()
	w.receive()
	w.up()
	if err := w.phone(w.ann).Connect(); err != nil {
		t.Fatal(err)
	}
	w.hears(w.ann, "readable after all")
}

// Error 463 is final: trying again makes it worse.
func TestWhatsmeow1074ReachOutLock(t *testing.T) {
	w := linked(t, Dedicated)
	w.phone(w.ann)
	w.server.OnSend(func(types.JID, string) wafake.Fate { return wafake.Fate{Error: 463} })
	if e := w.fails(w.part(w.to(w.ann), "hello")); e.Outcome != vault.Refused || !strings.Contains(e.Human, "until they next write") {
		t.Errorf("%v", e)
	}
	w.server.OnSend(func(types.JID, string) wafake.Fate { return wafake.Fate{Error: 503} })
	if e := w.fails(w.part(w.to(w.ann), "hello")); e.Outcome != vault.NotSent || e.Wait < time.Minute {
		t.Errorf("%v", e)
	}
}

// To people who have not written first there are a few messages a day and no more: fifteen or so cost others their number.
func TestBaileys1983DailyCapOnUnaskedMessages(t *testing.T) {
	w := linked(t, Dedicated)
	w.phone(w.ann)
	w.gw.limits.cold = 2
	for i := range 3 {
		n, err := w.vault.Post(t.Context(), vault.Part{To: w.to(w.ann), Class: vault.Reminder, Text: "reminder"})
		if err != nil {
			t.Fatal(err)
		}
		p := w.part(w.to(w.ann), "reminder")
		p.ID = n
		if i == 2 {
			if e := w.fails(p); e.Outcome != vault.NotSent || e.Wait <= 0 || e.Wait > 25*time.Hour || !strings.Contains(e.Human, "no more than 2 messages a day") {
				t.Errorf("%v", e)
			}
			break
		}
		ref, err := w.gw.Send(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.vault.Delivered(t.Context(), p, ref); err != nil {
			t.Fatal(err)
		}
	}
	w.says(w.ann, "I am here") // from now on it is a conversation
	if err := w.vaultTakes(w.inbound(1)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "good")); err != nil {
		t.Error(err)
	}
}
