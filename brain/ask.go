package brain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"hearth/vault"
)

// answer is a reply with the backend it came from.
type answer struct {
	resp      Response
	backend   Backend
	insteadOf string // the model in use, when it was another that answered
	spend     int64  // its row of the ledger; 0 = it has none
	began     time.Time
}

// waitNotice is how long a message waits for a busy model before its sender is told, and how often that is brought up to date.
const waitNotice = 3 * time.Second

// ask tries the model in use, then its fallbacks. The error is that of the first backend: the one the owner wants.
func (t *turn) ask(ctx context.Context, p vault.Progress, req Request, s *Settings) (answer, error) {
	inUse, err := s.modelInUse(ctx, t.b.vault)
	if err != nil {
		return answer{}, err
	}
	chain := s.chain(inUse)
	if offline, ok := s.Backends[OfflineName]; ok && len(p.Steps) > 0 && p.Steps[len(p.Steps)-1].Model == OfflineName {
		chain = []Backend{offline} // it stood in for the others in this run, so it ends what it began
	}
	if chain, err = t.keepHome(ctx, p, s, chain); err != nil {
		return answer{}, err
	}
	if chain, err = t.withinMeans(ctx, p, s, req, chain); err != nil {
		return answer{}, err
	}
	chain, closed, err := t.open(ctx, p, chain)
	if err != nil {
		return answer{}, err
	}
	var first error
	for _, backend := range t.b.resting.awake(chain) {
		instead := ""
		if backend.Name != inUse && !backend.Offline {
			instead = inUse
			if req, err = t.b.promptFor(ctx, p, s, backend, t.squeeze, false); err != nil { // it may take less, or more
				return answer{}, err
			}
		}
		a, err := t.askOne(ctx, p, s, req, backend)
		if err == nil {
			t.b.resting.well(backend.Name)
			a.insteadOf = instead
			if err := t.shuts(ctx, backend, nil); err != nil {
				return answer{}, errors.Join(err, t.book(ctx, a, nil))
			}
		}
		if err == nil || context.Cause(ctx) != nil || errors.Is(err, errYielded) {
			return a, err
		}
		var reached *overError
		if errors.As(err, &reached) {
			return answer{}, err
		}
		fault := faultOf(err)
		if fault.Kind == TooLong && t.squeeze < maxSqueeze || fault.Kind == BadReply && t.resamples < maxResamples {
			return answer{}, err // the same words would be too long, or as badly answered, elsewhere: shorten or sample again first
		}
		if fault.Shut {
			if err := t.shuts(ctx, backend, fault); err != nil {
				return answer{}, err
			}
		}
		if first == nil {
			first = err
		}
		t.log.Warn("a model failed", "model", backend.Name, "error", err)
		t.b.resting.rest(backend.Name, fault)
	}
	if first == nil && closed != nil {
		first = closed
	}
	if first == nil {
		first = &ModelError{Kind: Permanent, Human: fmt.Sprintf("The model %q is not configured.", inUse), Err: fmt.Errorf("no backend called %s", inUse)}
	}
	return answer{}, first
}

// askOne waits for its turn at a backend and asks it. errYielded: a person is served first.
func (t *turn) askOne(ctx context.Context, p vault.Progress, s *Settings, req Request, backend Backend) (answer, error) {
	ticket := t.ticket(p)
	// A person who waits behind somebody else's long answer is told so.
	stop, came := t.noticeLater(ctx, p, backend, ticket), time.Now()
	call, release, err := t.b.lanes.take(ctx, backend, ticket)
	told := stop()
	t.idle += time.Since(came)
	if err != nil {
		return answer{}, err
	}
	defer release(false)
	if told {
		if err := t.b.vault.NoticeWaiting(ctx, p.Run.ID, ""); err != nil {
			return answer{}, err
		}
	}
	req.MaxTokens = backend.MaxTokens
	began := time.Now()
	draft := t.draftOf(p, backend)
	a, err := t.generate(call, p, s, req, backend, draft.add)
	draft.end(a.resp, err)
	if err != nil && errors.Is(context.Cause(call), errYielded) {
		t.idle += time.Since(began)
		return answer{}, errYielded
	}
	if err == nil {
		t.b.measures.learn(backend.Name, fixedSize(req)+size(req.Messages), a.resp.In)
	}
	release(err == nil && len(a.resp.Calls) > 0)
	return a, err
}

// noticeLater tells the sender that the run waits, and for how many others, until stop is called; that tells whether it did.
func (t *turn) noticeLater(ctx context.Context, p vault.Progress, backend Backend, ticket *ticket) (stop func() (told bool)) {
	if p.Run.Trigger != "message" {
		return func() bool { return false }
	}
	ctx, cancel := context.WithCancel(ctx)
	var telling sync.WaitGroup
	told := false
	telling.Go(func() {
		for waitFor(ctx, waitNotice) == nil {
			place := t.b.lanes.place(backend, ticket)
			if place == 0 {
				continue // it is about to be served
			}
			told = true
			if err := t.b.vault.NoticeWaiting(ctx, p.Run.ID, inLine(place)); err != nil && ctx.Err() == nil {
				t.log.Error("cannot tell that a run waits", "error", err)
			}
		}
	})
	return func() bool {
		cancel()
		telling.Wait()
		return told
	}
}

// inLine says how many are served before.
func inLine(place int) string {
	ordinals := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if place > len(ordinals) {
		return fmt.Sprintf("One moment: I am busy with something else; %d are in line before you.", place-1)
	}
	return fmt.Sprintf("One moment: I am busy with something else; you are %s in line.", ordinals[place-1])
}

// How long and how often a model is asked again before the run is given up.
const (
	firstRetry   = time.Second
	longestRetry = 30 * time.Second
	maxOutage    = 75 * time.Second // without an answer from any backend
	maxSqueeze   = 4
	maxResamples = 2
	tellAt       = 3 // tries, after which the person is told that there is trouble
	askAt        = 2 // tries, after which the owner is asked about the cloud
)

// failed decides what a failed model call means for the run: shorter, again, later, or told.
func (t *turn) failed(ctx context.Context, p vault.Progress, s *Settings, err error) (over bool, _ error) {
	fault := faultOf(err)
	switch fault.Kind {
	case TooLong:
		if t.squeeze < maxSqueeze {
			t.squeeze++
			return false, nil
		}
	case BadReply:
		if t.resamples < maxResamples {
			t.resamples++
			return false, nil
		}
	case Transient:
		if t.outage.IsZero() {
			t.outage = time.Now() // monotonic: how long it is tried, nothing that anybody sees
		}
		if time.Since(t.outage) < maxOutage && (t.away == "" || t.tries < askAt) {
			return false, t.pause(ctx, p, fault)
		}
	}
	if t.away != "" {
		return t.askCloud(ctx, p, s, fault)
	}
	return t.withoutModel(ctx, p, s, fault)
}

// pause waits in place, longer each time: the run keeps its conversation, so that nothing overtakes it.
func (t *turn) pause(ctx context.Context, p vault.Progress, fault *ModelError) error {
	wait := min(longestRetry, firstRetry<<min(5, t.tries))
	wait = wait*3/4 + rand.N(wait/2) // jitter, so that many runs do not come back at once
	if fault.After > 0 {
		wait = min(fault.After, maxOutage)
	}
	if t.tries++; t.tries >= tellAt && p.Run.Trigger == "message" {
		if err := t.b.vault.NoticeWaiting(ctx, p.Run.ID, fault.Human+" I keep trying."); err != nil {
			return err
		}
	}
	if err := t.b.vault.Rest(ctx, p.Run.ID, t.b.now().Add(wait)); err != nil {
		return err
	}
	return waitFor(ctx, wait)
}

// withoutModel is the last resort. The built-in model may still understand a reminder or a question to the memory;
// otherwise the person is told what is wrong, and what is done already stands in the answer.
func (t *turn) withoutModel(ctx context.Context, p vault.Progress, s *Settings, fault *ModelError) (over bool, err error) {
	if did, over, err := t.standIn(ctx, p, s); did || err != nil {
		return over, err
	}
	return t.giveUp(ctx, p, fault)
}

// standIn lets the built-in model do what it understands, unless something is done already. did: it has.
func (t *turn) standIn(ctx context.Context, p vault.Progress, s *Settings) (did, over bool, err error) {
	offline, ok := s.Backends[OfflineName]
	if !ok || len(p.Calls) > 0 {
		return false, false, nil
	}
	req, err := t.b.prompt(ctx, p, s, t.squeeze)
	if err != nil {
		return false, false, err
	}
	resp, err := offline.Model.Generate(ctx, req, nil)
	if err != nil || len(resp.Calls) == 0 {
		return false, false, nil //nolint:nilerr // then it is told what is wrong with the others
	}
	over, err = t.commit(ctx, p, answer{resp: resp, backend: offline}, s, t.b.now())
	return true, over, err
}

// giveUp tells what is wrong. What works without a model is said once in an outage.
func (t *turn) giveUp(ctx context.Context, p vault.Progress, fault *ModelError) (over bool, err error) {
	if told, err := t.toldBefore(ctx, p, t.b.settings.Load(), fault); err != nil || told {
		if err != nil {
			return false, err
		}
		return true, t.b.vault.EndRun(ctx, p.Run.ID, vault.Ending{State: vault.Failed, Reason: vault.ToldBefore, Reply: withReceipts("", p.Calls)})
	}
	words := fault.Human
	switch first := t.b.resting.tell(p.Conversation.ID); {
	case first && fault.Kind == Permanent:
		words += " Until somebody mends that, reminders, memory and lists work all the same."
	case first:
		words += " Ask me again later; reminders, memory and lists work all the same."
	case fault.Kind != Permanent:
		words += " Ask me again later."
	}
	end := vault.Ending{State: vault.Failed, Reason: "no answer from a model: " + shorten(fault.Error(), 200), Reply: withReceipts(words, p.Calls)}
	return true, t.b.vault.EndRun(ctx, p.Run.ID, end)
}
