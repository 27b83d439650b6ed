// Package gatewaytest is what every gateway must pass. A gateway's test makes a Harness, which is the gateway together with
// the far side of its messenger, and hands it to Run.
//
// The suite runs in real time beside real lines: it waits for what it expects, and never sleeps.
package gatewaytest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// Harness is one gateway under test with the far side of its messenger, fresh for every part of the suite. Its methods may
// fail the test they were made for.
type Harness interface {
	// Gateway is the gateway under test. The suite runs its Receive.
	Gateway() gateways.Gateway
	// To is the address of the n-th private chat. There are at least Chats of them.
	To(n int) vault.Address
	// Nowhere is an address that the messenger refuses for good, such as a chat that blocked the agent.
	Nowhere() vault.Address
	// Write has the person of chat n write a text under a name. It does not wait: the far side offers the message until the
	// gateway acknowledges it, in the order of writing.
	Write(n int, name, text string)
	// Shown gives what chat n shows: it waits until there are count messages or ctx ends.
	Shown(ctx context.Context, n, count int) []Shown
	// Fail has the next send meet a fault. The one after it meets none.
	Fail(Fault)
}

// Editor is a Harness whose messenger lets people change what they wrote.
type Editor interface {
	// Edit changes the last message that was written in chat n.
	Edit(n int, text string)
}

// Presser is a Harness whose messenger has buttons.
type Presser interface {
	// Press has the person of chat n press a button under a message that was shown.
	Press(n int, ref, data string)
}

// Chats is how many private chats a Harness has.
const Chats = 8

// Shown is a message in a chat of the far side.
type Shown struct {
	Ref  string // what Send returned for it
	Text string // as a person reads it, without the messenger's markup
}

// Fault is something that goes wrong with a send.
type Fault string

// The faults.
const (
	LineDown Fault = "line down" // the messenger cannot be reached: it has nothing
	LineCut  Fault = "line cut"  // the messenger has taken the message, but its answer is lost
)

// limit bounds every wait of the suite.
const limit = 20 * time.Second

// Run holds a gateway to the contract of gateways.Gateway.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	for name, check := range map[string]func(*testing.T, Harness){
		"inbound events are complete":                      complete,
		"texts come in as they were written":               verbatim,
		"hostile names do no harm":                         hostileNames,
		"accept comes before the acknowledgement":          acceptFirst,
		"what no accept took is offered after a restart":   restart,
		"each chat keeps its order":                        order,
		"an edit carries its time":                         edit,
		"a press carries its data":                         press,
		"the end of the context ends Receive":              ends,
		"sent parts arrive in order, under their own ref":  arrive,
		"parts of different chats go side by side":         sideBySide,
		"a line that is down sends nothing":                lineDown,
		"a line that is cut leaves it open":                lineCut,
		"an address that is refused is refused for good":   refused,
		"hostile texts arrive and do no harm":              hostileTexts,
		"long texts are split, fit, and lose nothing":      long,
		"chosen ids are new":                               ids,
		"a send ends with its context":                     sendEnds,
		"a name is a word, and the same one all the while": named,
	} {
		t.Run(name, func(t *testing.T) { check(t, fresh(t)) })
	}
}

// errTryAgain is what a vault says that cannot write just now.
var errTryAgain = errors.New("try again")

// desk takes what comes in. It refuses as often as it is told to.
type desk struct {
	t      *testing.T
	mu     sync.Mutex
	refuse int
	seen   chan vault.Inbound // every offer that was taken
	denied chan vault.Inbound // the first thousand offers that were refused; a gateway may offer much faster than a test looks

	cancel context.CancelFunc
	ended  chan error
}

// receive runs the gateway's Receive until the test ends or stop is called.
func receive(t *testing.T, h Harness, refuse int) *desk {
	t.Helper()
	d := &desk{t: t, refuse: refuse, seen: make(chan vault.Inbound, 1000), denied: make(chan vault.Inbound, 1000), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go func() { d.ended <- h.Gateway().Receive(ctx, d.accept) }()
	t.Cleanup(cancel)
	return d
}

func (d *desk) accept(_ context.Context, in vault.Inbound) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse > 0 {
		d.refuse--
		select {
		case d.denied <- in:
		default:
		}
		return errTryAgain
	}
	d.seen <- in
	return nil
}

// stop ends Receive and gives how long that took.
func (d *desk) stop() time.Duration {
	d.t.Helper()
	began := time.Now()
	d.cancel()
	select {
	case err := <-d.ended:
		if err != nil {
			d.t.Errorf("Receive returned %v when its context ended, want nil", err)
		}
	case <-time.After(limit):
		d.t.Fatal("Receive did not return when its context had ended")
	}
	return time.Since(began)
}

// next gives the next event that was taken, or refused.
func (d *desk) next(from chan vault.Inbound) vault.Inbound {
	d.t.Helper()
	select {
	case in := <-from:
		return in
	case err := <-d.ended:
		d.t.Fatalf("Receive returned %v", err)
	case <-time.After(limit):
		d.t.Fatal("nothing came in")
	}
	return vault.Inbound{}
}

// posted numbers the parts of the suite: an outbox never gives two the same number.
var posted struct {
	mu sync.Mutex
	n  int64
}

// part makes a part as the outbox would hand it over.
func part(h Harness, to vault.Address, text string) vault.Part {
	posted.mu.Lock()
	defer posted.mu.Unlock()
	posted.n++
	p := vault.Part{ID: posted.n, To: to, Class: vault.Answer, State: "sending", Text: text}
	if g, ok := h.Gateway().(gateways.StableIDs); ok {
		p.Stable = g.NewID()
	}
	return p
}

// send sends a text that must arrive.
func send(t *testing.T, h Harness, to vault.Address, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ref, err := h.Gateway().Send(ctx, part(h, to, text))
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	return ref
}

// shown waits for count messages in a chat.
func shown(t *testing.T, h Harness, n, count int) []Shown {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	got := h.Shown(ctx, n, count)
	if len(got) != count {
		t.Fatalf("chat %d shows %d messages, want %d: %v", n, len(got), count, got)
	}
	return got
}
