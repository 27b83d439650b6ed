package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"hearth/vault"
)

// overLimit asks an owner whether a run may go on beyond a limit, and parks it. It is not asked: where nothing may be spent at
// all, or when an owner has said stop for today and nobody of them writes. What the built-in model understands needs no money.
func (t *turn) overLimit(ctx context.Context, p vault.Progress, s *Settings, e Excess) (over bool, err error) {
	if !e.PerRun {
		if did, over, err := t.standIn(ctx, p, s); did || err != nil {
			return over, err
		}
	}
	if e.Of == Nothing {
		return t.endOver(ctx, p, "I may not spend money: brain.limits.usd_per_day is 0 in the YAML file, and the model "+e.Model+" costs some or is of unknown price.")
	}
	stopped, err := t.stoppedToday(ctx, p, s, e)
	if err != nil || stopped {
		if stopped {
			return t.endOver(ctx, p, e.sentence()+" An owner has said that nothing goes beyond it today; it begins again at midnight.")
		}
		return false, err
	}
	arguments, err := json.Marshal(e)
	if err != nil {
		return false, fmt.Errorf("write a question: %w", err)
	}
	if !p.Person.IsOwner() && p.Run.Trigger == "message" {
		if err := t.b.vault.NoticeWaiting(ctx, p.Run.ID, e.sentence()+" I have asked the owner whether I may go on."); err != nil {
			return false, err
		}
	}
	number, err := t.b.vault.AskBudget(ctx, p.Run.ID, e.question(p, t), string(arguments))
	switch {
	case errors.Is(err, vault.ErrAsked):
		return t.endOver(ctx, p, e.sentence()+fmt.Sprintf(" Question %d about it is still open: ask me again when it is answered.", number))
	case errors.Is(err, vault.ErrNotFound):
		return t.endOver(ctx, p, e.sentence())
	}
	return err == nil, err
}

// question puts it so that each choice says what it does.
func (e Excess) question(p vault.Progress, t *turn) vault.Question {
	words := e.sentence() + " May I go on with " + task(p) + "?"
	choices := []string{vault.ChooseMore, vault.ChooseToday, vault.ChooseStop}
	if e.PerRun {
		words += fmt.Sprintf(" more: up to %s; stop: I end it here.", amount(e.Unit, e.To))
		choices = []string{vault.ChooseMore, vault.ChooseStop}
	} else {
		words += fmt.Sprintf(" more: this alone may, until %s are used in all; today: everything may, up to %[1]s until midnight; stop: I end this, and whatever else comes to the limit today.", amount(e.Unit, e.To))
	}
	return vault.Question{Text: words, Choices: choices, Expires: t.b.now().Add(approvalLife)}
}

// task names a run in a question: whoever is asked may not know of it.
func task(p vault.Progress) string {
	switch {
	case p.Run.Job != 0:
		return fmt.Sprintf("wake-up %d, “%s”", p.Run.Job, shorten(oneLine(p.Run.Input), 80))
	case len(p.Messages) == 0:
		return "the heartbeat"
	}
	words := "“" + shorten(oneLine(p.Messages[0].Text), 80) + "”"
	if p.Conversation.Kind == vault.Private && !p.Person.IsOwner() {
		return "what " + name(p.Person.Name) + " wrote to me" // whose words are not the owner's to read
	}
	return words
}

func (t *turn) endOver(ctx context.Context, p vault.Progress, words string) (over bool, err error) {
	return true, t.b.vault.EndRun(ctx, p.Run.ID, give(p, "budget", "I stopped. "+words).End)
}

// stoppedToday reports whether an owner has said stop to the same limit today. Their own message asks again all the same.
func (t *turn) stoppedToday(ctx context.Context, p vault.Progress, s *Settings, e Excess) (bool, error) {
	if e.PerRun || p.Person.IsOwner() && p.Run.Trigger == "message" {
		return false, nil
	}
	answers, err := t.b.vault.BudgetAnswers(ctx, s.midnight(t.b.now()))
	for _, g := range grants(answers, vault.ChooseStop) {
		if g.same(e) {
			return true, err
		}
	}
	return false, err
}

// refusedMore reports whether the last question about a limit ended a run: with stop, or without an answer in time.
func refusedMore(asked []vault.Approval) (reason, words string) {
	for i := len(asked) - 1; i >= 0; i-- {
		a := asked[i]
		if a.Kind != "budget" {
			continue
		}
		var e Excess
		if json.Unmarshal([]byte(a.Arguments), &e) != nil {
			return "budget", fmt.Sprintf("I stopped: question %d does not say what it was about.", a.ID)
		}
		switch {
		case a.State == "answered" && a.Choice == vault.ChooseStop:
			return "budget", fmt.Sprintf("I stopped, as was decided in question %d. %s", a.ID, e.sentence())
		case a.State == "expired":
			return "budget", fmt.Sprintf("I stopped: nobody answered question %d in time. %s", a.ID, e.sentence())
		}
		return "", ""
	}
	return "", ""
}
