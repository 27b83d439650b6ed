package wafake

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
)

func TestPairTalkAndReply(t *testing.T) {
	s := New(t)
	bot_, alice := s.AddAccount("Bot", "15550000001"), s.AddAccount("Alice", "15550000002")
	b := newBot(t, s, openDB(t, "bot"))
	b.linkByQR(t, bot_)
	if b.Store.ID.Device != 1 || b.Store.LID.ToNonAD() != bot_.LID {
		t.Fatalf("linked as %v / %v", b.Store.ID, b.Store.LID)
	}
	p := phone(t, alice)
	must[whatsmeow.SendResponse](t)(p.Say(bot_.PN, "hello bot"))
	msg := wait[*events.Message](t, b.events)
	if Text(msg.Message) != "hello bot" || !alice.owns(msg.Info.Sender) || msg.Info.PushName != "Alice" {
		t.Fatalf("got %q from %v", Text(msg.Message), msg.Info.Sender)
	}
	must[whatsmeow.SendResponse](t)(b.SendMessage(context.Background(), msg.Info.Chat, &waE2E.Message{Conversation: proto.String("hello Alice")}))
	evt, text, err := p.Hear(5 * time.Second)
	if err != nil || text != "hello Alice" || !bot_.owns(evt.Info.Sender) {
		t.Fatalf("heard %q, %v", text, err)
	}
	wait[*events.Receipt](t, b.events)
}

func TestPairByCode(t *testing.T) {
	s := New(t)
	me := s.AddAccount("Me", "15550000001")
	b := newBot(t, s, openDB(t, "bot"))
	if err := b.Connect(); err != nil {
		t.Fatal(err)
	}
	wait[*events.QR](t, b.events)
	code := must[string](t)(b.PairPhone(context.Background(), "+1 555 000 0001", true, whatsmeow.PairClientChrome, "Chrome (Linux)"))
	if err := me.EnterCode(code); err != nil {
		t.Fatal(err)
	}
	wait[*events.PairSuccess](t, b.events)
	wait[*events.Connected](t, b.events)
}

func TestVersionThatIsSetIsTold(t *testing.T) {
	s, b, _, _ := linked(t)
	old := store.GetWAVersion()
	defer store.SetWAVersion(old)
	store.SetWAVersion(store.WAVersionContainer{2, 3000, 1999999999})
	s.Cut(*b.Store.ID)
	wait[*events.Disconnected](t, b.events)
	wait[*events.Connected](t, b.events)
	if told := s.Payload(*b.Store.ID).GetUserAgent().GetAppVersion().GetTertiary(); told != 1999999999 {
		t.Errorf("the login says version %d", told)
	}
}

func TestConnectionComesBackAfterACut(t *testing.T) {
	s, b, _, _ := linked(t)
	s.Cut(*b.Store.ID)
	wait[*events.Disconnected](t, b.events)
	wait[*events.Connected](t, b.events)
	s.Kick(*b.Store.ID, "503", "")
	wait[*events.Connected](t, b.events)
}

func TestReplacedSessionKeepsItsDeviceAndStaysAway(t *testing.T) {
	s, b, _, _ := linked(t)
	s.Kick(*b.Store.ID, "", "replaced")
	wait[*events.StreamReplaced](t, b.events)
	eventually(t, "offline", func() bool { return !s.Online(*b.Store.ID) })
	if b.devices(t) != 1 {
		t.Error("the device is gone")
	}
}

func TestRemovedDeviceIsForgotten(t *testing.T) {
	s, b, _, _ := linked(t)
	s.Kick(*b.Store.ID, "401", "device_removed")
	wait[*events.LoggedOut](t, b.events)
	eventually(t, "store wiped", func() bool { return b.devices(t) == 0 })
}

// What a client is told when its login is refused, and whether it keeps what it was linked with.
func TestRefusedLogins(t *testing.T) {
	for reason, want := range map[int]struct {
		event string
		kept  bool
	}{
		401: {"*events.LoggedOut", false},
		402: {"*events.TemporaryBan", true},
		403: {"*events.LoggedOut", false},
		405: {"*events.ClientOutdated", true},
		406: {"*events.LoggedOut", false},
		409: {"*events.ConnectFailure", true},
		503: {"*events.Disconnected", true},
	} {
		t.Run(strconv.Itoa(reason), func(t *testing.T) {
			s, b, _, _ := linked(t)
			s.RefuseLogins(reason, map[string]any{"code": 101, "expire": 3600})
			s.Cut(*b.Store.ID)
			wait[*events.Disconnected](t, b.events) // of the cut
			limit := time.After(10 * time.Second)
			for {
				select {
				case evt := <-b.events:
					if fmt.Sprintf("%T", evt) != want.event {
						continue
					}
				case <-limit:
					t.Fatalf("no %s came", want.event)
				}
				break
			}
			eventually(t, "the store is as it must be", func() bool { return b.devices(t) == 1 == want.kept })
		})
	}
}

func TestFrozenConnection(t *testing.T) {
	s, b, me, p := linked(t)
	s.Freeze(*b.Store.ID)
	say(t, p, me.PN, "still there?")
	wait[*events.KeepAliveTimeout](t, b.events)
	wait[*events.Connected](t, b.events)
}
