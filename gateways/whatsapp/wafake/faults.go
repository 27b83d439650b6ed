package wafake

import (
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// Fate says what becomes of a message a client sends.
type Fate struct {
	Drop   bool // lose it: neither deliver nor acknowledge it
	NoAck  bool // deliver it, but lose the acknowledgement
	Garble bool // deliver it so damaged that it can't be decrypted
	Error  int  // refuse it with this error code in the acknowledgement
	Cut    bool // then cut the sender's connection
}

// OnSend decides the fate of every message that clients send. It must not call back into s.
func (s *Server) OnSend(fn func(from types.JID, id string) Fate) {
	s.mu.Lock()
	s.onSend = fn
	s.mu.Unlock()
}

// Down makes the server unreachable for who connects from now on. Connections that are open stay open; see Cut.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	s.down = down
	s.mu.Unlock()
}

// RefuseLogins answers every login from now on with <failure reason=.../>, as the real server does with clients that are
// outdated (405), banned (402, with code and expire) or unlinked (401). A reason of 0 lets clients in again.
func (s *Server) RefuseLogins(reason int, more waBinary.Attrs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure = nil; reason != 0 {
		s.failure = waBinary.Attrs{"reason": reason, "location": "wafake"}
		for k, v := range more {
			s.failure[k] = v
		}
	}
}

// Kick sends a device a stream error, such as code "401" with conflict "device_removed", code "503", or just conflict
// "replaced", and closes its connection.
func (s *Server) Kick(dev types.JID, code, conflict string) {
	node := waBinary.Node{Tag: "stream:error", Attrs: waBinary.Attrs{"code": code}}
	if conflict != "" {
		node.Content = []waBinary.Node{{Tag: "conflict", Attrs: waBinary.Attrs{"type": conflict}}}
	}
	if c := s.connOf(dev); c != nil {
		c.hangUp(node)
	}
}

// Cut drops a device's connection without a word.
func (s *Server) Cut(dev types.JID) {
	if c := s.connOf(dev); c != nil {
		c.cut()
	}
}

// CutAll drops everybody's.
func (s *Server) CutAll() {
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for _, c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.cut()
	}
}

// Freeze makes the server ignore everything from a device's connection without closing it, as when the network dies
// silently.
func (s *Server) Freeze(dev types.JID) {
	if c := s.connOf(dev); c != nil {
		c.frozen.Store(true)
	}
}
