package wafake

import (
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// handle deals with one stanza from a client.
func (c *conn) handle(node *waBinary.Node) {
	if c.device != nil {
		c.s.mu.Lock()
		c.s.log = append(c.s.log, Stanza{From: c.device.jid, Node: *node})
		c.s.mu.Unlock()
	}
	switch node.Tag {
	case "iq":
		if typ := node.Attrs["type"]; typ == "get" || typ == "set" {
			c.handleQuery(node)
		} else {
			c.s.pairAnswer(c, node)
		}
	case "message":
		c.handleMessage(node)
	case "receipt":
		c.handleReceipt(node)
	case "ack":
		c.s.settle(c.device, node)
	case "chatstate":
		c.handleChatState(node)
	case "presence", "ib": // nothing depends on them; tests find them with Sent
	default:
		c.s.logf("ignoring %s", node)
	}
}

// handleQuery answers an iq.
func (c *conn) handleQuery(node *waBinary.Node) {
	s := c.s
	var answer []waBinary.Node
	code := 0
	s.mu.Lock()
	switch xmlns := node.Attrs["xmlns"]; {
	case xmlns == "w:p", xmlns == "passive", xmlns == "privacy" && node.Attrs["type"] == "set":
		// an empty result will do
	case xmlns == "md" && node.GetChildren()[0].Tag == "link_code_companion_reg":
		answer = s.linkCode(c, node.GetChildByTag("link_code_companion_reg"))
	case xmlns == "md": // remove-companion-device
		s.unlink(c.device)
	case xmlns == "encrypt":
		answer = s.handleKeys(c, node)
	case xmlns == "usync":
		answer = s.handleUsync(node)
	case xmlns == "privacy":
		answer = []waBinary.Node{{Tag: "privacy", Content: []waBinary.Node{
			{Tag: "category", Attrs: waBinary.Attrs{"name": "readreceipts", "value": "all"}},
		}}}
	case xmlns == "w:m":
		answer = []waBinary.Node{{
			Tag:     "media_conn",
			Attrs:   waBinary.Attrs{"auth": "wafake", "ttl": 300, "auth_ttl": 300, "max_buckets": 1},
			Content: []waBinary.Node{{Tag: "host", Attrs: waBinary.Attrs{"hostname": "mmg.whatsapp.net"}}},
		}}
	case xmlns == "w:g2" && node.Attrs["type"] == "get":
		answer, code = s.groupInfo(node.AttrGetter().JID("to"))
	default:
		code = 501
	}
	s.mu.Unlock()

	attrs := waBinary.Attrs{"id": node.Attrs["id"], "from": types.ServerJID, "type": "result"}
	if to, ok := node.Attrs["to"].(types.JID); ok {
		attrs["from"] = to
	}
	if code != 0 {
		s.logf("error %d for %s", code, node)
		attrs["type"] = "error"
		answer = []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": code, "text": "wafake"}}}
	}
	reply := waBinary.Node{Tag: "iq", Attrs: attrs}
	if answer != nil {
		reply.Content = answer
	}
	c.send(reply)
}

// handleKeys counts, stores and hands out prekeys. s.mu must be held.
func (s *Server) handleKeys(c *conn, node *waBinary.Node) []waBinary.Node {
	if request, ok := node.GetOptionalChildByTag("key"); ok { // asking for other devices' keys
		var users []waBinary.Node
		for _, want := range request.GetChildren() {
			jid := want.AttrGetter().JID("jid")
			user := waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": jid}}
			if _, dev := s.lookup(jid); dev != nil && dev.bundle != nil {
				user.Content = dev.takeBundle()
			} else {
				user.Content = []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": 404, "text": "item-not-found"}}}
			}
			users = append(users, user)
		}
		return []waBinary.Node{{Tag: "list", Content: users}}
	}
	if node.Attrs["type"] == "get" {
		return []waBinary.Node{{Tag: "count", Attrs: waBinary.Attrs{"value": len(c.device.preKeys)}}}
	}
	list := node.GetChildByTag("list")
	c.device.preKeys = append(c.device.preKeys, list.GetChildren()...)
	c.device.bundle = []waBinary.Node{
		node.GetChildByTag("registration"), node.GetChildByTag("type"),
		node.GetChildByTag("identity"), node.GetChildByTag("skey"),
	}
	return nil
}

// takeBundle returns a prekey bundle, using up one one-time prekey.
func (d *device) takeBundle() []waBinary.Node {
	bundle := slices.Clone(d.bundle)
	if len(d.preKeys) > 0 {
		bundle, d.preKeys = append(bundle, d.preKeys[0]), d.preKeys[1:]
	}
	return bundle
}

// handleUsync answers with device lists and LIDs. s.mu must be held.
func (s *Server) handleUsync(node *waBinary.Node) []waBinary.Node {
	var users []waBinary.Node
	seen := make(map[types.JID]bool)
	list := node.GetChildByTag("usync", "list")
	for _, want := range list.GetChildren() {
		jid, ok := want.Attrs["jid"].(types.JID)
		account := s.account(jid)
		if !ok || account == nil || seen[jid] {
			continue
		}
		seen[jid] = true
		var devices []waBinary.Node
		for _, dev := range account.devices {
			devices = append(devices, waBinary.Node{Tag: "device", Attrs: waBinary.Attrs{
				"id": int(dev.jid.Device), "key-index": int(dev.jid.Device), "is_hosted": false,
			}})
		}
		users = append(users, waBinary.Node{
			Tag:   "user",
			Attrs: waBinary.Attrs{"jid": jid},
			Content: []waBinary.Node{
				{Tag: "devices", Content: []waBinary.Node{{Tag: "device-list", Content: devices}}},
				{Tag: "lid", Attrs: waBinary.Attrs{"val": account.LID}},
			},
		})
	}
	return []waBinary.Node{{Tag: "usync", Content: []waBinary.Node{{Tag: "list", Content: users}}}}
}

// groupInfo describes a group. s.mu must be held.
func (s *Server) groupInfo(jid types.JID) ([]waBinary.Node, int) {
	g := s.groups[jid]
	if g == nil {
		return nil, 404
	}
	mode := types.AddressingModePN
	if g.lid {
		mode = types.AddressingModeLID
	}
	var members []waBinary.Node
	for _, m := range g.members {
		attrs := waBinary.Attrs{"jid": m.PN, "lid": m.LID}
		if g.lid {
			attrs = waBinary.Attrs{"jid": m.LID}
			if m.shows != ByLIDOnly {
				attrs["phone_number"] = m.PN
			}
		}
		members = append(members, waBinary.Node{Tag: "participant", Attrs: attrs})
	}
	return []waBinary.Node{{
		Tag:     "group",
		Attrs:   waBinary.Attrs{"id": jid.User, "subject": g.subject, "creation": now(), "addressing_mode": string(mode)},
		Content: members,
	}}, 0
}
