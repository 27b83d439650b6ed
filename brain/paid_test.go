package brain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// refusal is an error document in place of an answer.
type refusal struct{ atOnce bool }

func (refusal) Error() string   { return "the server said no" }
func (r refusal) Refused() bool { return r.atOnce }

// entries are the rows of the ledger, in short.
func (w *world) entries() string {
	w.t.Helper()
	all, err := w.vault.Ledger(w.t.Context(), 0)
	w.must(err)
	var out []string
	for _, e := range all {
		line := fmt.Sprintf("%s %d/%d", e.State, e.In, e.Out)
		if e.State != "settled" {
			line = e.State
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

// What becomes of a failed request in the ledger: what was counted is settled, what cannot have been billed is gone, and of
// the rest nobody knows.
func TestFailedRequestsAreBooked(t *testing.T) {
	bad := func(err error) *ModelError { return &ModelError{Kind: BadReply, Human: "It failed.", Err: err} }
	for _, tt := range []struct {
		name  string
		resp  Response
		err   error
		price *Price
		want  string
	}{
		{"counted", Response{In: 70, Out: 7}, bad(errors.New("held back")), cents, "settled 70/7, settled 100/10"},
		{"refused", Response{}, bad(refusal{true}), cents, "settled 100/10"},
		{"failed in the middle", Response{}, bad(refusal{false}), cents, "cut, settled 100/10"},
		{"never reached", Response{}, bad(&net.OpError{Op: "dial", Err: errors.New("refused")}), cents, "settled 100/10"},
		{"no such name", Response{}, bad(&net.DNSError{}), cents, "settled 100/10"},
		{"broken off", Response{}, bad(&net.OpError{Op: "read", Err: errors.New("reset")}), cents, "cut, settled 100/10"},
		{"broken off, of unknown price", Response{}, bad(errors.New("reset")), nil, "cut, settled 100/10"},
		{"broken off, and free", Response{}, bad(errors.New("reset")), &Price{}, "settled 100/10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				n := 0
				w.backends(Backend{Name: "home", Price: tt.price, Model: script(func(context.Context, Request) (Response, error) {
					if n++; n == 1 {
						return tt.resp, tt.err
					}
					return say("ok"), nil
				})})
				w.start()
				w.say("hello")
				sleep(time.Minute)
				if got := w.entries(); got != tt.want {
					t.Errorf("the ledger has %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// A run that is stopped, or whose program ends, while a model answers, leaves what the request can have cost; one whose
// answer came too late for the run is paid for what it took.
func TestCutRequestsAreBooked(t *testing.T) {
	for _, how := range []string{"stop", "crash", "shutdown", "too late"} {
		t.Run(how, func(t *testing.T) {
			inBubble(t, func(w *world) {
				m := slow(time.Minute, steps(say("ok")))
				if how == "too late" {
					m = script(func(context.Context, Request) (Response, error) {
						<-time.After(time.Minute) // it does not listen
						return say("ok"), nil
					})
				}
				w.backends(Backend{Name: "home", Price: cents, Model: m})
				w.start()
				w.say("hello")
				sleep(time.Second)
				if got := w.entries(); got != "open" {
					t.Errorf("under way: %s", got)
				}
				want := "cut"
				switch how {
				case "stop":
					w.stopTalk()
				case "too late":
					w.stopTalk()
					sleep(2 * time.Minute)
					want = "settled 100/10"
				case "crash":
					w.crash()
					w.open()
					w.start()
					sleep(2 * time.Minute)
					want = "cut, settled 100/10"
				case "shutdown":
					w.restart()
					sleep(2 * time.Minute)
					want = "cut, settled 100/10"
				}
				sleep(time.Second)
				if got := w.entries(); got != want {
					t.Errorf("the ledger has %s, want %s", got, want)
				}
			})
		})
	}
}

// What a provider's cache served has its own price, and the worst case knows the dearest.
func TestCachedTokensHaveTheirPrice(t *testing.T) {
	b := Backend{Price: &Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}}
	usd, known := b.Cost(Response{In: 1_000_000, Out: 100_000, CacheRead: 600_000, CacheWrote: 200_000})
	if want := 0.2*3 + 0.6*0.3 + 0.2*3.75 + 0.1*15; !known || diffUSD(usd, want) {
		t.Errorf("it costs %v, want %v", usd, want)
	}
	if usd, _ := b.Price.worst(1_000_000, 0); diffUSD(usd, 3.75) {
		t.Errorf("at the worst it costs %v", usd)
	}
	e := worst(vault.Progress{}, Request{System: strings.Repeat("x", 2000)}, Backend{Price: &Price{}}, "step")
	if e.In < 1000 || e.Out != 1024 {
		t.Errorf("at the worst it takes %d and %d tokens", e.In, e.Out)
	}
}
