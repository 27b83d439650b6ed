package terminal

import (
	"slices"

	"hearth/vault"
)

// maxUnread is how many parts a client may leave unread before it counts as gone.
const maxUnread = 64

// Client is one open chat of a person.
type Client struct {
	t      *Terminal
	person int64
	parts  chan vault.Part

	// Under the terminal's lock.
	offered map[int64]*offer // what was handed to the client and not acknowledged
	closed  bool
}

// offer is one part that waits to be shown. Its fields belong to the terminal's lock.
type offer struct {
	part    vault.Part
	person  int64
	holders int  // clients that have it
	read    bool // one that left had taken it out of its channel
	shown   bool
	acked   chan struct{}
	lost    chan struct{}
}

// Attach opens a chat for a person. What waits for them comes at once. Close it when it is over.
func (t *Terminal) Attach(person int64) *Client {
	c := &Client{t: t, person: person, parts: make(chan vault.Part, maxUnread), offered: map[int64]*offer{}}
	t.mu.Lock()
	t.clients[person] = append(t.clients[person], c)
	// A part that is just now being offered to another client, which may be asleep, is for this one too.
	for _, o := range t.offers {
		if o.person == person && !o.over() {
			c.take(o)
		}
	}
	t.mu.Unlock()
	if t.opt.Attached != nil {
		t.opt.Attached()
	}
	return c
}

// Parts are what is to be printed, in order. Each is acknowledged after it was printed. The channel is closed when the
// client was closed, by itself or because it had not read for too long.
func (c *Client) Parts() <-chan vault.Part { return c.parts }

// Ack says that the part with this number was printed. What is not known is ignored.
func (c *Client) Ack(part int64) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	o := c.offered[part]
	if o == nil {
		return
	}
	delete(c.offered, part)
	if !o.shown {
		o.shown = true
		close(o.acked)
	}
}

// Close ends the chat. Parts that were not read are offered to the next client. It can be called more than once.
func (c *Client) Close() {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.close()
}

// close is Close under the lock.
func (c *Client) close() {
	if c.closed {
		return
	}
	c.closed = true
	others := slices.DeleteFunc(c.t.clients[c.person], func(other *Client) bool { return other == c })
	if len(others) == 0 {
		delete(c.t.clients, c.person)
	} else {
		c.t.clients[c.person] = others
	}
	// What is still in the channel was never read. A reader who is at it just now takes its share, and that counts as read.
	close(c.parts)
	unread := map[int64]bool{}
	for p := range c.parts {
		unread[p.ID] = true
	}
	for id, o := range c.offered {
		o.holders--
		o.read = o.read || !unread[id]
		if o.holders == 0 {
			o.lose()
		}
	}
	clear(c.offered)
}

// take puts a part into the client's channel. One that has left it full is gone.
func (c *Client) take(o *offer) {
	select {
	case c.parts <- o.part:
		c.offered[o.part.ID] = o
		o.holders++
	default:
		c.close()
	}
}

// over reports whether the offer has ended.
func (o *offer) over() bool {
	select {
	case <-o.lost:
		return true
	default:
		return o.shown
	}
}

// lose ends an offer that nobody holds any more.
func (o *offer) lose() {
	select {
	case <-o.lost:
	default:
		close(o.lost)
	}
}
