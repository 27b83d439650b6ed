package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hearth/vault"
)

// CloudFallback says whether a run that began on a model at home may go on with one that is not.
type CloudFallback string

// The values of CloudFallback.
const (
	CloudNever CloudFallback = "never"
	CloudAsk   CloudFallback = "ask" // an owner decides, each time or for always; also what "" means
	CloudAllow CloudFallback = "allow"
)

// cloudLife is how long the question stays open. It is shorter than others are: the model at home may be well again.
const cloudLife = time.Hour

// leave says what holds for a run: what the owner answered about it, then what they said for always, then the setting.
func (t *turn) leave(ctx context.Context, p vault.Progress, s *Settings) (CloudFallback, error) {
	if s.CloudFallback == CloudNever || s.CloudFallback == CloudAllow {
		return s.CloudFallback, nil
	}
	for _, a := range slices.Backward(p.Approvals) {
		switch {
		case a.Kind != "cloud":
		case a.State == "answered" && (a.Choice == vault.ChooseYes || a.Choice == vault.ChooseAlways):
			return CloudAllow, nil
		default:
			return CloudNever, nil // no, or no answer in time
		}
	}
	rules, err := t.b.vault.Rules(ctx)
	if err == nil && ruled(rules, vault.CloudRule, p.Person.ID, p.Conversation.Kind, "") {
		return CloudAllow, nil
	}
	return CloudAsk, err
}

// keepHome takes the models that are not at home out of a chain that begins at home, unless the run has leave. When an owner
// is to be asked for it, the first of those models is remembered. A model that a person chose themselves is never taken out.
func (t *turn) keepHome(ctx context.Context, p vault.Progress, s *Settings, chain []Backend) ([]Backend, error) {
	t.away = ""
	at := slices.IndexFunc(chain, func(b Backend) bool { return !b.Local })
	if at <= 0 {
		return chain, nil
	}
	leave, err := t.leave(ctx, p, s)
	if err != nil || leave == CloudAllow {
		return chain, err
	}
	if leave == CloudAsk {
		t.away = chain[at].Name
	}
	return slices.DeleteFunc(slices.Clone(chain), func(b Backend) bool { return !b.Local }), nil
}

// askCloud puts the question and parks the run. What the built-in model understands needs no question.
func (t *turn) askCloud(ctx context.Context, p vault.Progress, s *Settings, fault *ModelError) (over bool, err error) {
	if did, over, err := t.standIn(ctx, p, s); did || err != nil {
		return over, err
	}
	if !p.Person.IsOwner() && p.Run.Trigger == "message" {
		words := fault.Human + " I have asked the owner whether I may use a model outside the house for this."
		if err := t.b.vault.NoticeWaiting(ctx, p.Run.ID, words); err != nil {
			return false, err
		}
	}
	arguments, err := json.Marshal(map[string]string{"model": t.away})
	if err != nil {
		return false, fmt.Errorf("write a question: %w", err)
	}
	number, err := t.b.vault.AskCloud(ctx, p.Run.ID, vault.Question{
		Text: fault.Human + fmt.Sprintf(" May this go on with the model %s, which is not in your house? It would read this conversation and what I remember for it. "+
			"Yes is for this once, always for the time to come as well; with no it waits for the model at home.", t.away),
		Choices: []string{vault.ChooseYes, vault.ChooseAlways, vault.ChooseNo}, Expires: t.b.now().Add(cloudLife),
	}, string(arguments))
	switch {
	case errors.Is(err, vault.ErrAsked):
		asked := *fault
		asked.Human += fmt.Sprintf(" Question %d, whether I may use a model outside the house, is still open.", number)
		return t.giveUp(ctx, p, &asked)
	case errors.Is(err, vault.ErrNotFound):
		return t.giveUp(ctx, p, fault)
	}
	return err == nil, err
}

// nameModel says below an answer that it is not of the model in use.
func nameModel(a answer, end *vault.Ending) {
	if a.insteadOf != "" && end != nil && end.State == vault.Done && end.Reply != "" {
		end.Reply += fmt.Sprintf("\n\n(Answered by the model %s, because %s could not.)", a.backend.Name, a.insteadOf)
	}
}
