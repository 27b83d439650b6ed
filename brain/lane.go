package brain

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hearth/vault"
)

// errYielded ends a request, or the wait for its turn, so that a person is served first.
var errYielded = errors.New("it gives way to a person")

// rank says who goes before whom at a busy backend.
type rank int

// The ranks.
const (
	rankTask   rank = iota // background work, which is not even a run of somebody's
	rankIdle               // what has no time of its own
	rankJob                // what the clock began
	rankPerson             // somebody waits for it
)

func rankOf(r vault.Run) rank {
	switch {
	case r.Task != "":
		return rankTask
	case r.Trigger == "message":
		return rankPerson
	case r.Trigger == "job":
		return rankJob
	}
	return rankIdle
}

// A server keeps what it has read of a prompt. To read it again takes a small machine a minute, so whoever comes back goes
// before others of the same rank, within bounds.
const (
	warmFor   = 30 * time.Second // nobody is passed by others of the same rank for longer
	lingerFor = 3 * time.Second  // so long a place is kept for a run that uses a tool between two steps
)

// ticket is one request on its way through a lane. Its fields belong to the lock of the lanes, but for the first three.
type ticket struct {
	run, conversation int64
	rank              rank
	came              time.Time               // monotonic, as all here
	equal             time.Time               // from then on it has the right of a person's, and gives way to nobody
	ready             chan struct{}           // closed when it is its turn
	give              context.CancelCauseFunc // ends it
	soft              bool                    // served: it may be cut off
	gone              bool                    // served: it was
}

func (t *ticket) rankAt(now time.Time) rank {
	if !now.Before(t.equal) {
		return rankPerson
	}
	return t.rank
}

// place is one that is kept for a run.
type place struct {
	conversation int64
	rank         rank
	until        time.Time
}

// lane is what one backend is asked. Nothing of it is stored: it speaks of requests in hand, and these end with the process.
type lane struct {
	size int
	soft bool // who is served may be cut off
	held []*ticket
	line []*ticket // in the order they came
	kept []place
	warm []int64 // the conversations served last, the newest at the end
}

// lanes bounds the requests a backend gets at a time and says who is next: people before jobs before what has no time of
// its own, then a conversation that was just served, then who came first.
type lanes struct {
	mu    sync.Mutex
	by    map[string]*lane
	asked map[int64]bool // runs that are to give way as soon as they can
}

// of gives a backend's lane, of the size that is configured now.
func (l *lanes) of(b Backend) *lane {
	if l.by == nil {
		l.by, l.asked = map[string]*lane{}, map[int64]bool{}
	}
	one := l.by[b.Name]
	if one == nil {
		one = &lane{}
		l.by[b.Name] = one
	}
	// What is cut off is paid for all the same, and elsewhere than at home there is room for more than one. Background work
	// is cut off everywhere: a person who waits for nobody costs more.
	one.size, one.soft = max(1, b.Parallel), b.Local && b.free() && !b.Offline
	return one
}

// take waits for a place at a backend. The request is to be made with the context it gives, which ends with errYielded when
// a person is to be served first. release ends the place; more: the run comes back for another step.
func (l *lanes) take(ctx context.Context, b Backend, t *ticket) (call context.Context, release func(more bool), err error) {
	call, t.give = context.WithCancelCause(ctx)
	t.ready = make(chan struct{})
	now := time.Now()
	t.came = now
	l.mu.Lock()
	one := l.of(b)
	if l.asked[t.run] && t.rankAt(now) < rankPerson {
		l.mu.Unlock()
		t.give(errYielded)
		return nil, nil, errYielded
	}
	one.line = append(one.line, t)
	l.serve(one)
	l.mu.Unlock()
	select {
	case <-t.ready:
	case <-call.Done():
		l.leave(one, t, false)
		return nil, nil, context.Cause(call)
	}
	var once sync.Once
	return call, func(more bool) { once.Do(func() { l.leave(one, t, more) }) }, nil
}

// leave takes a ticket out, whether it waits or is served.
func (l *lanes) leave(one *lane, t *ticket, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.give(nil)
	same := func(o *ticket) bool { return o == t }
	one.line, one.held = slices.DeleteFunc(one.line, same), slices.DeleteFunc(one.held, same)
	if more {
		one.kept = append(one.kept, place{t.conversation, t.rank, time.Now().Add(lingerFor)})
		time.AfterFunc(lingerFor, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.serve(one)
		})
	}
	l.serve(one)
}

// ended gives back what is kept for a run that is out of our hands.
func (l *lanes) ended(run, conversation int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.asked, run)
	for _, one := range l.by {
		before := len(one.kept)
		one.kept = slices.DeleteFunc(one.kept, func(p place) bool { return p.conversation == conversation })
		if len(one.kept) < before {
			l.serve(one)
		}
	}
}

// serve gives the free places of a lane, and has room made for the people who get none.
func (l *lanes) serve(one *lane) {
	now := time.Now()
	one.kept = slices.DeleteFunc(one.kept, func(p place) bool { return !now.Before(p.until) })
	for _, t := range one.order(now) {
		if one.room(t, now) <= 0 {
			continue
		}
		one.line = slices.DeleteFunc(one.line, func(o *ticket) bool { return o == t })
		one.held = append(one.held, t)
		one.kept = slices.DeleteFunc(one.kept, func(p place) bool { return p.conversation == t.conversation })
		one.warm = append(slices.DeleteFunc(one.warm, func(c int64) bool { return c == t.conversation }), t.conversation)
		one.warm = one.warm[max(0, len(one.warm)-one.size):]
		t.soft = (one.soft || t.rank == rankTask) && t.rankAt(now) < rankPerson
		close(t.ready)
	}
	missing := 0
	for _, t := range one.line {
		if t.rank == rankPerson {
			missing++
		}
	}
	for _, t := range one.held {
		if t.gone {
			missing--
		}
	}
	for ; missing > 0; missing-- {
		var least *ticket
		for _, t := range one.held { // of the least rank who began last: what is lost is least
			if t.soft && !t.gone && (least == nil || t.rank <= least.rank) {
				least = t
			}
		}
		if least == nil {
			return
		}
		least.gone = true
		least.give(errYielded)
	}
}

// order gives those who wait in the order in which they are served.
func (one *lane) order(now time.Time) []*ticket {
	late := map[rank]bool{}
	for _, t := range one.line {
		if now.Sub(t.came) >= warmFor {
			late[t.rankAt(now)] = true
		}
	}
	out := slices.Clone(one.line)
	slices.SortStableFunc(out, func(a, b *ticket) int {
		if ra, rb := a.rankAt(now), b.rankAt(now); ra != rb {
			return int(rb - ra)
		}
		wa, wb := slices.Contains(one.warm, a.conversation), slices.Contains(one.warm, b.conversation)
		switch {
		case wa == wb || late[a.rankAt(now)]:
			return 0 // in the order they came
		case wa:
			return -1
		}
		return 1
	})
	return out
}

// room is how many places there are for a ticket, those that are kept against it left out.
func (one *lane) room(t *ticket, now time.Time) int {
	free := one.size - len(one.held)
	for _, p := range one.kept {
		outranked := t.rankAt(now) > p.rank || t.rankAt(now) == p.rank && now.Sub(t.came) >= warmFor
		if p.conversation != t.conversation && !outranked {
			free--
		}
	}
	return free
}

// place is where somebody who waits for a backend stands in line, counting those it is working for; 0 = does not wait.
func (l *lanes) place(b Backend, t *ticket) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.of(b)
	ahead := slices.Index(one.order(time.Now()), t)
	if ahead < 0 {
		return 0
	}
	return one.size + ahead + 1
}

// giveWay has a run give its conversation free: at once while it waits for a model or has one at home in hand, else before
// its next step.
func (l *lanes) giveWay(run int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked == nil || l.asked[run] {
		return
	}
	now := time.Now()
	for _, one := range l.by {
		for _, t := range one.held {
			if t.run == run && t.soft && !t.gone {
				t.gone = true
				t.give(errYielded)
				return
			}
		}
		for _, t := range one.line {
			if t.run == run && t.rankAt(now) < rankPerson {
				t.give(errYielded)
				return
			}
		}
	}
	l.asked[run] = true
}

// ticket is what a run waits for its turn with.
func (t *turn) ticket(p vault.Progress) *ticket {
	patience := vault.Patience - (p.Run.Waited(t.b.now()) - (time.Since(t.began) - t.idle))
	if p.Run.Task != "" {
		patience = 100 * 365 * 24 * time.Hour // it never has the right of a person's
	}
	return &ticket{run: p.Run.ID, conversation: p.Conversation.ID, rank: rankOf(p.Run), equal: time.Now().Add(patience)}
}
