package wafake

import (
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// handleReceipt takes a receipt as the acknowledgement of the message it is for, and passes it on
// to the message's sender.
func (c *conn) handleReceipt(node *waBinary.Node) {
	s := c.s
	ag := node.AttrGetter()
	to, typ := ag.JID("to"), ag.OptionalString("type")
	c.send(waBinary.Node{Tag: "ack", Attrs: waBinary.Attrs{"class": "receipt", "id": node.Attrs["id"], "from": to, "type": typ}})
	if typ == "" || typ == "inactive" || typ == "sender" || typ == "peer_msg" {
		s.settle(c.device, node)
	}
	if typ == "sender" || typ == "peer_msg" || typ == "hist_sync" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, target := to, to
	if p, ok := node.Attrs["participant"].(types.JID); ok {
		target = p
	}
	account := s.account(target)
	if account == nil {
		return
	}
	for _, dev := range account.devices {
		if target.Device != 0 && target.Device != dev.jid.Device && typ == "retry" {
			continue // only the device that sent the message can send it again
		}
		attrs := s.origin(c.device, dev, chat)
		delete(attrs, "recipient")
		attrs["id"], attrs["t"], attrs["type"] = node.Attrs["id"], now(), typ
		out := waBinary.Node{Tag: "receipt", Attrs: attrs}
		if children := node.GetChildren(); children != nil {
			out.Content = children
		}
		s.deliver(dev, out)
	}
}

// settle forgets a stanza that dev has acknowledged. If there are several with the same ID, as when
// a message had to be sent again, it is the oldest one.
func (s *Server) settle(dev *device, ack *waBinary.Node) {
	class := "message"
	if ack.Tag == "ack" {
		class, _ = ack.Attrs["class"].(string)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if dev != nil {
		i := slices.IndexFunc(dev.waiting, func(n waBinary.Node) bool {
			return n.Tag == class && n.Attrs["id"] == ack.Attrs["id"]
		})
		if i >= 0 {
			dev.waiting = slices.Delete(dev.waiting, i, i+1)
		}
	}
}

func (c *conn) handleChatState(node *waBinary.Node) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	to := node.AttrGetter().JID("to")
	if account := s.account(to); account != nil {
		for _, dev := range account.devices {
			if live := s.conns[dev.jid]; live != nil {
				out := waBinary.Node{Tag: "chatstate", Attrs: s.origin(c.device, dev, to), Content: node.GetChildren()}
				go live.send(out)
			}
		}
	}
}
