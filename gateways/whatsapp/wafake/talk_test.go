package wafake

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
)

func TestMessageYourself(t *testing.T) {
	s := New(t)
	me := s.AddAccount("Me", "15550000001")
	p := phone(t, me)
	b := newBot(t, s, openDB(t, "bot"))
	b.linkByQR(t, me)
	say(t, p, me.PN, "note to self")
	msg := wait[*events.Message](t, b.events)
	if !msg.Info.IsFromMe || !me.owns(msg.Info.Chat) || !me.owns(msg.Info.Sender) || Text(msg.Message) != "note to self" {
		t.Fatalf("%+v", msg.Info)
	}
	t.Logf("info: chat=%v sender=%v fromMe=%v dsm=%+v", msg.Info.Chat, msg.Info.Sender, msg.Info.IsFromMe, msg.Info.DeviceSentMeta)
	say(t, b, msg.Info.Chat, "noted")
	hear(t, p, "noted")
	select {
	case evt := <-b.events:
		if m, ok := evt.(*events.Message); ok {
			t.Fatalf("the bot got its own message back: %+v", m.Info)
		}
	case <-time.After(300 * time.Millisecond):
	}
}

func TestGroups(t *testing.T) {
	for _, lid := range []bool{false, true} {
		s, b, me, p := linked(t)
		bob := phone(t, s.AddAccount("Bob", "15550000003"))
		g := s.AddGroup("Family", lid, me, p.Account, bob.Account)
		mention := me.PN
		if lid {
			mention = me.LID
		}
		_, err := p.SendMessage(context.Background(), g, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
			Text:        proto.String("@" + mention.User + " what's for dinner?"),
			ContextInfo: &waE2E.ContextInfo{MentionedJID: []string{mention.String()}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		keys := wait[*events.Message](t, b.events) // the sender key, in an event of its own with the same ID
		msg := wait[*events.Message](t, b.events)
		if keys.Message.GetSenderKeyDistributionMessage() == nil || keys.Info.ID != msg.Info.ID {
			t.Fatalf("%+v", keys)
		}
		if msg.Info.Chat != g || !msg.Info.IsGroup || !p.Account.owns(msg.Info.Sender) {
			t.Fatalf("lid=%v: %+v", lid, msg.Info)
		}
		t.Logf("lid=%v sender=%v alt=%v mode=%v mentions=%v", lid, msg.Info.Sender, msg.Info.SenderAlt, msg.Info.AddressingMode,
			msg.Message.GetExtendedTextMessage().GetContextInfo().GetMentionedJID())
		say(t, b, g, "soup")
		hear(t, p, "soup")
		if _, _, err := bob.Hear(5 * time.Second); err != nil { // Alice's question
			t.Fatal(err)
		}
		hear(t, bob, "soup")
		say(t, b, g, "and bread")
		hear(t, p, "and bread")
	}
}

func TestLIDSenders(t *testing.T) {
	for _, hides := range []bool{false, true} {
		_, b, me, p := linked(t)
		p.Account.Show(ByLID)
		if hides {
			p.Account.Show(ByLIDOnly)
		}
		say(t, p, me.PN, "who am I?")
		msg := wait[*events.Message](t, b.events)
		pn, err := b.Store.LIDs.GetPNForLID(context.Background(), msg.Info.Sender)
		t.Logf("hides=%v: chat=%v sender=%v alt=%v stored PN=%v %v", hides, msg.Info.Chat, msg.Info.Sender, msg.Info.SenderAlt, pn, err)
		if msg.Info.Sender.Server != types.HiddenUserServer || msg.Info.SenderAlt.IsEmpty() != hides {
			t.Fatalf("%+v", msg.Info)
		}
		say(t, b, msg.Info.Chat, "somebody")
		hear(t, p, "somebody")
	}
}

func TestByNumber(t *testing.T) {
	_, b, me, p := linked(t)
	p.Account.Show(ByNumber)
	say(t, p, me.PN, "my number")
	if msg := wait[*events.Message](t, b.events); msg.Info.Sender.ToNonAD() != p.Account.PN || msg.Info.SenderAlt.ToNonAD() != p.Account.LID {
		t.Fatalf("%+v", msg.Info)
	}
}

func TestVoiceNote(t *testing.T) {
	s, b, me, p := linked(t)
	ctx := context.Background()
	ogg := []byte("OggS, or so it says")
	up := must[whatsmeow.UploadResponse](t)(p.Upload(ctx, ogg, whatsmeow.MediaAudio))
	must[whatsmeow.SendResponse](t)(p.SendMessage(ctx, me.PN, &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256,
		FileLength: &up.FileLength, Mimetype: proto.String("audio/ogg; codecs=opus"), PTT: proto.Bool(true), Seconds: proto.Uint32(2),
	}}))
	msg := wait[*events.Message](t, b.events)
	data := must[[]byte](t)(b.Download(ctx, msg.Message.GetAudioMessage()))
	if string(data) != string(ogg) || msg.Info.MediaType != "ptt" {
		t.Fatalf("%q %q", data, msg.Info.MediaType)
	}
	s.ForgetMedia()
	_, err := b.Download(ctx, msg.Message.GetAudioMessage())
	t.Logf("after ForgetMedia: %v", err)
	if err == nil {
		t.Fatal("no error")
	}
}

func TestTypingAndReadMarks(t *testing.T) {
	_, b, me, p := linked(t)
	ctx := context.Background()
	id := say(t, p, me.PN, "there?")
	msg := wait[*events.Message](t, b.events)
	if err := b.SendPresence(ctx, types.PresenceAvailable); !errors.Is(err, whatsmeow.ErrNoPushName) {
		t.Fatalf("%v", err)
	}
	if err := b.SendChatPresence(ctx, msg.Info.Chat, types.ChatPresenceComposing, types.ChatPresenceMediaText); err != nil {
		t.Fatal(err)
	}
	if typing := <-p.Typing; typing.State != types.ChatPresenceComposing || !me.owns(typing.Sender) {
		t.Fatalf("%+v", typing)
	}
	if err := b.MarkRead(ctx, []types.MessageID{id}, time.Now(), msg.Info.Chat, msg.Info.Sender); err != nil {
		t.Fatal(err)
	}
	for rcpt := range p.Receipts {
		t.Logf("receipt %q for %v", rcpt.Type, rcpt.MessageIDs)
		if rcpt.Type == types.ReceiptTypeRead {
			break
		}
	}
}

func TestOfflineMessagesComeInOrder(t *testing.T) {
	s, b, me, p := linked(t)
	b.Disconnect()
	eventually(t, "offline", func() bool { return !s.Online(*b.Store.ID) })
	for _, text := range []string{"a", "b", "c", "d"} {
		say(t, p, me.PN, text)
	}
	if err := b.Connect(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "b", "c", "d"} {
		if msg := wait[*events.Message](t, b.events); Text(msg.Message) != text {
			t.Fatalf("%q, want %q", Text(msg.Message), text)
		}
	}
	if done := wait[*events.OfflineSyncCompleted](t, b.events); done.Count != 4 {
		t.Fatal(done.Count)
	}
}
