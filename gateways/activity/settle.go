package activity

import (
	"context"
	"log/slog"
	"time"

	"hearth/gateways"
	"hearth/gateways/markup"
	"hearth/vault"
)

const settleLimit = 30 * time.Second

// settler settles the questions of one gateway, one after the other.
type settler struct {
	vault *vault.Vault
	asker gateways.Asker
	name  string
	log   *slog.Logger
	mask  func(string) string
	tried map[int64]bool // parts that the vault does not know to be settled yet
}

func newSettler(opt Options, name string, asker gateways.Asker) *settler {
	return &settler{vault: opt.Vault, asker: asker, name: name, log: opt.Log.With("gateway", name), mask: opt.Mask, tried: map[int64]bool{}}
}

func (s *settler) run(ctx context.Context) {
	woken, cancel := s.vault.SubscribeLater(vault.ApprovalsChanged, vault.OutboxChanged, vault.SendsChanged)
	defer cancel()
	for ctx.Err() == nil {
		if err := s.pass(ctx); err != nil && ctx.Err() == nil {
			s.log.Debug("cannot settle questions", "error", err)
		}
		timer := time.NewTimer(maxSleep)
		select {
		case <-ctx.Done():
		case <-woken:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// pass settles what is decided. Once is enough, also when it fails: a button that stays does no harm, its press is answered
// with what was decided.
func (s *settler) pass(ctx context.Context) error {
	decided, err := s.vault.Unsettled(ctx, s.name)
	if err != nil {
		return err
	}
	for _, d := range decided {
		if !s.tried[d.Part.ID] {
			limited, cancel := context.WithTimeout(ctx, settleLimit)
			err := s.asker.Settle(limited, d.Part.To, d.Part.Ref, s.words(d))
			cancel()
			if ctx.Err() != nil {
				return ctx.Err() // the next life settles it
			}
			if err != nil {
				s.log.Info("cannot take the buttons from a question", "error", err)
			}
			s.tried[d.Part.ID] = true
		}
		if err := s.vault.Settled(ctx, d.Part.ID); err != nil {
			return err
		}
		delete(s.tried, d.Part.ID)
	}
	return nil
}

// words are the question as it was sent, with the outcome below it.
func (s *settler) words(d vault.Decided) string {
	text := s.mask(d.Part.Text)
	if d.Part.Entities != "" { // a piece of a long one: no Markdown any more
		text = markup.Escape(text)
	}
	if d.Part.Outcome != "" {
		return text + "\n\n" + markup.Escape(d.Part.Outcome)
	}
	return text + "\n\n" + outcome(d)
}

func outcome(d vault.Decided) string {
	by := ""
	if d.By != "" {
		by = " by " + markup.Escape(d.By)
	}
	switch a := d.Approval; {
	case a.State == "approved" && a.Choice == vault.ChooseAlways:
		return "✓ approved" + by + ", and from now on without asking"
	case a.State == "approved":
		return "✓ approved" + by
	case a.State == "denied":
		return "✗ denied" + by
	case a.State == "expired" && a.Kind == "call":
		return "closed without an answer, not done"
	case a.State == "expired":
		return "closed without an answer"
	default:
		return "answered" + by + ": " + markup.Escape(a.Choice)
	}
}
