package terminal

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"hearth/gateways"
	"hearth/gateways/gatewaytest"
	"hearth/vault"
)

// room is a house with a terminal for each of a number of people.
type room struct {
	t  *testing.T
	tm *Terminal

	mu     sync.Mutex
	change chan struct{} // closed and made anew whenever something was shown
	shown  [gatewaytest.Chats][]gatewaytest.Shown
	fault  gatewaytest.Fault
	client [gatewaytest.Chats]*Client
	lines  [gatewaytest.Chats]chan func()
	done   sync.WaitGroup
	end    context.Context
}

func newRoom(t *testing.T) gatewaytest.Harness {
	end, cancel := context.WithCancel(context.Background())
	r := &room{t: t, tm: New(Options{}), change: make(chan struct{}), end: end}
	for n := range r.client {
		r.sit(n)
		r.lines[n] = make(chan func(), 100)
		r.done.Go(func() {
			for {
				select {
				case say := <-r.lines[n]:
					say()
				case <-end.Done():
					return
				}
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		for _, c := range r.client {
			c.Close()
		}
		r.done.Wait()
	})
	return r
}

func person(n int) int64 { return int64(n + 1) }

// sit attaches a client that prints what it gets.
func (r *room) sit(n int) {
	c := r.tm.Attach(person(n))
	r.mu.Lock()
	r.client[n] = c
	r.mu.Unlock()
	r.done.Go(func() {
		for p := range c.Parts() {
			r.mu.Lock()
			cut := r.fault == gatewaytest.LineCut
			r.shown[n] = append(r.shown[n], gatewaytest.Shown{Ref: strconv.FormatInt(p.ID, 10), Text: p.Text})
			close(r.change)
			r.change = make(chan struct{})
			r.mu.Unlock()
			if cut { // killed after it had printed, before it could say so
				c.Close()
				return
			}
			c.Ack(p.ID)
		}
	})
}

func (r *room) Gateway() gateways.Gateway {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != "" {
		return faulty{r.tm, r}
	}
	return r.tm
}

// faulty is the terminal for one send to the first person, who leaves before it or in the middle of it.
type faulty struct {
	*Terminal
	r *room
}

func (f faulty) Send(ctx context.Context, out vault.Part) (string, error) {
	f.r.mu.Lock()
	fault, c := f.r.fault, f.r.client[0]
	f.r.mu.Unlock()
	if fault == gatewaytest.LineDown {
		c.Close()
	}
	ref, err := f.Terminal.Send(ctx, out)
	f.r.Fail("")
	f.r.sit(0)
	return ref, err
}

func (r *room) To(n int) vault.Address { return vault.TerminalAddress(person(n)) }

func (r *room) Nowhere() vault.Address {
	return vault.Address{Gateway: Name, Account: "local", Chat: "the kitchen"}
}

func (r *room) Write(n int, name, text string) {
	id := NewID()
	r.lines[n] <- func() { // a client says it again until it was taken
		for r.end.Err() == nil {
			ctx, cancel := context.WithTimeout(r.end, 100*time.Millisecond)
			err := r.tm.Say(ctx, vault.Person{ID: person(n), Name: name}, text, id)
			cancel()
			if err == nil {
				return
			}
		}
	}
}

func (r *room) Shown(ctx context.Context, n, count int) []gatewaytest.Shown {
	for {
		r.mu.Lock()
		got, change := append([]gatewaytest.Shown(nil), r.shown[n]...), r.change
		r.mu.Unlock()
		if len(got) >= count {
			return got
		}
		select {
		case <-change:
		case <-ctx.Done():
			return got
		}
	}
}

func (r *room) Fail(f gatewaytest.Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = f
}

func TestConformance(t *testing.T) { gatewaytest.Run(t, newRoom) }
