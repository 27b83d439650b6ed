package wafake

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"hearth/gateways/whatsapp/turns"
)

// TestSameIDTwice shows that whatsmeow doesn't drop a message whose ID it has seen.
func TestSameIDTwice(t *testing.T) {
	_, b, me, p := linked(t)
	for range 2 {
		say(t, p, me.PN, "once", whatsmeow.SendRequestExtra{ID: "3EB0ONCE"})
	}
	for range 2 {
		if msg := wait[*events.Message](t, b.events); msg.Info.ID != "3EB0ONCE" {
			t.Fatal(msg.Info.ID)
		}
	}
}

// TestLostAck shows what a sender learns when a message gets through and its acknowledgement doesn't.
func TestLostAck(t *testing.T) {
	s, b, _, p := linked(t)
	var n int
	s.OnSend(func(from types.JID, id string) Fate {
		if from.User == p.Account.PN.User {
			return Fate{}
		}
		n++
		switch n {
		case 1:
			return Fate{NoAck: true}
		case 2:
			return Fate{NoAck: true, Cut: true}
		}
		return Fate{}
	})
	ctx := context.Background()
	_, err := b.SendMessage(ctx, p.Account.PN, &waE2E.Message{Conversation: proto.String("one")}, whatsmeow.SendRequestExtra{ID: "3EB0A", Timeout: 300 * time.Millisecond})
	t.Logf("no ack: %v", err)
	if !errors.Is(err, whatsmeow.ErrMessageTimedOut) {
		t.Fatal(err)
	}
	hear(t, p, "one")
	_, err = b.SendMessage(ctx, p.Account.PN, &waE2E.Message{Conversation: proto.String("two")}, whatsmeow.SendRequestExtra{ID: "3EB0B"})
	t.Logf("no ack, connection cut: %v (messages sent: %d)", err, n)
	hear(t, p, "two")
	if _, text, err := p.Hear(500 * time.Millisecond); err == nil {
		t.Fatalf("and then %q", text)
	}
}

// TestCrashBeforeHandling shows what it takes not to lose a message that arrived but wasn't handled.
func TestCrashBeforeHandling(t *testing.T) {
	for _, buffer := range []bool{false, true} {
		s := New(t)
		me, alice := s.AddAccount("Bot", "15550000001"), s.AddAccount("Alice", "15550000002")
		db := openDB(t, "bot")
		b := newBot(t, s, db)
		b.linkByQR(t, me)
		p := phone(t, alice)
		jid := *b.Store.ID

		b.SynchronousAck, b.EnableDecryptedEventBuffer = true, buffer
		failed := make(chan struct{}, 10)
		b.AddEventHandlerWithSuccessStatus(func(evt any) bool {
			if _, ok := evt.(*events.Message); ok {
				failed <- struct{}{}
				return false // as if the process died here
			}
			return true
		})
		say(t, p, me.PN, "remember this")
		<-failed
		b.Disconnect()
		if n := s.Waiting(jid); n != 1 {
			t.Fatalf("%d waiting", n)
		}

		again := newBot(t, s, db)
		again.SynchronousAck, again.EnableDecryptedEventBuffer = true, buffer
		if err := again.Connect(); err != nil {
			t.Fatal(err)
		}
		var got *events.Message
		for done := false; !done; {
			switch evt := (<-again.events).(type) {
			case *events.Message:
				got = evt
			case *events.OfflineSyncCompleted:
				done = true
			}
		}
		eventually(t, "acknowledged", func() bool { return s.Waiting(jid) == 0 })
		t.Logf("EnableDecryptedEventBuffer=%v: redelivered=%v", buffer, got != nil)
		if (got != nil) != buffer {
			t.Fatalf("buffer=%v, got %v", buffer, got)
		}
	}
}

func TestUndecryptableIsRetried(t *testing.T) {
	_, b, me, p := linked(t)
	ctx := context.Background()
	say(t, p, me.PN, "first")
	wait[*events.Message](t, b.events)
	say(t, b, p.Account.PN, "hi")
	hear(t, p, "hi")
	if err := b.Store.Sessions.DeleteAllSessions(ctx, p.Account.LID.User+"_1"); err != nil {
		t.Fatal(err)
	}
	say(t, p, me.PN, "second")
	bad := wait[*events.UndecryptableMessage](t, b.events)
	msg := wait[*events.Message](t, b.events)
	t.Logf("undecryptable %s, then message %s %q after %d retries", bad.Info.ID, msg.Info.ID, Text(msg.Message), msg.RetryCount)
	if msg.Info.ID != bad.Info.ID || Text(msg.Message) != "second" {
		t.Fatal(msg.Info)
	}
}

// TestPanicLosesMessage shows that a handler that panics counts as one that succeeded.
func TestPanicLosesMessage(t *testing.T) {
	s, b, me, p := linked(t)
	b.SynchronousAck, b.EnableDecryptedEventBuffer = true, true
	b.AddEventHandlerWithSuccessStatus(func(evt any) bool {
		if _, ok := evt.(*events.Message); ok {
			panic("bug in the handler")
		}
		return true
	})
	say(t, p, me.PN, "lost")
	wait[*events.Message](t, b.events)
	eventually(t, "acknowledged", func() bool { return s.Waiting(*b.Store.ID) == 0 })
}

// TestRetryAfterRestart shows that a sender that was restarted can only send a message again that
// the receiver couldn't decrypt if the message was kept, by whatsmeow or by its user.
func TestRetryAfterRestart(t *testing.T) {
	for _, keeper := range []string{"nobody", "the gateway", "whatsmeow"} {
		s := New(t)
		me, alice := s.AddAccount("Bot", "15550000001"), s.AddAccount("Alice", "15550000002")
		db := openDB(t, "bot")
		b := newBot(t, s, db)
		b.UseRetryMessageStore = keeper == "whatsmeow"
		b.linkByQR(t, me)
		p := phone(t, alice)
		p.Disconnect()
		s.OnSend(func(types.JID, string) Fate { return Fate{Garble: true} })
		id := say(t, b, alice.PN, "readable after all")
		s.OnSend(nil)
		b.Disconnect()

		again := newBot(t, s, db)
		again.UseRetryMessageStore = keeper == "whatsmeow"
		if keeper == "the gateway" {
			again.GetMessageForRetry = func(requester, to types.JID, want types.MessageID) *waE2E.Message {
				if want != id {
					return nil
				}
				return &waE2E.Message{Conversation: proto.String("readable after all")}
			}
		}
		if err := again.Connect(); err != nil {
			t.Fatal(err)
		}
		wait[*events.Connected](t, again.events)
		if err := p.Connect(); err != nil {
			t.Fatal(err)
		}
		_, text, err := p.Hear(2 * time.Second)
		t.Logf("kept by %s: heard %q, %v", keeper, text, err)
		if (err == nil) != (keeper != "nobody") {
			t.Fatal("unexpected")
		}
	}
}

// TestTalkingAtOnce counts what gets lost when two clients write to each other at the same time, if
// the bot sends as it likes and if it takes turns.
func TestTalkingAtOnce(t *testing.T) {
	const n = 300
	for _, careful := range []bool{false, true} {
		_, b, me, p := linked(t)
		say(t, p, me.PN, "hello")
		wait[*events.Message](t, b.events)
		say(t, b, p.Account.PN, "hello")
		hear(t, p, "hello")
		var s sender = b
		if careful {
			s = turns.Take(b.Client)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for range n {
				say(t, p, me.PN, "from Alice")
			}
		})
		wg.Go(func() {
			for range n {
				say(t, s, p.Account.PN, "from the bot")
			}
		})
		var atBot, atAlice int
		for quiet := false; !quiet; {
			select {
			case evt := <-b.events:
				if _, ok := evt.(*events.Message); ok {
					atBot++
				}
			case <-p.Messages:
				atAlice++
			case <-time.After(time.Second):
				quiet = true
			}
		}
		wg.Wait()
		t.Logf("careful=%v: of %d each way, %d got to Alice and %d to the bot", careful, n, atAlice, atBot)
		if careful && (atBot != n || atAlice != n) {
			t.Error("lost messages")
		}
	}
}

// TestKilledProcess runs a gateway in a process of its own and kills it.
func TestKilledProcess(t *testing.T) {
	s := New(t)
	me, alice := s.AddAccount("Bot", "15550000001"), s.AddAccount("Alice", "15550000002")
	dir := t.TempDir()
	start := func(mode string) (*exec.Cmd, *bufio.Scanner) {
		root := s.Root()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.run=^TestGatewayProcess$")
		cmd.Env = append(os.Environ(), "WAFAKE_ADDR="+s.Addr(), "WAFAKE_ROOT="+hex.EncodeToString(root[:]), "WAFAKE_DIR="+dir, "WAFAKE_MODE="+mode)
		out := must[io.ReadCloser](t)(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { kill(cmd) })
		return cmd, bufio.NewScanner(out)
	}
	expect := func(sc *bufio.Scanner, prefix string) string {
		for sc.Scan() {
			if rest, ok := strings.CutPrefix(sc.Text(), prefix+" "); ok {
				return rest
			}
		}
		t.Fatalf("no %s", prefix)
		return ""
	}
	cmd, out := start("hang")
	if err := me.ScanQR(expect(out, "qr")); err != nil {
		t.Fatal(err)
	}
	expect(out, "connected")
	p := phone(t, alice)
	say(t, p, me.PN, "survive this")
	expect(out, "got")
	kill(cmd)
	if _, text, err := p.Hear(200 * time.Millisecond); err == nil {
		t.Fatalf("heard %q from the dead", text)
	}
	start("answer")
	hear(t, p, "you said: survive this")
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may be dead already
	_ = cmd.Wait()
}

// TestGatewayProcess isn't a test; it is the process that TestKilledProcess starts.
func TestGatewayProcess(t *testing.T) {
	addr := os.Getenv("WAFAKE_ADDR")
	if addr == "" {
		t.Skip("only in TestKilledProcess")
	}
	root, _ := hex.DecodeString(os.Getenv("WAFAKE_ROOT"))
	whatsmeow.WACertPubKey = [32]byte(root)
	ctx := context.Background()
	db, err := sql.Open("sqlite3", "file:"+os.Getenv("WAFAKE_DIR")+"/bot.db?_foreign_keys=on&_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	container := sqlstore.NewWithDB(db, "sqlite3", nil)
	if err = container.Upgrade(ctx); err != nil {
		t.Fatal(err)
	}
	dev := must[*store.Device](t)(container.GetFirstDevice(ctx))
	cli := whatsmeow.NewClient(dev, nil)
	cli.SynchronousAck, cli.EnableDecryptedEventBuffer = true, true
	Redirect(cli, addr)
	cli.AddEventHandlerWithSuccessStatus(func(evt any) bool {
		switch evt := evt.(type) {
		case *events.QR:
			fmt.Println("qr", evt.Codes[0])
		case *events.Connected:
			fmt.Println("connected", cli.Store.ID)
		case *events.Message:
			fmt.Println("got", Text(evt.Message))
			if os.Getenv("WAFAKE_MODE") == "hang" {
				select {}
			}
			_, err := cli.SendMessage(ctx, evt.Info.Chat, &waE2E.Message{Conversation: proto.String("you said: " + Text(evt.Message))})
			return err == nil
		}
		return true
	})
	if err = cli.Connect(); err != nil {
		t.Fatal(err)
	}
	select {}
}
