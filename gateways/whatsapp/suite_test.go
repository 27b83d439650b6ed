package whatsapp

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"hearth/gateways"
	"hearth/gateways/gatewaytest"
	"hearth/gateways/whatsapp/wafake"
	"hearth/vault"
)

func TestConformance(t *testing.T) { gatewaytest.Run(t, newStreet) }

// street is a world with somebody behind each chat of the suite.
type street struct {
	*world
	people [gatewaytest.Chats]*wafake.Account
	lines  [gatewaytest.Chats]chan func()
	sorted sync.WaitGroup

	mu    sync.Mutex
	fault gatewaytest.Fault
	down  bool // the line was, at the send before
	shown [gatewaytest.Chats][]gatewaytest.Shown
	seen  map[string]bool
	last  [gatewaytest.Chats]types.MessageID
	more  chan struct{}
	quiet func() // ends the Receive that the harness runs itself
	begun bool   // the suite runs it
}

func newStreet(t *testing.T) gatewaytest.Harness {
	s := &street{world: newWorld(t, Dedicated), seen: map[string]bool{}, more: make(chan struct{})}
	var known []vault.Person
	for n := range s.people {
		s.people[n] = s.server.AddAccount(fmt.Sprint("Person ", n), fmt.Sprint(15550000100+n))
		known = append(known, vault.Person{Name: fmt.Sprint("Person ", n), Role: vault.Member, Identities: []vault.Identity{{Gateway: Name, Ext: "+" + s.people[n].PN.User}}})
	}
	s.world.people(known...)
	stop := s.receive()
	s.link()
	stop()
	end := make(chan struct{})
	for n := range s.lines {
		s.lines[n] = make(chan func(), 100)
		s.sorted.Go(func() {
			for {
				select {
				case say := <-s.lines[n]:
					say()
				case <-end:
					return
				}
			}
		})
	}
	t.Cleanup(func() { close(end); s.sorted.Wait() })
	return s
}

// Gateway is the gateway, which cannot send without a line: between the lives of Receive that the suite begins, the harness
// keeps the line itself.
func (s *street) Gateway() gateways.Gateway { return kept{s.gw, s} }

type kept struct {
	*Gateway
	s *street
}

func (k kept) Receive(ctx context.Context, accept func(context.Context, vault.Inbound) error) error {
	k.s.mu.Lock()
	k.s.begun = true
	if k.s.quiet != nil {
		k.s.quiet()
		k.s.quiet = nil
	}
	k.s.mu.Unlock()
	return k.Gateway.Receive(ctx, accept)
}

func (k kept) Send(ctx context.Context, out vault.Part) (string, error) {
	k.s.ready()
	k.s.mu.Lock()
	fault, down := k.s.fault, k.s.down
	k.s.fault, k.s.down = "", k.s.fault == gatewaytest.LineDown
	k.s.mu.Unlock()
	switch fault {
	case gatewaytest.LineDown:
		k.s.up()
		k.s.server.Down(true)
		k.s.server.Cut(k.s.deviceOf())
		k.s.eventually("the line is down", func() bool { _, ok := k.State(); return !ok })
		defer k.s.server.Down(false)
	case gatewaytest.LineCut:
		k.s.server.OnSend(func(types.JID, string) wafake.Fate { return wafake.Fate{NoAck: true} })
		defer k.s.server.OnSend(nil)
	default:
		if down {
			k.s.up() // the outbox would wait for that
		}
	}
	return k.Gateway.Send(ctx, out)
}

// ready sees to a line while the suite has not begun to receive.
func (s *street) ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet == nil && !s.begun {
		s.quiet = s.receive()
		s.up()
	}
}

func (s *street) To(n int) vault.Address {
	s.ready()
	s.listen(n)
	return s.to(s.people[n])
}

// listen notes what a phone shows: like a real one it shows each id once.
func (s *street) listen(n int) {
	s.world.mu.Lock()
	known := s.phones[s.people[n]] != nil
	s.world.mu.Unlock()
	if known {
		return
	}
	s.phone(s.people[n]).AddEventHandler(func(evt any) {
		m, ok := evt.(*events.Message)
		if !ok {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		text := wafake.Text(m.Message)
		if key := fmt.Sprint(n, m.Info.ID); text != "" && !s.seen[key] {
			s.seen[key] = true
			s.shown[n] = append(s.shown[n], gatewaytest.Shown{Ref: m.Info.ID, Text: text})
			close(s.more)
			s.more = make(chan struct{})
		}
	})
}

func (s *street) Nowhere() vault.Address {
	return vault.Address{Gateway: Name, Account: s.gw.Account(), Chat: "+15559999999"}
}

func (s *street) Write(n int, name, text string) {
	s.listen(n)
	s.lines[n] <- func() {
		s.people[n].Rename(name)
		sent, err := s.phone(s.people[n]).Say(s.me.PN, text)
		if err != nil {
			s.t.Errorf("Say: %v", err)
		}
		s.mu.Lock()
		s.last[n] = sent.ID
		s.mu.Unlock()
	}
}

func (s *street) Edit(n int, text string) {
	s.lines[n] <- func() {
		p := s.phone(s.people[n])
		s.mu.Lock()
		last := s.last[n]
		s.mu.Unlock()
		edit := p.BuildEdit(s.me.PN, last, &waE2E.Message{Conversation: proto.String(text)})
		if _, err := p.SendMessage(context.Background(), s.me.PN, edit); err != nil {
			s.t.Errorf("edit: %v", err)
		}
	}
}

func (s *street) Shown(ctx context.Context, n, count int) []gatewaytest.Shown {
	for {
		s.mu.Lock()
		got, more := append([]gatewaytest.Shown(nil), s.shown[n]...), s.more
		s.mu.Unlock()
		if len(got) >= count {
			return got
		}
		select {
		case <-more:
		case <-ctx.Done():
			return got
		}
	}
}

func (s *street) Fail(f gatewaytest.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}
