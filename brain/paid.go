package brain

import (
	"context"
	"errors"
	"net"
	"time"

	"hearth/vault"
)

// Each request to a model stands in the vault's ledger before it is made, with the most that it can take; the commit that
// saves its answer settles it. So the limits hold for several runs side by side, and a crash forgets no request.

// bytesPerToken is less than what the words of any household have for each token, so that the worst case is one.
const bytesPerToken = 2

// worst is the most that a request can take.
func worst(p vault.Progress, req Request, b Backend, purpose string) vault.Spending {
	out := b.MaxTokens
	if out <= 0 {
		out = 1024
	}
	in := (fixedSize(req)+size(req.Messages))/bytesPerToken + 64
	e := vault.Spending{Run: p.Run.ID, Person: p.Run.Person, Job: p.Run.Job, Purpose: purpose, Model: b.Name, Usage: vault.Usage{In: in, Out: out}}
	if e.USDKnown = b.free(); !e.USDKnown {
		e.USD, e.USDKnown = b.Price.worst(in, out)
	}
	return e
}

// overError is a request that was not made because of a limit.
type overError struct{ Excess }

func (e *overError) Error() string { return "over the limit " + e.Limit }

// caps are the limits for a run's next request, and the same for the vault.
func (t *turn) caps(ctx context.Context, p vault.Progress, s *Settings) ([]limit, []vault.Cap, error) {
	midnight := s.midnight(t.b.now())
	today, err := t.b.vault.BudgetAnswers(ctx, midnight)
	if err != nil {
		return nil, nil, err
	}
	limits := s.ledger(p, append(grants(p.Approvals, vault.ChooseMore), grants(today, vault.ChooseToday)...))
	caps := make([]vault.Cap, len(limits))
	for i, l := range limits {
		caps[i] = vault.Cap{Limit: l.Limit, Of: l.Unit, Person: l.person, Since: midnight, Max: l.At}
		if l.PerRun {
			caps[i].Run = p.Run.ID
		}
	}
	return limits, caps, nil
}

// exceeds turns the vault's word for it into ours.
func exceeds(err error, limits []limit, caps []vault.Cap, model string) error {
	var over *vault.OverError
	if !errors.As(err, &over) {
		return err
	}
	for i, c := range caps {
		if c == over.Cap {
			e := limits[i].Excess
			e.Used, e.Need, e.Model = over.Used, over.Need, model
			return &overError{e.raised()}
		}
	}
	return err
}

// affords reports whether a backend could be asked within the limits.
func (t *turn) affords(ctx context.Context, p vault.Progress, s *Settings, req Request, b Backend) (bool, error) {
	if b.Offline {
		return true, nil
	}
	_, caps, err := t.caps(ctx, p, s)
	if err != nil {
		return false, err
	}
	err = t.b.vault.Fits(ctx, worst(p, req, b, "step"), caps)
	var over *vault.OverError
	if errors.As(err, &over) && !over.Crowded() {
		return false, nil
	}
	return true, errUnless(err, over)
}

func errUnless(err error, over *vault.OverError) error {
	if over != nil {
		return nil
	}
	return err
}

// withinMeans takes those out of a chain that a limit does not leave room for, save the first: an owner is asked about that
// one, and a model that fails is no reason to spend.
func (t *turn) withinMeans(ctx context.Context, p vault.Progress, s *Settings, req Request, chain []Backend) ([]Backend, error) {
	var out []Backend
	for i, b := range chain {
		ok := i == 0
		if !ok {
			var err error
			if ok, err = t.affords(ctx, p, s, req, b); err != nil {
				return nil, err
			}
		}
		if ok {
			out = append(out, b)
		}
	}
	return out, nil
}

// roomWait is how long a request waits for what others have reserved and may give back.
const roomWait = 5 * time.Minute

// reserve enters a request into the ledger; 0 = it needs no entry. While only what is reserved for requests under way stands
// in its way, it waits for them.
func (t *turn) reserve(ctx context.Context, p vault.Progress, s *Settings, req Request, b Backend) (int64, error) {
	if b.Offline {
		return 0, nil
	}
	woken, cancel := t.b.vault.Subscribe(vault.SpendChanged, vault.ApprovalsChanged)
	defer cancel()
	began := time.Now() // monotonic
	for {
		limits, caps, err := t.caps(ctx, p, s)
		if err != nil {
			return 0, err
		}
		number, err := t.b.vault.Reserve(ctx, worst(p, req, b, "step"), caps)
		var over *vault.OverError
		if !errors.As(err, &over) || !over.Crowded() || time.Since(began) >= roomWait {
			return number, exceeds(err, limits, caps, b.Name)
		}
		timer := time.NewTimer(roomWait - time.Since(began))
		select {
		case <-ctx.Done():
			timer.Stop()
			return 0, context.Cause(ctx)
		case <-woken:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// generate makes a request that stands in the ledger, and books it unless its answer is still to be saved.
func (t *turn) generate(ctx context.Context, p vault.Progress, s *Settings, req Request, b Backend, onDelta func(string)) (answer, error) {
	number, err := t.reserve(ctx, p, s, req, b)
	if err != nil {
		return answer{}, err
	}
	a := answer{backend: b, spend: number, began: t.b.now()}
	a.resp, err = b.Model.Generate(ctx, req, onDelta)
	if err != nil {
		return a, errors.Join(err, t.book(ctx, a, err))
	}
	return a, nil
}

// book enters what became of a request whose answer is not saved with a step: fault is why, or nil.
func (t *turn) book(ctx context.Context, a answer, fault error) error {
	ctx = context.WithoutCancel(ctx)
	took := max(0, t.b.now().Sub(a.began))
	switch {
	case a.spend == 0:
		return nil
	case fault == nil, a.resp.In+a.resp.Out > 0: // it came to its end, and was told
		return t.b.vault.Settle(ctx, a.spent(took))
	case unbilled(fault):
		return t.b.vault.Unspend(ctx, a.spend)
	}
	return t.b.vault.CutOff(ctx, a.spend, took)
}

// spent is what an answer took, by what its server says.
func (a answer) spent(took time.Duration) vault.Spending {
	e := vault.Spending{ID: a.spend, Usage: a.resp.usage(), Took: took}
	e.USD, e.USDKnown = a.backend.Cost(a.resp)
	return e
}

// unbilled reports whether a failed request cannot have cost anything: its server refused it, or was never reached.
func unbilled(err error) bool {
	var refused interface{ Refused() bool }
	if errors.As(err, &refused) {
		return refused.Refused()
	}
	var op *net.OpError
	var lookup *net.DNSError
	return errors.As(err, &lookup) || errors.As(err, &op) && op.Op == "dial"
}
