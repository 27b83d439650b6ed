// Package meaning has memories and messages turned into vectors, in the background, and queries while somebody waits, so that
// both are found by what they mean and not only by their words. Where no embedding model is configured it does nothing.
package meaning

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"hearth/brain"
	"hearth/vault"
)

// Options are what a Finder needs.
type Options struct {
	Vault *vault.Vault
	Now   func() time.Time
	Log   *slog.Logger
}

// Settings say which model embeds.
type Settings struct {
	Embedder brain.Embedder // nil: none does
	Model    string         // its name: what was made under another one is not used
	// Local says that it stands at home and costs nothing. Then it gives way to people, whose model it may share a machine
	// with; else each request is entered into the ledger.
	Local bool
	// Caps are the limits of the day for a request that is not local. What is made in the background takes at most half.
	Caps func() []vault.Cap
}

// Finder knows what texts mean.
type Finder struct {
	vault *vault.Vault
	now   func() time.Time
	log   *slog.Logger

	mu       sync.Mutex
	settings Settings
	changed  chan struct{}           // closed when the settings are others
	asking   int                     // queries under way
	answered chan struct{}           // hints that one is not any more
	inHand   context.CancelCauseFunc // ends what the background asks just now; nil = nothing that may be ended
	restsTo  time.Time               // until then no query is tried; monotonic
	trouble  string                  // why the last request came to nothing, a sentence; "" = it did not
}

// New makes a Finder without a model.
func New(o Options) *Finder {
	return &Finder{vault: o.Vault, now: o.Now, log: o.Log, changed: make(chan struct{}), answered: make(chan struct{}, 1)}
}

// Configure takes up new settings. The same ones again end a rest after a failure.
func (f *Finder) Configure(s Settings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settings, f.restsTo, f.trouble = s, time.Time{}, ""
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *Finder) current() (Settings, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settings, f.changed
}

// Bounds of what is asked while somebody waits.
const (
	patience   = 2 * time.Second  // then words have to do
	afterwards = 30 * time.Second // so long a server that failed is not waited for again
	longest    = 1000             // characters of a query
)

// errPatience ends a request that takes too long.
var errPatience = errors.New("the embedding model took too long")

// Vector gives what a query means; the zero Vector where no model says so within two seconds. Why not is told by State, and in
// the log: whoever asks gets what words find.
func (f *Finder) Vector(ctx context.Context, query string) vault.Vector {
	f.mu.Lock()
	s, rests := f.settings, time.Now().Before(f.restsTo)
	if s.Embedder == nil || rests || strings.TrimSpace(query) == "" {
		f.mu.Unlock()
		return vault.Vector{}
	}
	f.asking++
	if f.inHand != nil {
		f.inHand(errGaveWay)
	}
	f.mu.Unlock()
	waited, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	vectors, err := f.ask(waited, s, []string{clipped(query, longest)}, false)
	cancel()
	f.mu.Lock()
	f.asking--
	f.mu.Unlock()
	select {
	case f.answered <- struct{}{}:
	default:
	}
	if ctx.Err() != nil {
		return vault.Vector{}
	}
	f.note(s, err)
	if err != nil {
		f.mu.Lock()
		f.restsTo = time.Now().Add(afterwards) // monotonic: a rest, nothing that anybody sees
		f.mu.Unlock()
		f.log.Warn("a query is searched by words alone", "error", err)
		return vault.Vector{}
	}
	return vault.Vector{Model: s.Model, Values: vectors[0]}
}

// ask makes one request. One that is not local stands in the ledger before it is made.
func (f *Finder) ask(ctx context.Context, s Settings, texts []string, background bool) (vectors [][]float32, err error) {
	if s.Local {
		vectors, _, err = s.Embedder.Embed(ctx, texts)
		return checked(vectors, texts, err)
	}
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	most := vault.Usage{In: size + 8*len(texts)} // a byte is at least a part of a token
	var caps []vault.Cap
	if s.Caps != nil {
		caps = s.Caps()
	}
	for i := range caps {
		if background {
			caps[i].Max /= 2
		}
	}
	number, err := f.vault.Reserve(ctx, vault.Spending{Purpose: "embed", Model: s.Model, Usage: most}, caps)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	vectors, tokens, err := s.Embedder.Embed(ctx, texts)
	book := context.WithoutCancel(ctx)
	var refused interface{ Refused() bool }
	switch {
	case err == nil:
		err = f.vault.Settle(book, vault.Spending{ID: number, Usage: vault.Usage{In: tokens}, Took: time.Since(began)})
	case errors.As(err, &refused) && refused.Refused():
		err = errors.Join(err, f.vault.Unspend(book, number))
	default:
		err = errors.Join(err, f.vault.CutOff(book, number, time.Since(began)))
	}
	return checked(vectors, texts, err)
}

// checked holds a model to its contract: everything after it counts on that.
func checked(vectors [][]float32, texts []string, err error) ([][]float32, error) {
	if err == nil && len(vectors) != len(texts) {
		err = &brain.ModelError{Kind: brain.BadReply, Human: "The embedding model gave too few vectors.", Err: fmt.Errorf("embed %d texts: got %d vectors", len(texts), len(vectors))}
	}
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// note keeps how the last request came out.
func (f *Finder) note(s Settings, err error) {
	words := ""
	var fault *brain.ModelError
	var over *vault.OverError
	var full *vault.FullError
	switch {
	case err == nil:
	case errors.As(err, &full):
		words = "There is no room for more on the disk."
	case errors.As(err, &over):
		words = "The limit " + over.Limit + " is reached, or half of it with what is embedded in the background."
	case errors.Is(err, errPatience):
		words = "It took more than two seconds to answer a query."
	case errors.As(err, &fault) && fault.Human != "":
		words = fault.Human
	default:
		words = "The embedding model could not be asked."
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.settings.Model == s.Model {
		f.trouble = words
	}
}

// State is how far a Finder is.
type State struct {
	On         bool
	Model      string
	Done, Left int64  // memories and messages
	Trouble    string // a sentence; "" = the last request was answered
}

// State tells how far it is.
func (f *Finder) State(ctx context.Context) (State, error) {
	f.mu.Lock()
	s := State{On: f.settings.Embedder != nil, Model: f.settings.Model, Trouble: f.trouble}
	f.mu.Unlock()
	if !s.On {
		return s, nil
	}
	var err error
	s.Done, s.Left, err = f.vault.Embedded(ctx, s.Model)
	return s, err
}

// clipped gives the first characters of a text.
func clipped(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}
