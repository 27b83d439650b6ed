package wafake

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
)

// conn is one websocket from a client.
type conn struct {
	s      *Server
	tr     *transport
	static []byte                                             // the client's static Noise key
	reg    *waWa6.ClientPayload_DevicePairingRegistrationData // while not linked
	refs   []string
	device *device
	frozen atomic.Bool
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ctx := r.Context()
	tr, static, payload, err := accept(ctx, ws, s.id)
	if err != nil {
		s.logf("handshake: %v", err)
		return
	}
	c := &conn{s: s, tr: tr, static: static}
	if !c.open(payload) {
		return
	}
	defer c.closed()
	for {
		node, err := tr.readNode(ctx)
		if err != nil {
			return
		}
		if !c.frozen.Load() {
			c.handle(node)
		}
	}
}

// open starts a session: linking if the client sent registration data, else login. It reports
// whether the client may stay.
func (c *conn) open(payload *waWa6.ClientPayload) bool {
	s := c.s
	s.mu.Lock()
	if s.failure != nil {
		failure := s.failure
		s.mu.Unlock()
		c.refuse(failure)
		return false
	}
	if c.reg = payload.DevicePairingData; c.reg != nil {
		var refs []waBinary.Node
		for range 6 {
			ref := "2@" + s.newID()
			c.refs = append(c.refs, ref)
			s.pairing[ref] = c
			refs = append(refs, waBinary.Node{Tag: "ref", Content: []byte(ref)})
		}
		id := s.newID()
		s.mu.Unlock()
		c.send(waBinary.Node{
			Tag:     "iq",
			Attrs:   waBinary.Attrs{"from": types.ServerJID, "id": id, "type": "set", "xmlns": "md"},
			Content: []waBinary.Node{{Tag: "pair-device", Content: refs}},
		})
		return true
	}

	jid := types.NewJID(strconv.FormatUint(payload.GetUsername(), 10), types.DefaultUserServer)
	jid.Device = uint16(payload.GetDevice())
	account, dev := s.lookup(jid)
	if dev == nil || (dev.noise != nil && !bytes.Equal(dev.noise, c.static)) {
		s.mu.Unlock()
		c.refuse(waBinary.Attrs{"reason": 401, "location": "wafake"})
		return false
	}
	old := s.conns[dev.jid]
	c.device, s.conns[dev.jid], dev.payload = dev, c, payload
	waiting := append([]waBinary.Node{}, dev.waiting...)
	prev, done := dev.turn() // what is delivered from now on comes behind what has piled up
	s.mu.Unlock()
	<-prev
	defer close(done)
	if old != nil {
		go old.hangUp(waBinary.Node{Tag: "stream:error", Content: []waBinary.Node{{Tag: "conflict", Attrs: waBinary.Attrs{"type": "replaced"}}}})
	}
	c.send(waBinary.Node{Tag: "success", Attrs: waBinary.Attrs{"lid": account.lidDevice(dev.jid.Device), "t": now()}})

	// What piled up while the device was away comes between these two marks.
	c.send(waBinary.Node{Tag: "ib", Content: []waBinary.Node{{Tag: "offline_preview", Attrs: waBinary.Attrs{
		"count": len(waiting), "message": len(waiting), "receipt": 0, "notification": 0, "appdata": 0,
	}}}})
	for _, node := range waiting {
		late := waBinary.Attrs{"offline": "0"}
		for k, v := range node.Attrs {
			late[k] = v
		}
		node.Attrs = late
		c.send(node)
	}
	c.send(waBinary.Node{Tag: "ib", Content: []waBinary.Node{{Tag: "offline", Attrs: waBinary.Attrs{"count": len(waiting)}}}})
	return true
}

func (c *conn) closed() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.device != nil && c.s.conns[c.device.jid] == c {
		delete(c.s.conns, c.device.jid)
	}
	for _, ref := range c.refs {
		delete(c.s.pairing, ref)
	}
}

func (c *conn) send(node waBinary.Node) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.tr.writeNode(ctx, node); err != nil && !errors.Is(err, net.ErrClosed) {
		c.cut()
	}
}

func (c *conn) cut() { _ = c.tr.ws.CloseNow() }

// unread is how long a connection outlives its last stanza: whatsmeow drops what it has not handled when the line goes.
const unread = 200 * time.Millisecond

// refuse ends a login that fails. The pause is for the same reason as in hangUp.
func (c *conn) refuse(why waBinary.Attrs) {
	c.send(waBinary.Node{Tag: "failure", Attrs: why})
	timer := time.NewTimer(unread)
	defer timer.Stop()
	<-timer.C
}

// hangUp sends a last stanza and closes the connection a little later: whatsmeow drops stanzas that
// it hasn't handled yet when the connection goes away.
func (c *conn) hangUp(last waBinary.Node) {
	c.send(last)
	time.AfterFunc(unread, c.cut)
}

func now() int64 { return time.Now().Unix() }
