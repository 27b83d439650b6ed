// Package tgfake is a strict Bot API server for tests. It holds every request to a machine-readable list of Bot API 10.3,
// keeps Telegram's rules of offsets, texts, entities, buttons and edits, fails on demand in every way that was seen, and
// records what it was asked. A request that Telegram would take no notice of, such as one with a parameter that does not
// exist, fails the test at its end.
//
// The tour: tgfake.go (the server and its waiting), http.go (requests), spec.go (the list), updates.go (the queue and its
// offsets), methods.go and text.go (what the methods do), faults.go, people.go (who writes and presses).
package tgfake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// The bot that a server knows, unless it is told another one.
const (
	Bot      int64 = 123456
	Username       = "hearth_test_bot"
	secret         = "CANARY-of-the-tests_0123456789abcdefgh"
)

// Server is one Bot API server. Its methods may be called from several goroutines and fail the test they were made for.
type Server struct {
	t        testing.TB
	spec     *spec
	memory   bool // no sockets: connections are pipes
	address  string
	serving  *http.Server
	listener net.Listener
	client   *http.Client

	mu         sync.Mutex
	bot        int64
	token      string
	change     chan struct{} // closed and made anew whenever something happens
	violations []string
	calls      []*Call
	faults     []*fault
	queue      queue
	chats      map[int64]*room
	nextID     int // of messages
	presses    map[string]press
	webhook    string
	commands   string
}

// New starts a server on the loopback interface; it ends with the test.
func New(t testing.TB) *Server { return start(t, false) }

// NewInMemory starts a server without a socket, which only Client reaches: in a bubble of testing/synctest time then moves.
func NewInMemory(t testing.TB) *Server { return start(t, true) }

func start(t testing.TB, memory bool) *Server {
	t.Helper()
	s := &Server{
		t: t, memory: memory, spec: readSpec(t), change: make(chan struct{}), chats: map[int64]*room{}, presses: map[string]press{},
		queue: queue{next: 1000}, nextID: 10, bot: Bot, token: fmt.Sprintf("%d:%s", Bot, secret),
	}
	transport := &http.Transport{}
	if memory {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) }
	}
	s.client = &http.Client{Transport: transport}
	s.Up()
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		s.Down()
		for _, v := range s.Violations() {
			t.Errorf("the Bot API has no such thing: %s", v)
		}
	})
	return s
}

// URL is where the API is, without the token.
func (s *Server) URL() string { return "http://" + s.address }

// Token is the bot's token. What stands behind its colon is in no other text.
func (s *Server) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Reissue revokes the token of the bot, or of another one from now on, and gives the new one. A poll that waits
// is not cut.
func (s *Server) Reissue(bot int64) string {
	s.mu.Lock()
	s.bot, s.token = bot, fmt.Sprintf("%d:%s%s", bot, "RE-", secret)
	token := s.token
	s.mu.Unlock()
	return token
}

// Client is a client that reaches the server.
func (s *Server) Client() *http.Client { return s.client }

// Up lets the server be reached, at the address it has had before.
func (s *Server) Up() {
	s.t.Helper()
	var l net.Listener = newPipes()
	if s.memory {
		s.address = "telegram.test"
	} else {
		at := s.address
		if at == "" {
			at = "127.0.0.1:0"
		}
		var err error
		if l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", at); err != nil {
			s.t.Fatal(err)
		}
		s.address = l.Addr().String()
	}
	serving := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	s.listener, s.serving = l, serving
	s.mu.Unlock()
	go func() {
		if err := serving.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.t.Errorf("serve: %v", err)
		}
	}()
}

// Down cuts every connection, and refuses new ones until Up.
func (s *Server) Down() {
	s.mu.Lock()
	serving := s.serving
	s.listener = nil
	s.mu.Unlock()
	if err := serving.Close(); err != nil {
		s.t.Errorf("close: %v", err)
	}
}

// dial connects without a socket.
func (s *Server) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	l, up := s.listener.(*pipes)
	s.mu.Unlock()
	if !up {
		return nil, errors.New("connection refused")
	}
	return l.dial(ctx)
}

// happened wakes those who wait. s.mu is held.
func (s *Server) happened() {
	close(s.change)
	s.change = make(chan struct{})
}

// limit bounds every wait.
const limit = 20 * time.Second

// WaitFor waits until a condition holds that depends on what the server was asked or told. It is looked at after every
// request and every answer.
func (s *Server) WaitFor(what string, cond func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if !s.wait(ctx, cond) {
		s.t.Fatalf("waited %v for %s; calls: %v", limit, what, s.names())
	}
}

// Wait is WaitFor with a limit of one's own. It reports whether the condition holds.
func (s *Server) wait(ctx context.Context, cond func() bool) bool {
	for {
		s.mu.Lock()
		change := s.change
		s.mu.Unlock()
		if cond() {
			return true
		}
		select {
		case <-change:
		case <-ctx.Done():
			return cond()
		}
	}
}

// violation notes a request that is not of the Bot API. s.mu is held.
func (s *Server) violation(v string) { s.violations = append(s.violations, v) }

// Violations takes what was found wrong with the requests up to now; the test does not fail for it any more.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.violations
	s.violations = nil
	return out
}

// pipes is a listener whose connections are pairs of pipes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (l *pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
