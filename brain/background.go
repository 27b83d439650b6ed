package brain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hearth/vault"
)

// background does a run that answers nobody. It is asked of the model in use alone: nobody waits, so it is put off rather
// than given to another, dearer or more distant one.
func (t *turn) background(ctx context.Context, p vault.Progress, s *Settings) error {
	work := map[string]func(context.Context, vault.Progress, *Settings, Backend) (vault.TaskDone, error){
		vault.TaskSummary: t.summarise,
		vault.TaskFacts:   t.extract,
	}[p.Run.Task]
	inUse, err := s.modelInUse(ctx, t.b.vault)
	if err != nil {
		return err
	}
	backend := s.Backends[inUse]
	_, shut, err := t.b.shutNote(ctx, backend)
	if err != nil {
		return err
	}
	var done vault.TaskDone
	switch {
	case work == nil:
		done.Failed = fmt.Sprintf("there is no background work called %q", p.Run.Task)
	case !s.Background:
		done.Failed = "background work is switched off"
	case backend.Model == nil, backend.Offline:
		done.Failed = "no model that could do it is in use"
	case shut:
		done.Failed = "the model that is in use refuses to answer"
	default:
		if backend.Window != nil {
			backend.Context = backend.Window(ctx)
		}
		done, err = work(ctx, p, s, backend)
	}
	var fault *ModelError
	var over *overError
	switch {
	case context.Cause(ctx) != nil:
		return errors.Join(context.Cause(ctx), t.unkept(ctx, done))
	case errors.Is(err, errYielded) && backend.free():
		t.log.Info("background work gives way to a person")
		return t.b.vault.Yield(ctx, p.Run.ID, t.idle)
	case errors.Is(err, errYielded): // each time is paid for, so it rests longer each time
		done = vault.TaskDone{Failed: "a person was served first"}
	case errors.As(err, &over):
		done = vault.TaskDone{Failed: "there is no money left for it: " + over.Limit}
	case errors.As(err, &fault) && fault.Kind == Transient && p.Run.Retries < taskRetries:
		t.log.Debug("background work is put off", "task", p.Run.Task, "error", err)
		return t.b.vault.Requeue(ctx, p.Run.ID, t.b.now().Add(max(fault.After, taskAgain)), true)
	case errors.As(err, &fault):
		if fault.Shut {
			if err := errors.Join(t.shuts(ctx, backend, fault), t.tellShut(ctx, p, s, true)); err != nil {
				return err
			}
		}
		done = vault.TaskDone{Failed: "no answer from a model: " + shorten(fault.Error(), 200)}
	case err != nil:
		return err
	}
	if done.Failed != "" {
		t.log.Info("background work came to nothing", "task", p.Run.Task, "reason", done.Failed)
	}
	if err := t.b.vault.EndTask(ctx, p.Run.ID, done); err != nil {
		return errors.Join(err, t.unkept(ctx, done))
	}
	return nil
}

// unkept books what an answer cost that came to nothing: the words are lost, the bill is not.
func (t *turn) unkept(ctx context.Context, done vault.TaskDone) error {
	if done.Step == nil || done.Step.Spend == 0 {
		return nil
	}
	st := done.Step
	return t.b.vault.Settle(context.WithoutCancel(ctx), vault.Spending{
		ID: st.Spend, Usage: vault.Usage{In: st.Step.TokensIn, Out: st.Step.TokensOut, CacheRead: st.CacheRead, CacheWrote: st.CacheWrote},
		USD: st.Step.USD, USDKnown: st.Step.USDKnown, Took: max(0, t.b.now().Sub(st.Step.Started)),
	})
}

// How often and when background work is tried again while the model is out of reach.
const (
	taskRetries = 5
	taskAgain   = 5 * time.Minute
)

// aside asks a model in the background. Words gives its question for a room in characters; it is shortened when the server
// finds it too long.
func (t *turn) aside(ctx context.Context, p vault.Progress, s *Settings, backend Backend, req Request, words func(room int) string) (Response, *vault.StepDone, error) {
	for squeeze := 0; ; squeeze++ {
		req.Messages = []Msg{{Role: "user", Text: words(t.b.measures.budget(backend, fixedSize(req), squeeze))}}
		a, err := t.askOne(ctx, p, s, req, backend)
		if fault := (*ModelError)(nil); errors.As(err, &fault) && fault.Kind == TooLong && squeeze < maxSqueeze {
			continue
		}
		if err != nil {
			return Response{}, nil, err
		}
		step := vault.StepDone{
			Step:  vault.Step{N: nextStep(p), Model: backend.Name, TokensIn: a.resp.In, TokensOut: a.resp.Out, Started: a.began},
			Spend: a.spend, CacheRead: a.resp.CacheRead, CacheWrote: a.resp.CacheWrote,
		}
		step.Step.USD, step.Step.USDKnown = backend.Cost(a.resp)
		return a.resp, &step, nil
	}
}

// speaker names who said a message, for a model that reads along.
func speaker(people []vault.Person, m vault.Message) string {
	if i := slices.IndexFunc(people, func(p vault.Person) bool { return p.ID == m.Person }); i >= 0 {
		return name(people[i].Name)
	}
	return "Somebody"
}
