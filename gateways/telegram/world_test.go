package telegram

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/gateways"
	"hearth/gateways/gatewaytest"
	"hearth/gateways/telegram/tgfake"
	"hearth/vault"
)

// world is a gateway with a Bot API server at its other end.
type world struct {
	t    testing.TB
	api  *tgfake.Server
	gw   *Gateway
	log  *lines
	mode string // groups

	mu          sync.Mutex
	change      chan struct{}
	taken       []vault.Inbound
	refuse      int // how many offers accept refuses
	moved       [][2]string
	quarantined []string
	told        []string
	failing     error         // of Quarantine, Migrate and Tell
	ahead       time.Duration // of the clock that people see
}

// ann owns the house, eve is a stranger: which of them writes is nothing to the gateway.
var (
	ann = tgfake.Person{ID: 700000000001, First: "Ann"}
	eve = tgfake.Person{ID: 666, First: "Eve", Last: "Sly", Username: "evesly"}
	den = tgfake.Chat{ID: -1001557912345, Type: "supergroup", Title: "Den"}
)

func newWorld(t testing.TB) *world { return enter(t, tgfake.New(t), nil) }

// newStillWorld is a world for a bubble of testing/synctest.
func newStillWorld(t testing.TB) *world {
	api := tgfake.NewInMemory(t)
	return enter(t, api, api.Client())
}

func enter(t testing.TB, api *tgfake.Server, client *http.Client) *world {
	t.Helper()
	w := &world{t: t, api: api, log: &lines{}, mode: groupsMention, change: make(chan struct{})}
	var err error
	w.gw, err = New(Options{
		Token: api.Token(), APIURL: api.URL() + "/", HTTP: client, Groups: func() string { return w.mode },
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			return time.Now().Add(w.ahead)
		},
		Quarantine: func(_ context.Context, account, reason string, raw []byte) error {
			return w.note(func() { w.quarantined = append(w.quarantined, account+" "+reason+" "+string(raw)) })
		},
		Migrate: func(_ context.Context, from, to string) error {
			return w.note(func() { w.moved = append(w.moved, [2]string{from, to}) })
		},
		Tell: func(_ context.Context, key, words string) error {
			return w.note(func() { w.told = append(w.told, key+" "+words) })
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if client == nil {
		t.Cleanup(w.gw.opt.HTTP.CloseIdleConnections)
	}
	api.Open(ann.Private())
	t.Cleanup(w.silent)
	return w
}

// silent holds CFG-11 at the end of every test: the token is nowhere.
func (w *world) silent() {
	_, secret, _ := strings.Cut(w.api.Token(), ":")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, words := range append(append([]string{w.log.String()}, w.told...), w.quarantined...) {
		if strings.Contains(words, secret) {
			w.t.Errorf("the token stands in %q", words)
		}
	}
}

func (w *world) note(what func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing != nil {
		return w.failing
	}
	what()
	close(w.change)
	w.change = make(chan struct{})
	return nil
}

var errFull = errors.New("the disk is full")

func (w *world) accept(_ context.Context, in vault.Inbound) error {
	w.mu.Lock()
	if w.refuse > 0 {
		w.refuse--
		w.mu.Unlock()
		return errFull
	}
	w.mu.Unlock()
	return w.note(func() { w.taken = append(w.taken, in) })
}

// receive runs Receive until the test ends or stop is called.
func (w *world) receive() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.gw.Receive(ctx, w.accept) }()
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

// inbound waits until count events were taken.
func (w *world) inbound(count int) []vault.Inbound {
	w.t.Helper()
	var got []vault.Inbound
	w.until("events", func() bool {
		got = append([]vault.Inbound(nil), w.taken...)
		return len(got) >= count
	})
	return got
}

// until waits for something that the gateway did, which cond sees under w.mu.
func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	limit := time.After(10 * time.Minute) // in a bubble this is nothing
	for {
		w.mu.Lock()
		ok, change := cond(), w.change
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-change:
		case <-limit:
			w.t.Fatalf("waited for %s; log:\n%s", what, w.log)
		}
	}
}

// only gives the one event that a message makes, or nil when it makes none: a message of Ann's in private ends the wait.
func (w *world) only() *vault.Inbound {
	w.t.Helper()
	w.api.Say(ann, "the end")
	w.until("the end", func() bool { return len(w.taken) > 0 && w.taken[len(w.taken)-1].Text == "the end" })
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.taken
	w.taken = nil
	switch len(taken) {
	case 1:
		return nil
	case 2:
		return &taken[0]
	}
	w.t.Fatalf("%d events came: %+v", len(taken)-1, taken)
	return nil
}

func (w *world) to() vault.Address {
	return vault.Address{Gateway: "telegram", Account: w.gw.Account(), Chat: strconv.FormatInt(ann.ID, 10)}
}

func (w *world) part(text string) vault.Part {
	return vault.Part{ID: 1, To: w.to(), Class: vault.Answer, State: "sending", Text: text}
}

// fails sends a part that must not arrive and gives what is said about it.
func (w *world) fails(p vault.Part) *gateways.SendError {
	w.t.Helper()
	ref, err := w.gw.Send(w.t.Context(), p)
	var known *gateways.SendError
	if !errors.As(err, &known) {
		w.t.Fatalf("Send gave %q, %v", ref, err)
	}
	_, secret, _ := strings.Cut(w.api.Token(), ":")
	if strings.Contains(known.Error()+known.Reason(), secret) || strings.Contains(known.Reason(), "://") {
		w.t.Errorf("the error says too much: %v", known)
	}
	return known
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

// far is the far side of the conformance suite.
type far struct {
	*world
	down   *cutLine
	people [gatewaytest.Chats]tgfake.Person
	last   [gatewaytest.Chats]int
}

// cutLine is a dialer that can be out of reach once.
type cutLine struct {
	mu   sync.Mutex
	left int
}

func (c *cutLine) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	broken := c.left > 0
	if broken {
		c.left--
	}
	c.mu.Unlock()
	if broken {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("network is unreachable")}
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func newFar(t *testing.T) gatewaytest.Harness {
	f := &far{down: &cutLine{}}
	client := newClient()
	client.Transport.(*http.Transport).DialContext = f.down.dial
	t.Cleanup(client.CloseIdleConnections)
	f.world = enter(t, tgfake.New(t), client)
	for n := range f.people {
		f.people[n] = tgfake.Person{ID: int64(1000 + n), First: "Ann"}
		f.api.Open(f.people[n].Private())
	}
	f.api.Block(42)
	return f
}

func (f *far) Gateway() gateways.Gateway { return f.gw }

func (f *far) To(n int) vault.Address {
	return vault.Address{Gateway: "telegram", Account: f.gw.Account(), Chat: strconv.FormatInt(f.people[n].ID, 10)}
}

func (f *far) Nowhere() vault.Address {
	return vault.Address{Gateway: "telegram", Account: f.gw.Account(), Chat: "42"}
}

func (f *far) Write(n int, name, text string) {
	p := f.people[n]
	p.First = name
	f.last[n] = f.api.Say(p, text)
}

func (f *far) Edit(n int, text string) {
	f.api.Edit(f.people[n].Private(), f.people[n], f.last[n], text)
}

func (f *far) Press(n int, ref, data string) {
	id, err := strconv.Atoi(ref)
	if err != nil {
		f.t.Fatal(err)
	}
	f.api.Press(f.people[n].ID, f.people[n], id, data)
}

func (f *far) Shown(_ context.Context, n, count int) []gatewaytest.Shown {
	var out []gatewaytest.Shown
	f.api.WaitFor("messages in a chat", func() bool { return len(f.api.Shown(f.people[n].ID)) >= count })
	for _, m := range f.api.Shown(f.people[n].ID) {
		out = append(out, gatewaytest.Shown{Ref: strconv.Itoa(m.ID), Text: m.Text})
	}
	return out
}

func (f *far) Fail(fault gatewaytest.Fault) {
	switch fault {
	case gatewaytest.LineDown:
		f.gw.opt.HTTP.CloseIdleConnections()
		f.down.mu.Lock()
		f.down.left = 1
		f.down.mu.Unlock()
	case gatewaytest.LineCut:
		f.api.Fault("sendMessage", 1, tgfake.DropAfter())
	}
}

func TestConformance(t *testing.T) { gatewaytest.Run(t, newFar) }
