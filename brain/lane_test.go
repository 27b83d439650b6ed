package brain

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

// atHome is a model that costs nothing and takes one request at a time.
func atHome(m Model) Backend {
	return Backend{Name: "home", Model: m, Parallel: 1, Local: true, Price: &Price{}}
}

// who is a request of a conversation whose run has just begun.
func who(conversation int64, of rank) *ticket {
	return &ticket{run: conversation, conversation: conversation, rank: of, equal: time.Now().Add(vault.Patience)}
}

// desk has requests take their turn, one goroutine each, and notes who was served.
type desk struct {
	t      *testing.T
	lanes  lanes
	mu     sync.Mutex
	served []int64
	faults map[int64]error
	let    map[int64]func(bool)
	calls  map[int64]context.Context
}

func newDesk(t *testing.T) *desk {
	return &desk{t: t, faults: map[int64]error{}, let: map[int64]func(bool){}, calls: map[int64]context.Context{}}
}

func (d *desk) ask(b Backend, t *ticket) { d.askIn(d.t.Context(), b, t) }

func (d *desk) askIn(ctx context.Context, b Backend, t *ticket) {
	go func() {
		call, release, err := d.lanes.take(ctx, b, t)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.served = append(d.served, t.conversation)
		d.faults[t.conversation], d.calls[t.conversation] = err, call
		if err == nil {
			d.let[t.conversation] = release
		}
	}()
	synctest.Wait()
}

// done ends a request; more: its run comes back.
func (d *desk) done(conversation int64, more bool) {
	d.t.Helper()
	release := d.let[conversation]
	if release == nil {
		d.t.Fatalf("%d is not served; served were %v", conversation, d.served)
	}
	delete(d.let, conversation)
	release(more)
	synctest.Wait()
}

func (d *desk) want(served ...int64) {
	d.t.Helper()
	if diff := cmp.Diff(served, d.served); diff != "" {
		d.t.Errorf("served (-want +got):\n%s", diff)
	}
}

// cut reports whether what is in hand for a conversation is to give way.
func (d *desk) cut(conversation int64) bool {
	return errors.Is(context.Cause(d.calls[conversation]), errYielded)
}

func onDesk(t *testing.T, f func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newDesk(t)) })
}

// A place at a backend is given back whatever happens, and a changed number of places holds at once.
func TestPlaces(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		d.ask(b, who(1, rankPerson))
		ctx, cancel := context.WithCancelCause(d.t.Context())
		d.askIn(ctx, b, who(2, rankPerson))
		d.want(1)
		cancel(errStopped)
		synctest.Wait()
		if !errors.Is(d.faults[2], errStopped) {
			t.Errorf("waiting ends with %v", d.faults[2])
		}
		b.Parallel = 2
		d.ask(b, who(3, rankPerson))
		d.ask(b, who(4, rankPerson))
		d.want(1, 2, 3)
		d.done(1, false)
		d.want(1, 2, 3, 4)
		d.ask(Backend{Name: "zero"}, who(5, rankPerson))
		d.want(1, 2, 3, 4, 5)
	})
}

// TestLOOP10PlacesInLine counts those that are being served, and leaves out those that come after.
func TestLOOP10PlacesInLine(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		b.Local = false
		tickets := []*ticket{who(1, rankPerson), who(2, rankIdle), who(3, rankPerson), who(4, rankPerson)}
		for _, one := range tickets {
			d.ask(b, one)
		}
		for round, want := range [][4]int{{0, 4, 2, 3}, {0, 3, 0, 2}, {0, 2, 0, 0}, {0, 0, 0, 0}} {
			for i, one := range tickets {
				if got := d.lanes.place(b, one); got != want[i] {
					t.Errorf("round %d: number %d stands at %d, want %d", round, i+1, got, want[i])
				}
			}
			d.done(d.served[len(d.served)-1], false)
		}
		for place, want := range map[int]string{2: "second in line", 10: "tenth in line", 11: "10 are in line before you"} {
			if got := inLine(place); !strings.Contains(got, want) {
				t.Errorf("place %d: %q", place, got)
			}
		}
	})
}

// People go before jobs, and these before what has no time of its own, each in the order they came.
func TestWhoIsServedFirst(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		d.ask(b, who(9, rankPerson))
		for i, of := range []rank{rankIdle, rankJob, rankPerson, rankIdle, rankJob, rankPerson} {
			d.ask(b, who(int64(i+1), of))
		}
		for _, next := range []int64{9, 3, 6, 2, 5, 1, 4} {
			d.done(next, false)
		}
		d.want(9, 3, 6, 2, 5, 1, 4)
	})
}

// What has waited as long as patience says is served as if a person waited for it, and no longer gives way.
func TestBackgroundWorkIsNotStarved(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		d.ask(b, who(1, rankPerson))
		d.ask(b, who(2, rankIdle))
		time.Sleep(vault.Patience - time.Second)
		d.ask(b, who(3, rankPerson))
		d.done(1, false)
		d.want(1, 3)
		d.ask(b, who(4, rankPerson))
		time.Sleep(time.Second)
		d.done(3, false)
		d.want(1, 3, 2) // it came before 4, and counts as much now
		d.lanes.giveWay(2)
		if d.cut(2) {
			t.Error("it has waited long enough, and was cut off all the same")
		}
		d.done(2, false)
		d.want(1, 3, 2, 4)
	})
}

// One request is cut off for each person who waits: of the least rank, and of those the one that began last. Never a
// person's, never one that is paid for, never one elsewhere.
func TestOnlyAsMuchIsCutOffAsPeopleNeed(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		b.Parallel = 4
		for i, of := range []rank{rankPerson, rankIdle, rankIdle, rankJob} {
			d.ask(b, who(int64(i+1), of))
		}
		d.ask(b, who(5, rankJob))
		if d.cut(1) || d.cut(2) || d.cut(3) || d.cut(4) {
			t.Error("something was cut off although no person waits")
		}
		for i, want := range []int64{3, 2, 4} {
			d.ask(b, who(int64(i+6), rankPerson))
			for n := int64(1); n <= 4; n++ {
				if now := d.cut(n); now != (n == want) && (i == 0 || n != 3 && n != 2) {
					t.Errorf("person %d: cut off %d: %v", i+1, n, now)
				}
			}
		}
		d.ask(b, who(9, rankPerson))
		if d.cut(1) {
			t.Error("a person's request was cut off")
		}
		for _, n := range []int64{3, 2, 4, 1} {
			d.done(n, false)
		}
		d.want(1, 2, 3, 4, 6, 7, 8, 9)
	})
	for name, change := range map[string]func(*Backend){
		"elsewhere": func(b *Backend) { b.Local = false },
		"paid for":  func(b *Backend) { b.Price = &Price{Output: 1} },
		"built in":  func(b *Backend) { b.Offline = true },
	} {
		t.Run(name, func(t *testing.T) {
			onDesk(t, func(d *desk) {
				b := atHome(nil)
				change(&b)
				d.ask(b, who(1, rankIdle))
				d.ask(b, who(2, rankPerson))
				if d.cut(1) {
					t.Error("it was cut off")
				}
			})
		})
	}
}

// A conversation that was just served goes before others of its rank, so that the server need not read its prompt again; but
// nobody is passed for longer than half a minute.
func TestAConversationKeepsItsPlace(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		d.ask(b, who(1, rankPerson))
		d.ask(b, who(2, rankPerson))
		d.done(1, true) // it uses a tool
		d.want(1)
		time.Sleep(lingerFor - time.Millisecond)
		d.ask(b, who(1, rankPerson))
		d.want(1, 1)
		d.ask(b, who(3, rankPerson))
		d.done(1, true)
		time.Sleep(lingerFor)
		synctest.Wait()
		d.want(1, 1, 2) // the tool took too long
		d.done(2, true)
		d.lanes.ended(2, 2)
		synctest.Wait()
		d.want(1, 1, 2, 3)
		d.ask(b, who(4, rankPerson))
		d.ask(b, who(3, rankPerson)) // its next message
		d.done(3, false)
		d.want(1, 1, 2, 3, 3)

		d.ask(b, who(3, rankPerson))
		time.Sleep(warmFor)
		d.done(3, true)
		d.want(1, 1, 2, 3, 3, 4)
	})
}

// A person does not wait for a place that is kept for what nobody waits for.
func TestAPlaceIsKeptOnlyAgainstEquals(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		d.ask(b, who(1, rankJob))
		d.done(1, true)
		d.ask(b, who(2, rankIdle))
		d.want(1)
		d.ask(b, who(3, rankPerson))
		d.want(1, 3)
		d.done(3, true)
		time.Sleep(warmFor)
		synctest.Wait()
		d.want(1, 3, 2)
	})
}

// Whoever is told to give way does so at once while it waits, and else before its next step.
func TestGivingWay(t *testing.T) {
	onDesk(t, func(d *desk) {
		b := atHome(nil)
		d.ask(b, who(1, rankPerson))
		d.ask(b, who(2, rankIdle))
		d.lanes.giveWay(2)
		synctest.Wait()
		if !errors.Is(d.faults[2], errYielded) {
			t.Errorf("it waits on: %v", d.faults[2])
		}
		d.lanes.giveWay(3) // uses a tool
		d.ask(b, who(3, rankIdle))
		if !errors.Is(d.faults[3], errYielded) {
			t.Errorf("it came back for a step: %v", d.faults[3])
		}
		d.lanes.ended(3, 3)
		d.ask(b, who(3, rankIdle))
		d.done(1, false)
		d.want(1, 2, 3, 3)
	})
}
