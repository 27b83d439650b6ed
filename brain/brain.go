// Package brain turns queued runs into answers, one committed move at a time. Its loop is four words: load what the vault
// knows of a run, decide its next move, do it, commit it. All policy is in pure functions (next.go, policy.go, judge.go);
// whatever a model says is checked there and not believed.
package brain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hearth/skills"
	"hearth/vault"
)

// Options are what a brain needs.
type Options struct {
	Vault *vault.Vault
	Tools skills.Set
	Now   func() time.Time
	Log   *slog.Logger
	// Hook is called at points between commits ("ask-model", "model-answered", "tool-start", "tool-end"); nil = not. It is
	// for crash tests.
	Hook func(point string)
}

// Brain runs the agent loop.
type Brain struct {
	vault *vault.Vault
	tools skills.Set
	now   func() time.Time
	log   *slog.Logger
	hook  func(string)

	settings atomic.Pointer[Settings]
	lanes    lanes
	resting  resting
	candid   candid
	measures measures

	mu     sync.Mutex
	active map[*work]struct{}

	freed   chan struct{} // a conversation is free
	learned time.Time     // when it was looked for talks that have come to rest; monotonic
	audited time.Time     // when the ends of runs were looked at last; monotonic
	proven  int64         // the run up to which they were
}

// work is one life of a run in hand. A run that parks and is taken up again at once has two of them for a moment, so the
// run's number would not do as a key.
type work struct {
	run        int64
	background bool // nobody waits for it
	stop       context.CancelCauseFunc
}

// The runs that are in hand at a time, and those among them that no person waits for: there is always room for people.
// What a backend takes at a time is bounded apart.
const (
	maxActive     = 64
	maxBackground = 16
)

// New makes a brain with the given settings; Run starts it.
func New(opt Options, s Settings) *Brain {
	b := &Brain{vault: opt.Vault, tools: opt.Tools, now: opt.Now, log: opt.Log, hook: opt.Hook, active: map[*work]struct{}{}, freed: make(chan struct{}, 1)}
	if b.hook == nil {
		b.hook = func(string) {}
	}
	b.Configure(s)
	return b
}

// Configure takes up new settings: from the next step of every run on.
func (b *Brain) Configure(s Settings) {
	s = s.withDefaults()
	b.settings.Store(&s)
	b.resting.wake()
	b.candid.forget()
	b.vault.Wake()
}

// Why a run's context ends.
var (
	errStopped  = errors.New("a person stopped the run")
	errShutdown = errors.New("the program is ending")
)

// longestSleep bounds each wait for work: clocks jump.
const longestSleep = time.Minute

// Run works until ctx ends, then parks what it has in hand and returns nil.
func (b *Brain) Run(ctx context.Context) error {
	woken, cancel := b.vault.Subscribe(vault.RunsChanged, vault.ApprovalsChanged, vault.SettingsChanged, vault.PeopleChanged)
	defer cancel()
	var working sync.WaitGroup
	defer working.Wait()
	b.learned = time.Now()
	for {
		looked := b.now()
		if err := b.dispatch(ctx, &working); err != nil && ctx.Err() == nil {
			b.log.Error("cannot take up runs", "error", err)
		}
		timer := time.NewTimer(b.sleep(ctx, looked))
		select {
		case <-ctx.Done():
			timer.Stop()
			b.cancelAll()
			return nil
		case <-woken:
		case <-b.freed:
		case <-timer.C:
		}
		timer.Stop()
		if err := b.endStopped(ctx); err != nil && ctx.Err() == nil {
			b.log.Error("cannot look for stopped runs", "error", err)
		}
		if time.Since(b.audited) >= auditEvery {
			b.audit(ctx)
		}
		if time.Since(b.learned) >= learnEvery {
			b.learn(ctx)
		}
	}
}

// auditEvery is how often all runs are held against the rule that none ends without a word.
const auditEvery = 10 * time.Minute

// audit mends what a fault of ours left astray, and says so in the log.
func (b *Brain) audit(ctx context.Context) {
	b.audited = time.Now() // monotonic: a rhythm, nothing that anybody sees
	found, upTo, err := b.vault.Audit(ctx, b.proven, func(run int64) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		for w := range b.active {
			if w.run == run {
				return true
			}
		}
		return false
	})
	if err != nil {
		if ctx.Err() == nil {
			b.log.Error("cannot audit the runs", "error", err)
		}
		return
	}
	b.proven = upTo
	for _, f := range found {
		b.log.Error("a run was astray and is mended", "run", f.Run, "fault", f.Fault)
	}
}

// sleep is how long nothing can become ready by itself. What was ready when dispatch looked has been taken up, or is held by
// a busy conversation, an older message or a pause: then a commit wakes us. A person who is held is made room for.
func (b *Brain) sleep(ctx context.Context, looked time.Time) time.Duration {
	runs, err := b.vault.Unended(ctx)
	if err != nil {
		return longestSleep
	}
	wait, held := longestSleep, false
	for _, r := range runs {
		if r.State == vault.Queued && r.Ready.After(looked) {
			wait = min(wait, r.Ready.Sub(b.now()))
		} else if r.State == vault.Queued && r.Trigger == "message" {
			held = true
		}
	}
	if held {
		wait = min(wait, b.makeRoom(ctx))
	}
	return max(0, wait)
}

// dispatch takes up all that can be.
func (b *Brain) dispatch(ctx context.Context, working *sync.WaitGroup) error {
	for ctx.Err() == nil {
		claim := b.vault.Claim
		switch all, background := b.inHand(); {
		case all >= maxActive:
			return nil
		case background >= maxBackground:
			claim = b.vault.ClaimMessage
		}
		p, err := claim(ctx)
		if errors.Is(err, vault.ErrIdle) {
			return nil
		}
		if err != nil {
			return err
		}
		runCtx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
		w := &work{run: p.Run.ID, background: p.Run.Trigger != "message", stop: stop}
		b.mu.Lock()
		b.active[w] = struct{}{}
		b.mu.Unlock()
		working.Go(func() {
			defer func() {
				stop(nil)
				b.lanes.ended(p.Run.ID, p.Conversation.ID)
				b.mu.Lock()
				delete(b.active, w)
				b.mu.Unlock()
				select {
				case b.freed <- struct{}{}:
				default: // that is known already
				}
			}()
			b.drive(runCtx, p)
		})
	}
	return nil
}

func (b *Brain) cancelAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.active {
		w.stop(errShutdown)
	}
}

// endStopped cuts the runs that a person has stopped: their model call, their tool.
func (b *Brain) endStopped(ctx context.Context) error {
	b.mu.Lock()
	numbers := make([]int64, 0, len(b.active))
	for w := range b.active {
		numbers = append(numbers, w.run)
	}
	b.mu.Unlock()
	if len(numbers) == 0 {
		return nil
	}
	gone, err := b.vault.StoppedAmong(ctx, numbers)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.active {
		if slices.Contains(gone, w.run) {
			w.stop(errStopped)
		}
	}
	return nil
}

// drive makes one run's moves until it ends, waits for a person, or is taken from us.
func (b *Brain) drive(ctx context.Context, p vault.Progress) {
	log := b.log.With("run", p.Run.ID, "conversation", p.Run.Conversation)
	defer func() {
		if r := recover(); r != nil {
			log.Error("a run panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			end := vault.Ending{State: vault.Failed, Reason: "a fault in the program", Reply: withReceipts("Something in me broke while I worked on this, so I stopped. It is in the log; nothing else is affected.", p.Calls)}
			if err := b.vault.EndRun(context.WithoutCancel(ctx), p.Run.ID, end); err != nil && !errors.Is(err, vault.ErrNotRunning) {
				log.Error("cannot end a run", "error", err)
			}
		}
	}()
	t := turn{b: b, log: log, began: time.Now()}
	for {
		over, err := t.move(ctx, &p)
		switch {
		case err == nil && over:
			return
		case err == nil:
		case errors.Is(err, vault.ErrNotRunning), errors.Is(context.Cause(ctx), errStopped):
			return // stopped by a person; nothing of it is committed any more
		case errors.Is(context.Cause(ctx), errShutdown):
			if err := b.vault.Requeue(context.WithoutCancel(ctx), p.Run.ID, b.now(), false); err != nil {
				log.Error("cannot park a run", "error", err) // recovered at the next start
			}
			return
		default:
			log.Error("cannot go on with a run", "error", err)
			b.setAside(ctx, p, log)
			return
		}
	}
}

// A run that the vault itself fails is tried again so often before its person is told.
const (
	maxRetries = 6
	retryAfter = 10 * time.Second
)

// setAside gives a run back that the vault fails, to be taken up again soon. When not even that can be written, e.g. on a
// full disk, it waits until it can: a run that nobody has in hand would hold its conversation for good.
func (b *Brain) setAside(ctx context.Context, p vault.Progress, log *slog.Logger) {
	for {
		var err error
		if p.Run.Retries < maxRetries {
			err = b.vault.Requeue(context.WithoutCancel(ctx), p.Run.ID, b.now().Add(retryAfter), true)
		} else {
			end := vault.Ending{State: vault.Failed, Reason: "the vault failed again and again", Reply: withReceipts("I could not go on with this: my storage failed again and again. `hearth doctor` says more.", p.Calls)}
			err = b.vault.EndRun(context.WithoutCancel(ctx), p.Run.ID, end)
		}
		if err == nil || errors.Is(err, vault.ErrNotRunning) {
			return
		}
		log.Error("cannot set a run aside", "error", err)
		if waitFor(ctx, retryAfter) != nil {
			return // recovered at the next start
		}
	}
}

// waitFor waits, or gives the reason why ctx ended.
func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Models names the backends in the order of the YAML file's fallbacks, and the one in use.
func (b *Brain) Models(ctx context.Context) (names []string, inUse string, err error) {
	s := b.settings.Load()
	inUse, err = s.modelInUse(ctx, b.vault)
	return s.names(), inUse, err
}
