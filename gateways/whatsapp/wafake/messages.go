package wafake

import (
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// handleMessage passes a message on to each device it was encrypted for, and acknowledges it.
func (c *conn) handleMessage(node *waBinary.Node) {
	s := c.s
	ag := node.AttrGetter()
	to, id := ag.JID("to"), ag.String("id")
	s.mu.Lock()
	var fate Fate
	if s.onSend != nil {
		fate = s.onSend(c.device.jid, id)
	}
	if !fate.Drop && fate.Error == 0 {
		s.fanOut(c.device, to, node, fate.Garble)
	}
	s.mu.Unlock()
	if !fate.Drop && !fate.NoAck {
		ack := waBinary.Attrs{"class": "message", "id": id, "from": to, "t": now()}
		if fate.Error != 0 {
			ack["error"] = fate.Error
		}
		c.send(waBinary.Node{Tag: "ack", Attrs: ack})
	}
	if fate.Cut {
		c.cut()
	}
}

// fanOut makes one stanza per receiving device out of what the sender encrypted: an <enc> for each
// device below <participants>, and for groups one more (skmsg) for everybody. A stanza without
// <participants> is meant for the one device in to (answers to retry receipts, peer messages).
// s.mu must be held.
func (s *Server) fanOut(sender *device, to types.JID, node *waBinary.Node, garble bool) {
	var everybody, extra []waBinary.Node
	for _, child := range node.GetChildren() {
		switch child.Tag {
		case "enc":
			everybody = append(everybody, child)
		case "device-identity", "meta", "biz":
			extra = append(extra, child)
		}
	}
	direct := map[*device][]waBinary.Node{}
	var order []*device
	add := func(dev *device, enc []waBinary.Node) {
		if dev != nil && dev != sender {
			if direct[dev] == nil {
				order = append(order, dev)
			}
			direct[dev] = append(direct[dev], enc...)
		}
	}
	participants := node.GetChildByTag("participants")
	for _, p := range participants.GetChildren() {
		_, dev := s.lookup(p.AttrGetter().JID("jid"))
		add(dev, p.GetChildrenByTag("enc"))
	}
	if g := s.groups[to]; g != nil {
		if target, ok := node.Attrs["participant"].(types.JID); ok { // an answer to a retry receipt
			_, dev := s.lookup(target)
			add(dev, everybody)
		} else {
			for _, m := range g.members {
				for _, dev := range m.devices {
					add(dev, everybody)
				}
			}
		}
	} else if everybody != nil {
		_, dev := s.lookup(to)
		add(dev, everybody)
	}

	for _, dev := range order {
		if garble {
			for _, enc := range direct[dev] {
				if data, ok := enc.Content.([]byte); ok {
					data[len(data)-1] ^= 1 // in the MAC
				}
			}
		}
		attrs := s.origin(sender, dev, to)
		attrs["id"], attrs["type"], attrs["t"] = node.Attrs["id"], node.Attrs["type"], now()
		attrs["notify"] = sender.account.Name
		for _, key := range []string{"edit", "category"} {
			if v, ok := node.Attrs[key]; ok {
				attrs[key] = v
			}
		}
		s.deliver(dev, waBinary.Node{Tag: "message", Attrs: attrs, Content: append(slices.Clone(direct[dev]), extra...)})
	}
}

// origin makes the attributes that tell dev whom something is from and which chat it belongs to.
// s.mu must be held.
func (s *Server) origin(sender, dev *device, to types.JID) waBinary.Attrs {
	from := sender.account
	pn, lid := from.pnDevice(sender.jid.Device), from.lidDevice(sender.jid.Device)
	if g := s.groups[to]; g != nil {
		attrs := waBinary.Attrs{"from": to, "participant": pn, "participant_lid": lid, "addressing_mode": "pn"}
		if g.lid {
			attrs = waBinary.Attrs{"from": to, "participant": lid, "addressing_mode": "lid"}
			if from.shows != ByLIDOnly {
				attrs["participant_pn"] = pn
			}
		}
		return attrs
	}
	own := dev.account == from
	byLID := to.Server == types.HiddenUserServer
	if !own && from.shows != AsSent {
		byLID = from.shows != ByNumber
	}
	attrs := waBinary.Attrs{"from": pn, "sender_lid": lid}
	if byLID {
		attrs = waBinary.Attrs{"from": lid}
		if from.shows != ByLIDOnly {
			attrs["sender_pn"] = pn
		}
	}
	if own { // another device of the sender's gets a copy
		delete(attrs, "sender_lid")
		delete(attrs, "sender_pn")
		attrs["recipient"] = to.ToNonAD()
		if peer := s.account(to); peer != nil && to.Server == types.HiddenUserServer {
			attrs["peer_recipient_pn"] = peer.PN
		} else if peer != nil {
			attrs["peer_recipient_lid"] = peer.LID
		}
	}
	return attrs
}

// deliver queues a stanza for a device until it is acknowledged, and sends it if the device is
// online. s.mu must be held.
func (s *Server) deliver(dev *device, node waBinary.Node) {
	dev.waiting = append(dev.waiting, node)
	if c := s.conns[dev.jid]; c != nil {
		go func(prev <-chan struct{}, done chan<- struct{}) { // in order, but without holding s.mu
			<-prev
			c.send(node)
			close(done)
		}(dev.turn())
	}
}
