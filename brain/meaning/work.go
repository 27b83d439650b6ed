package meaning

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"hearth/brain"
	"hearth/vault"
)

// How the background works. It is in no hurry.
const (
	batchSize   = 16              // texts a request: a second or two on a small machine
	requestTime = 3 * time.Minute // for one, the model's loading included
	firstRest   = 5 * time.Second // after a failure; it doubles
	lastRest    = 10 * time.Minute
	longestTurn = 5 * time.Minute  // it gives way to people for no longer than that at a time
	longestGap  = 10 * time.Second // between two requests it rests as long as the first one took, and no longer
	stubborn    = 3                // failures in a row of one text that a server has answered
	shortest    = 100              // characters: what is too long for a model at that length is passed over
)

// errGaveWay ends what the background asks, so that a person is served first.
var errGaveWay = errors.New("it gives way to a person")

// Run embeds what there is to embed until ctx ends; then it returns nil. While there is nothing new it sleeps.
func (f *Finder) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		s, changed := f.current()
		if s.Embedder == nil {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		f.work(ctx, s, changed)
	}
	return nil
}

// worker is one life of the background under the same settings.
type worker struct {
	*Finder
	s       Settings
	changed <-chan struct{}
	runs    <-chan struct{}

	limit    int // texts a request
	failures int // in a row
	rest     time.Duration
}

// work embeds until the settings change.
func (f *Finder) work(ctx context.Context, s Settings, changed <-chan struct{}) {
	said, cancel := f.vault.SubscribeLater(vault.MessagesChanged, vault.MemoriesChanged) // the answer comes first
	defer cancel()
	runs, cancelRuns := f.vault.Subscribe(vault.RunsChanged)
	defer cancelRuns()
	w := worker{Finder: f, s: s, changed: changed, runs: runs, limit: batchSize}
	for {
		wait, more := w.step(ctx)
		if ctx.Err() != nil {
			return
		}
		if more {
			if !w.sleep(ctx, wait) {
				return
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
			return
		case <-said:
		}
	}
}

// sleep waits, and reports whether the settings are still the same.
func (w *worker) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-w.changed:
		return false
	case <-timer.C:
		return true
	}
}

// step embeds one batch, and says when to go on; more is false when there was nothing to do.
func (w *worker) step(ctx context.Context) (wait time.Duration, more bool) {
	batch, err := w.vault.Unembedded(ctx, w.s.Model, w.limit)
	if err != nil {
		return w.failed(ctx, err), true
	}
	if batch.Empty() {
		return 0, false
	}
	soft := w.turn(ctx)
	began := time.Now()
	vectors, err := w.embed(ctx, batch, soft)
	if errors.Is(err, errGaveWay) {
		return 0, true
	}
	if err == nil {
		err = w.vault.SaveVectors(ctx, batch, vectors)
	}
	if err != nil {
		return w.failed(ctx, err), true
	}
	if len(batch.Texts) > 0 {
		w.note(w.s, nil)
	}
	w.failures, w.rest, w.limit = 0, 0, batchSize
	return min(time.Since(began), longestGap), true
}

// failed says how long to rest. What a person must mend is not tried at every turn.
func (w *worker) failed(ctx context.Context, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	w.note(w.s, err)
	w.failures++
	w.rest = min(max(firstRest, 2*w.rest), lastRest)
	var fault *brain.ModelError
	if errors.As(err, &fault) {
		if fault.Kind == brain.Permanent {
			w.rest = lastRest
		}
		w.rest = max(w.rest, min(fault.After, lastRest))
	}
	var over *vault.OverError
	if errors.As(err, &over) {
		w.rest = lastRest
	}
	if w.failures >= stubborn {
		w.limit = 1 // so that a text that a server breaks at is found
	}
	w.log.Warn("cannot embed what was said; it is tried again", "error", err, "again_in", w.rest)
	return w.rest
}

// turn waits until nobody is being served, at a model at home. soft: what is asked then is ended when somebody comes.
func (w *worker) turn(ctx context.Context) (soft bool) {
	if !w.s.Local {
		return false
	}
	timer := time.NewTimer(longestTurn)
	defer timer.Stop()
	for w.busy(ctx) {
		select {
		case <-ctx.Done():
			return true
		case <-w.changed:
			return true
		case <-timer.C:
			return false
		case <-w.runs:
		case <-w.answered:
		}
	}
	return true
}

// busy reports whether a person's query or any run is being worked at, or waits for that.
func (w *worker) busy(ctx context.Context) bool {
	w.mu.Lock()
	asking := w.asking > 0
	w.mu.Unlock()
	if asking {
		return true
	}
	runs, err := w.vault.OpenRuns(ctx, 0)
	if err != nil {
		return false
	}
	for _, r := range runs {
		if r.State == vault.Running || r.State == vault.Queued && !r.Ready.After(w.now()) {
			return true
		}
	}
	return false
}

// embed asks for the vectors of a batch. Of a text that the model can make nothing of the vector is nil.
func (w *worker) embed(ctx context.Context, batch vault.EmbeddingBatch, soft bool) ([][]float32, error) {
	if len(batch.Texts) == 0 {
		return nil, nil
	}
	texts := make([]string, len(batch.Texts))
	for i, u := range batch.Texts {
		texts[i] = u.Text
	}
	call, end := context.WithCancelCause(ctx)
	defer end(nil)
	call, cancel := context.WithTimeoutCause(call, requestTime, &brain.ModelError{Kind: brain.Transient, Human: "The embedding model did not answer within three minutes.", Err: errPatience})
	defer cancel()
	if soft {
		w.mu.Lock()
		w.inHand = end
		w.mu.Unlock()
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			w.watch(call, end)
		}()
		defer func() {
			end(nil)
			<-watched
			w.mu.Lock()
			w.inHand = nil
			w.mu.Unlock()
		}()
	}
	return w.parts(call, texts)
}

// watch ends a request when somebody comes.
func (w *worker) watch(call context.Context, end context.CancelCauseFunc) {
	for {
		if call.Err() == nil && w.busy(call) && call.Err() == nil {
			end(errGaveWay)
		}
		select {
		case <-call.Done():
			return
		case <-w.runs:
		case <-w.changed:
			end(errGaveWay)
		}
	}
}

// parts asks for all at once, or for less where the server takes offence at one of them.
func (w *worker) parts(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := w.ask(ctx, w.s, texts, true)
	var fault *brain.ModelError
	if err == nil || ctx.Err() != nil || !errors.As(err, &fault) {
		return vectors, errOr(ctx, err)
	}
	aboutText := fault.Kind == brain.TooLong || fault.Kind == brain.BadReply
	switch {
	case aboutText && len(texts) > 1:
		first, err := w.parts(ctx, texts[:len(texts)/2])
		if err != nil {
			return nil, err
		}
		second, err := w.parts(ctx, texts[len(texts)/2:])
		return append(first, second...), err
	case fault.Kind == brain.TooLong && utf8.RuneCountInString(texts[0]) > shortest:
		return w.parts(ctx, []string{clipped(texts[0], utf8.RuneCountInString(texts[0])/2)})
	case aboutText, len(texts) == 1 && w.failures >= stubborn && w.breaks(ctx, err):
		w.log.Warn("a text cannot be embedded; it is found by its words alone", "error", err)
		return [][]float32{nil}, nil
	}
	return nil, err
}

// breaks reports whether a server that has answered with an error fails at this text alone: it can embed another.
func (w *worker) breaks(ctx context.Context, err error) bool {
	var refused interface{ Refused() bool }
	if !errors.As(err, &refused) || !refused.Refused() {
		return false
	}
	_, err = w.ask(ctx, w.s, []string{"a word"}, true)
	return err == nil
}

// errOr is the reason for which a request was ended, or else its own error.
func errOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
