package whatsapp

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	waLog "go.mau.fi/whatsmeow/util/log"

	"hearth/gateways"
	"hearth/gateways/whatsapp/wafake"
	"hearth/vault"
)

func TestMain(m *testing.M) {
	// The library reads these all the time, so they cannot be set later.
	whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = 200*time.Millisecond, 210*time.Millisecond
	whatsmeow.KeepAliveResponseDeadline = 300 * time.Millisecond
	m.Run()
}

// world is a gateway with a server, a vault, and people with phones.
type world struct {
	t      testing.TB
	server *wafake.Server
	me     *wafake.Account // the agent's number
	ann    *wafake.Account // an owner
	vault  *vault.Vault
	gw     *Gateway
	log    *lines
	dir    string

	mu     sync.Mutex
	change chan struct{}
	taken  []vault.Inbound
	accept func(vault.Inbound) error // nil = everything is taken
	phones map[*wafake.Account]*wafake.Phone
}

var errFull = errors.New("the disk is full")

func (w *world) deviceOf() types.JID {
	jid := w.me.PN
	jid.Device = 1
	return jid
}

// newWorld makes a world in which nothing is linked yet.
func newWorld(t testing.TB, mode string) *world {
	t.Helper()
	s := wafake.New(t)
	w := &world{t: t, server: s, log: &lines{}, dir: t.TempDir(), change: make(chan struct{}), phones: map[*wafake.Account]*wafake.Phone{}}
	w.me, w.ann = s.AddAccount("Hearth", "15550000001"), s.AddAccount("Ann", "15550000002")
	var err error
	if w.vault, err = vault.Open(t.Context(), filepath.Join(w.dir, "v"), vault.Options{Gateways: []string{"terminal", "telegram", Name}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.vault.Close(); err != nil {
			t.Error(err)
		}
	})
	owner := "+" + w.ann.PN.User
	if mode == Self {
		owner = "+" + w.me.PN.User
	}
	w.people(vault.Person{Name: "Ann", Role: vault.Owner, Identities: []vault.Identity{{Gateway: Name, Ext: owner}, {Gateway: "telegram", Ext: "1"}}})
	w.gw = w.gateway(mode)
	return w
}

// gateway makes a gateway on the world's files.
func (w *world) gateway(mode string) *Gateway {
	g := New(Options{
		Vault: w.vault, Path: filepath.Join(w.dir, "whatsapp.db"), Mode: mode, Hook: w.server.Attach,
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	g.limits = limits{
		connect: 3 * time.Second, login: 10 * time.Second, ack: 2 * time.Second, firstPause: 50 * time.Millisecond, steady: time.Minute,
		gap: time.Millisecond, patience: 2 * time.Second, outage: time.Hour, cold: 10,
	}
	return g
}

// linked makes a world with a linked account, the gateway's Receive running. What is set on the gateway is set before.
func linked(t testing.TB, mode string, set ...func(*Gateway)) *world {
	t.Helper()
	w := newWorld(t, mode)
	for _, s := range set {
		s(w.gw)
	}
	w.receive()
	w.link()
	return w
}

// inGroups has the gateway take part in groups.
func inGroups(mode string) func(*Gateway) {
	return func(g *Gateway) { g.opt.Groups = func() string { return mode } }
}

func (w *world) people(people ...vault.Person) {
	w.t.Helper()
	if err := w.vault.SyncPeople(w.t.Context(), people); err != nil {
		w.t.Fatal(err)
	}
}

// link has the phone scan the first code.
func (w *world) link() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	account, err := w.gw.Link(ctx, "", func(c Code) {
		if err := w.me.ScanQR(c.QR); err != nil {
			w.t.Error(err)
		}
	})
	if err != nil || account != "+"+w.me.PN.User {
		w.t.Fatalf("linked %q, %v; log:\n%s", account, err, w.log)
	}
}

// receive runs Receive until the test ends or stop is called.
func (w *world) receive() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	g := w.gw
	go func() { ended <- g.Receive(ctx, w.take) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				w.t.Errorf("Receive: %v", err)
			}
		case <-time.After(5 * time.Second):
			w.t.Error("Receive did not end")
		}
	})
	w.t.Cleanup(stop)
	return stop
}

func (w *world) take(_ context.Context, in vault.Inbound) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.accept != nil {
		if err := w.accept(in); err != nil {
			return err
		}
	}
	w.taken = append(w.taken, in)
	close(w.change)
	w.change = make(chan struct{})
	return nil
}

func (w *world) accepting(how func(vault.Inbound) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.accept = how
}

// inbound waits until count events were taken.
func (w *world) inbound(count int) []vault.Inbound {
	w.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		w.mu.Lock()
		got, change := slices.Clone(w.taken), w.change
		w.mu.Unlock()
		if len(got) >= count {
			return got
		}
		select {
		case <-change:
		case <-limit:
			w.t.Fatalf("%d events came, want %d: %+v; log:\n%s", len(got), count, got, w.log)
		}
	}
}

// phone is an account's phone, which is logged in when it is first asked for.
func (w *world) phone(a *wafake.Account) *wafake.Phone {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.phones[a]; p != nil {
		return p
	}
	path := &url.URL{Scheme: "file", OmitHost: true, Path: filepath.Join(w.t.TempDir(), "phone.db")}
	db, err := sql.Open("sqlite3", path.String()+pragmas)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = db.Close() })
	p, err := a.Phone(db, waLog.Noop)
	if err != nil {
		w.t.Fatal(err)
	}
	w.phones[a] = p
	return p
}

// says has somebody write to the agent.
func (w *world) says(a *wafake.Account, text string) types.MessageID {
	w.t.Helper()
	return w.sends(a, w.me.PN, &waE2E.Message{Conversation: proto.String(text)})
}

func (w *world) sends(a *wafake.Account, to types.JID, m *waE2E.Message) types.MessageID {
	w.t.Helper()
	sent, err := w.phone(a).SendMessage(w.t.Context(), to, m)
	if err != nil {
		w.t.Fatal(err)
	}
	return sent.ID
}

// hears waits for the next text that a phone gets.
func (w *world) hears(a *wafake.Account, want string) {
	w.t.Helper()
	_, text, err := w.phone(a).Hear(10 * time.Second)
	if err != nil || text != want {
		w.t.Fatalf("%s heard %q, %v; want %q; log:\n%s", a.Name, text, err, want, w.log)
	}
}

func (w *world) to(a *wafake.Account) vault.Address {
	return vault.Address{Gateway: Name, Account: "+" + w.me.PN.User, Chat: "+" + a.PN.User}
}

func (w *world) part(to vault.Address, text string) vault.Part {
	return vault.Part{ID: 1, To: to, Class: vault.Answer, State: "sending", Text: text, Stable: w.gw.NewID()}
}

// fails sends a part that must not arrive.
func (w *world) fails(p vault.Part) *gateways.SendError {
	w.t.Helper()
	ref, err := w.gw.Send(w.t.Context(), p)
	var known *gateways.SendError
	if !errors.As(err, &known) {
		w.t.Fatalf("Send gave %q, %v", ref, err)
	}
	return known
}

// state waits until the gateway says something of how it is.
func (w *world) state(want string) {
	w.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		_, s, changed := w.gw.now()
		if s.words == want {
			return
		}
		select {
		case <-changed:
		case <-limit:
			w.t.Fatalf("the state is %q, want %q; log:\n%s", s.words, want, w.log)
		}
	}
}

func (w *world) up() { w.t.Helper(); w.state(connected("+"+w.me.PN.User, w.gw.opt.Mode).words) }

// told gives the notices that wait for the owner, and where.
func (w *world) told() []string {
	w.t.Helper()
	parts, err := w.vault.Parts(w.t.Context(), true, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, p := range parts {
		if p.Class == vault.Notice {
			out = append(out, fmt.Sprintf("%s: %s", p.To.Gateway, p.Text))
		}
	}
	return out
}

// eventually waits until something is so.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	limit, tick := time.After(20*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			w.t.Fatalf("never: %s; log:\n%s", what, w.log)
		}
	}
}

// lines is a log that tests read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
