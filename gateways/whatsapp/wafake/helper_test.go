package wafake

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of the stores
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) {
	// For TestFrozenConnection. whatsmeow reads these all the time, so they can't be set later.
	whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = 200*time.Millisecond, 210*time.Millisecond
	whatsmeow.KeepAliveResponseDeadline, whatsmeow.KeepAliveMaxFailTime = time.Second, 2*time.Second
	m.Run()
}

func openDB(t *testing.T, name string) *sql.DB {
	t.Helper()
	// The path goes into a URI, where # and ? mean something.
	path := &url.URL{Scheme: "file", OmitHost: true, Path: filepath.Join(t.TempDir(), name+".db")}
	db, err := sql.Open("sqlite3", path.String()+"?_foreign_keys=on&_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// bot is a client under test: like a gateway, it starts with an empty store.
type bot struct {
	*whatsmeow.Client
	events chan any
	store  *sqlstore.Container
}

// devices returns how many devices there are in the bot's store.
func (b *bot) devices(t *testing.T) int {
	t.Helper()
	return len(must[[]*store.Device](t)(b.store.GetAllDevices(context.Background())))
}

func newBot(t *testing.T, s *Server, db *sql.DB) *bot {
	t.Helper()
	ctx := context.Background()
	container := sqlstore.NewWithDB(db, "sqlite3", waLog.Noop)
	if err := container.Upgrade(ctx); err != nil {
		t.Fatal(err)
	}
	dev, err := container.GetFirstDevice(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b := &bot{whatsmeow.NewClient(dev, waLog.Noop), make(chan any, 100), container}
	b.AddEventHandler(func(evt any) { b.events <- evt })
	s.Attach(b.Client)
	t.Cleanup(b.Disconnect)
	return b
}

func wait[T any](t *testing.T, ch <-chan any) T {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case evt := <-ch:
			if v, ok := evt.(T); ok {
				return v
			}
		case <-deadline:
			var zero T
			t.Fatalf("no %T came", zero)
		}
	}
}

func (b *bot) linkByQR(t *testing.T, a *Account) {
	t.Helper()
	if err := b.Connect(); err != nil {
		t.Fatal(err)
	}
	qr := wait[*events.QR](t, b.events)
	if err := a.ScanQR(qr.Codes[0]); err != nil {
		t.Fatal(err)
	}
	wait[*events.PairSuccess](t, b.events)
	wait[*events.Connected](t, b.events)
}

func phone(t *testing.T, a *Account) *Phone {
	t.Helper()
	p, err := a.Phone(openDB(t, a.Name), waLog.Noop)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

type sender interface {
	SendMessage(context.Context, types.JID, *waE2E.Message, ...whatsmeow.SendRequestExtra) (whatsmeow.SendResponse, error)
}

func say(t *testing.T, cli sender, to types.JID, text string, extra ...whatsmeow.SendRequestExtra) types.MessageID {
	t.Helper()
	resp, err := cli.SendMessage(context.Background(), to, &waE2E.Message{Conversation: proto.String(text)}, extra...)
	if err != nil {
		t.Fatal(err)
	}
	return resp.ID
}

func hear(t *testing.T, p *Phone, want string) *events.Message {
	t.Helper()
	evt, text, err := p.Hear(5 * time.Second)
	if err != nil || text != want {
		t.Fatalf("%s heard %q, %v; want %q", p.Account.Name, text, err, want)
	}
	return evt
}

// linked sets up a server, a bot account with a linked bot, and Alice with her phone.
func linked(t *testing.T) (*Server, *bot, *Account, *Phone) {
	t.Helper()
	s := New(t)
	me, alice := s.AddAccount("Bot", "15550000001"), s.AddAccount("Alice", "15550000002")
	b := newBot(t, s, openDB(t, "bot"))
	b.linkByQR(t, me)
	return s, b, me, phone(t, alice)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit, tick := time.After(10*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("never: " + what)
		}
	}
}
