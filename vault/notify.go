package vault

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"
)

// Change is a kind of thing that an event changed, for those who wait for it.
type Change string

// The kinds that somebody waits for. Each is the table of its rows.
const (
	RunsChanged      Change = "run"
	CallsChanged     Change = "call"
	MessagesChanged  Change = "message"
	OutboxChanged    Change = "outbox"
	ApprovalsChanged Change = "approval"
	JobsChanged      Change = "job"
	SettingsChanged  Change = "setting"
	PeopleChanged    Change = "person"
	MemoriesChanged  Change = "memory"
	SpendChanged     Change = "spend"

	// SendsChanged is how far a part has come, as its own courier notes it: nothing else is due through it.
	SendsChanged Change = "send"
	// ClaimsChanged is that a run was taken up: whoever does so knows.
	ClaimsChanged Change = "claim"
	// DraftsChanged is what a run needs to do the same again after a crash: nobody waits for it.
	DraftsChanged Change = "draft"
	// PreviewsChanged is what a model has written of a reply: see Vault.Preview.
	PreviewsChanged Change = "preview"
)

// anything stands for what cannot be told from a statement's first words: everybody is woken.
const anything Change = "*"

// tracked is the transaction of an event. It notes what is changed.
type tracked struct {
	*sql.Tx
	touched map[Change]bool
}

func (t tracked) note(query string) {
	if changed := changes(query); changed != "" {
		t.touched[changed] = true
	}
}

// ExecContext implements what sql.Tx does.
func (t tracked) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	t.note(query)
	return t.Tx.ExecContext(ctx, query, args...)
}

// QueryContext implements querier.
func (t tracked) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	t.note(query)
	return t.Tx.QueryContext(ctx, query, args...)
}

// QueryRowContext implements querier.
func (t tracked) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	t.note(query)
	return t.Tx.QueryRowContext(ctx, query, args...)
}

// changes tells what a statement changes: "" for one that only reads.
func changes(query string) Change {
	var words [5]string
	rest := query
	for i := range words {
		rest = strings.TrimLeft(rest, " \t\n")
		end := strings.IndexAny(rest, " \t\n(")
		if end < 0 {
			end = len(rest)
		}
		words[i], rest = rest[:end], rest[end:]
	}
	switch {
	case words[0] == "SELECT":
		return ""
	case words[0] == "UPDATE" && words[1] == "OR":
		return Change(words[3])
	case words[0] == "UPDATE":
		return Change(words[1])
	case words[0] == "DELETE" && words[1] == "FROM", words[0] == "INSERT" && words[1] == "INTO", words[0] == "REPLACE" && words[1] == "INTO":
		return Change(words[2])
	case words[0] == "INSERT" && words[1] == "OR" && words[3] == "INTO":
		return Change(words[4])
	}
	return anything
}

// notifier wakes those who wait for a change. A wake-up is a hint without content: it may be early or one too many, never
// one too few.
type notifier struct {
	mu   sync.Mutex
	subs map[chan struct{}][]Change // what they wait for; none = whatever it is
}

// wake wakes who waits for one of these; nil = everybody.
func (n *notifier) wake(touched map[Change]bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for ch, about := range n.subs {
		if !concerns(touched, about) {
			continue
		}
		select {
		case ch <- struct{}{}:
		default: // it has a hint waiting already
		}
	}
}

func concerns(touched map[Change]bool, about []Change) bool {
	if touched == nil || touched[anything] || len(about) == 0 {
		return true
	}
	for _, a := range about {
		if touched[a] {
			return true
		}
	}
	return false
}

// Subscribe gives a channel that is filled after each commit that changes something of these kinds, or after every one
// when none is named, and the function that ends it.
func (v *Vault) Subscribe(about ...Change) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	v.notifier.mu.Lock()
	defer v.notifier.mu.Unlock()
	if v.notifier.subs == nil {
		v.notifier.subs = map[chan struct{}][]Change{}
	}
	v.notifier.subs[ch] = about
	return ch, func() {
		v.notifier.mu.Lock()
		defer v.notifier.mu.Unlock()
		delete(v.notifier.subs, ch)
	}
}

// Burst waits until the events that come together have come, as long as Options.Burst says: who is woken and in no hurry
// looks once behind them, and not between them, where it would only be in the way of the answer.
func (v *Vault) Burst(ctx context.Context) {
	if v.burst <= 0 {
		return
	}
	timer := time.NewTimer(v.burst)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Wake hints to all who wait that something outside the vault has changed, e.g. a gateway came back or the clock jumped.
func (v *Vault) Wake() { v.notifier.wake(nil) }
