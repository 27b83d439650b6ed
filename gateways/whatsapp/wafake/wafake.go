// Package wafake is a WhatsApp server for tests. It runs on loopback, inside the test process, and speaks enough of the
// multi-device protocol for unmodified whatsmeow clients to be linked to it, to log in and to exchange end-to-end encrypted
// messages through it.
//
// Like the real service it cannot read any message: it keeps accounts, device lists, prekeys and media blobs, and passes
// stanzas from one device to another until they are acknowledged. The far ends of a conversation are whatsmeow clients too
// (Account.Phone), so nothing here implements the encryption a second time. It proves our code against whatsmeow, not
// against what the real service allows.
//
// The tour: noise.go, certificate.go and transport.go are the encrypted line; conn.go a connection; account.go who there is;
// link.go and linkcode.go linking; queries.go, messages.go and receipts.go the stanzas; media.go blobs; faults.go what can
// go wrong; watch.go what a test can see; phone.go the far end.
package wafake

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// Server is one fake WhatsApp.
type Server struct {
	t    testing.TB
	id   *identity
	http *httptest.Server

	mu       sync.Mutex
	accounts []*Account
	groups   map[types.JID]*group
	conns    map[types.JID]*conn // live, logged-in connections by device (phone-number JID)
	pairing  map[string]*conn    // connections waiting to be linked, by QR ref
	blobs    map[string][]byte   // media by path
	log      []Stanza
	down     bool                                 // nobody gets a new connection
	failure  waBinary.Attrs                       // if set, logins are answered with <failure>
	onSend   func(from types.JID, id string) Fate // consulted for every <message> a client sends
	nextID   int
	over     bool // the test has ended: nothing may be logged any more
}

// New starts a server and makes every whatsmeow client in this process trust its certificate until the test ends. whatsmeow
// keeps the trusted root in a global variable, so tests that use wafake cannot run in parallel with one another.
func New(t testing.TB) *Server {
	t.Helper()
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		t: t, id: id,
		groups:  make(map[types.JID]*group),
		conns:   make(map[types.JID]*conn),
		pairing: make(map[string]*conn),
		blobs:   make(map[string][]byte),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/ws/chat", s.serveSocket)
	mux.HandleFunc("POST /mms/", s.serveUpload)
	mux.HandleFunc("GET /mms/", s.serveDownload)
	s.http = httptest.NewServer(mux)

	trusted := whatsmeow.WACertPubKey
	whatsmeow.WACertPubKey = *id.root.Pub
	t.Cleanup(func() {
		s.mu.Lock()
		s.over = true
		s.mu.Unlock()
		s.CutAll()
		s.http.Close()
		whatsmeow.WACertPubKey = trusted
	})
	return s
}

// Addr is the server's loopback address. A process of its own under test needs it for Redirect.
func (s *Server) Addr() string { return s.http.Listener.Addr().String() }

// Root is the key that the server's certificates start from. A process of its own under test sets whatsmeow.WACertPubKey
// to it.
func (s *Server) Root() [32]byte { return *s.id.root.Pub }

// Attach makes a client talk to this server. Call it before Connect.
func (s *Server) Attach(cli *whatsmeow.Client) { Redirect(cli, s.Addr()) }

// Redirect sends all of a client's traffic to addr: the websocket, before and after it is linked, and media. whatsmeow goes
// on asking for https://web.whatsapp.com and so on; the dialer leads every name to addr and leaves TLS out.
func Redirect(cli *whatsmeow.Client, addr string) {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	transport := &http.Transport{DialContext: dial, DialTLSContext: dial}
	cli.SetPreLoginHTTPClient(&http.Client{Transport: transport})
	cli.SetWebsocketHTTPClient(&http.Client{Transport: transport})
	cli.SetMediaHTTPClient(&http.Client{Transport: transport})
}

// newID makes an ID for a stanza of the server's own. s.mu must be held.
func (s *Server) newID() string {
	s.nextID++
	return "wafake-" + strconv.Itoa(s.nextID)
}

// logf and errorf write to the test's log for as long as there is one.
func (s *Server) logf(format string, args ...any) { s.note(s.t.Logf, format, args...) }

func (s *Server) errorf(format string, args ...any) { s.note(s.t.Errorf, format, args...) }

func (s *Server) note(to func(string, ...any), format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		to("wafake: "+format, args...)
	}
}
