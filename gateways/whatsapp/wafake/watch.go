package wafake

import (
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
)

// Stanza is one stanza that a client sent.
type Stanza struct {
	From types.JID // the sending device
	Node waBinary.Node
}

// Sent returns the stanzas with the given tag that devices of an account have sent so far.
func (s *Server) Sent(a *Account, tag string) (out []Stanza) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.log {
		if st.Node.Tag == tag && a.owns(st.From) {
			out = append(out, st)
		}
	}
	return out
}

// Online says whether a device is logged in.
func (s *Server) Online(dev types.JID) bool { return s.connOf(dev) != nil }

// Waiting returns how many stanzas a device hasn't acknowledged yet.
func (s *Server) Waiting(jid types.JID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dev := s.lookup(jid); dev != nil {
		return len(dev.waiting)
	}
	return 0
}

// Payload returns what a device presented itself with when it last logged in: client version,
// platform and so on.
func (s *Server) Payload(dev types.JID) *waWa6.ClientPayload {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, d := s.lookup(dev); d != nil {
		return d.payload
	}
	return nil
}

func (s *Server) connOf(dev types.JID) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, d := s.lookup(dev); d != nil {
		return s.conns[d.jid]
	}
	return nil
}
