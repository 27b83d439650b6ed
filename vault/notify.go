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
	// TroubleChanged is that the file or the disk is no longer to be trusted, or is again.
	TroubleChanged Change = "trouble"
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
	subs map[*subscriber]struct{}
}

// subscriber is one who waits.
type subscriber struct {
	hints chan struct{}
	about []Change      // none = whatever it is
	later time.Duration // after the first change that he was not told of
	timer *time.Timer   // it runs; nil = it does not
}

func (s *subscriber) hint() {
	select {
	case s.hints <- struct{}{}:
	default: // there is one waiting already
	}
}

// wake wakes who waits for one of these; nil = everybody.
func (n *notifier) wake(touched map[Change]bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for s := range n.subs {
		switch {
		case !concerns(touched, s.about):
		case s.later <= 0 || touched == nil:
			s.hint()
		case s.timer == nil:
			s.timer = time.AfterFunc(s.later, func() {
				n.mu.Lock()
				defer n.mu.Unlock()
				s.timer = nil
				s.hint()
			})
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
	return v.notifier.add(&subscriber{about: about})
}

// SubscribeLater is Subscribe for who is in no hurry: the events that come together make one hint behind them, after
// Options.Burst. Between them, who looks is only in the way of the answer.
func (v *Vault) SubscribeLater(about ...Change) (<-chan struct{}, func()) {
	return v.notifier.add(&subscriber{about: about, later: v.burst})
}

func (n *notifier) add(s *subscriber) (<-chan struct{}, func()) {
	s.hints = make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.subs == nil {
		n.subs = map[*subscriber]struct{}{}
	}
	n.subs[s] = struct{}{}
	return s.hints, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.subs, s)
		if s.timer != nil {
			s.timer.Stop()
		}
	}
}

// Wake hints to all who wait that something outside the vault has changed, e.g. a gateway came back or the clock jumped.
func (v *Vault) Wake() { v.notifier.wake(nil) }
