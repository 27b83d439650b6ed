package brain

import (
	"slices"
	"sync"
	"time"
)

// resting remembers which backends have just failed, so that not every step waits for a dead server again. It is kept per
// backend, in memory, and grows while a backend fails each time it is tried again.
type resting struct {
	mu    sync.Mutex
	names map[string]rest
	told  map[int64]bool // conversations that know that no model answers
}

type rest struct {
	until   time.Time // monotonic
	times   int       // how often it has failed after a rest
	refused bool      // asking again helps nothing
}

// How long a failed backend is passed over while another one can answer.
const (
	restAfter   = 20 * time.Second
	longestRest = 5 * time.Minute
	longestWait = time.Hour // that a server may ask for
)

func (r *resting) rest(name string, fault *ModelError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil {
		r.names = map[string]rest{}
	}
	now := time.Now()
	one := r.names[name]
	if !now.Before(one.until) {
		one.times++
	}
	pause := min(restAfter<<min(one.times-1, 10), longestRest)
	one.until, one.refused = now.Add(max(pause, min(fault.After, longestWait))), fault.Kind == Permanent
	r.names[name] = one
}

// well forgets that a backend has failed: it has answered.
func (r *resting) well(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.names, name)
	r.told = nil
}

// tell reports whether a conversation is still to be told what works without a model: once in an outage.
func (r *resting) tell(conversation int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		r.told = map[int64]bool{}
	}
	known := r.told[conversation]
	r.told[conversation] = true
	return !known
}

// awake gives those of a chain that are to be asked now. When all rest, those are that may come back by themselves; when
// all have refused, all are.
func (r *resting) awake(chain []Backend) []Backend {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, rests := range []func(rest) bool{
		func(x rest) bool { return now.Before(x.until) },
		func(x rest) bool { return x.refused },
	} {
		out := slices.DeleteFunc(slices.Clone(chain), func(b Backend) bool { return rests(r.names[b.Name]) })
		if len(out) > 0 {
			return out
		}
	}
	return chain
}

// wake forgets all failures: the settings have changed.
func (r *resting) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = nil
}
