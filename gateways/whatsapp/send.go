package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"hearth/gateways"
	"hearth/gateways/whatsapp/turns"
	"hearth/vault"
)

// reachOut is the answer to a message to somebody whom this number may not write to first: 463 (whatsmeow#1074,
// Baileys#2688). Trying again makes it worse.
const reachOut = 463

// Send implements gateways.Gateway. The message goes out under the id that was chosen for it, so that a repeat carries the
// same one and is shown once.
func (g *Gateway) Send(ctx context.Context, out vault.Part) (string, error) {
	to, fault := g.allowed(ctx, out)
	if fault != nil {
		return "", fault
	}
	id := out.Stable
	if id == "" {
		id = g.NewID()
	}
	if err := g.pace.wait(ctx, g.limits.gap); err != nil {
		return "", &gateways.SendError{Outcome: vault.NotSent, Human: "it was not its turn yet", Err: err}
	}
	l, fault := g.reach(ctx)
	if fault != nil {
		return "", fault
	}
	if fault := g.registered(ctx, l.client, to); fault != nil {
		return "", fault
	}
	timer, err := g.timer(ctx, out.To.Chat)
	if err != nil {
		return "", &gateways.SendError{Outcome: vault.NotSent, Human: "the vault cannot be read", Err: err}
	}
	text := body(out)
	if len([]rune(text)) > hardLimit {
		return "", &gateways.SendError{Outcome: vault.Refused, Human: "it is too long for WhatsApp"}
	}
	_, err = l.turns.SendMessage(ctx, to, message(text, timer), whatsmeow.SendRequestExtra{ID: id, Timeout: g.limits.ack})
	if err != nil {
		return "", judge(ctx, err)
	}
	return id, nil
}

// allowed says where a part goes, and refuses what must not go out: to an account that is not this one, to nobody known, and
// too many to people who have not written first.
func (g *Gateway) allowed(ctx context.Context, out vault.Part) (types.JID, *gateways.SendError) {
	account := g.Account()
	if out.To.Account != "" && account != "" && out.To.Account != account {
		return types.JID{}, &gateways.SendError{Outcome: vault.Refused, Human: "it was meant for another WhatsApp account, which is not linked any more"}
	}
	to, err := address(out.To.Chat)
	if err != nil {
		return to, &gateways.SendError{Outcome: vault.Refused, Human: err.Error(), Err: err}
	}
	if g.opt.Mode == Self && account != "" && out.To.Chat != account {
		return to, &gateways.SendError{Outcome: vault.Refused, Human: "in this mode I write only to my owner's chat with themselves"}
	}
	known, wrote, err := g.opt.Vault.Reached(ctx, Name, out.To.Chat)
	if err != nil {
		return to, &gateways.SendError{Outcome: vault.NotSent, Human: "the vault cannot be read", Err: err}
	}
	if !known {
		return to, &gateways.SendError{Outcome: vault.Refused, Human: "this number belongs to nobody I know, and I write to nobody else"}
	}
	if wrote || out.To.Chat == account { // one's own chat needs nobody to write first
		return to, nil
	}
	now := g.opt.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	sent, err := g.opt.Vault.Unasked(ctx, Name, midnight)
	if err != nil {
		return to, &gateways.SendError{Outcome: vault.NotSent, Human: "the vault cannot be read", Err: err}
	}
	if sent >= g.limits.cold {
		return to, &gateways.SendError{
			Outcome: vault.NotSent, Wait: midnight.AddDate(0, 0, 1).Sub(now),
			Human: fmt.Sprintf("to people who have not written to this number first I send no more than %d messages a day, or WhatsApp bans it; it goes out tomorrow", g.limits.cold),
		}
	}
	return to, nil
}

// reach gives the line, waiting a little for it.
func (g *Gateway) reach(ctx context.Context) (*line, *gateways.SendError) {
	timer := time.NewTimer(g.limits.connect)
	defer timer.Stop()
	for {
		l, s, changed := g.now()
		if l != nil {
			return l, nil
		}
		fault := &gateways.SendError{Outcome: vault.NotSent, Human: s.words}
		if s.mend != "" {
			return nil, fault // it does not get better by waiting
		}
		select {
		case <-changed:
		case <-ctx.Done():
			fault.Err = ctx.Err()
			return nil, fault
		case <-timer.C:
			return nil, fault
		}
	}
}

// registered refuses a number that is not on WhatsApp. The answer is kept by the library, so it is asked for once.
func (g *Gateway) registered(ctx context.Context, c *whatsmeow.Client, to types.JID) *gateways.SendError {
	if to.Server != types.DefaultUserServer {
		return nil
	}
	hidden, err := c.Store.LIDs.GetLIDForPN(ctx, to)
	if err == nil && hidden.IsEmpty() {
		var found map[types.JID]types.UserInfo
		found, err = c.GetUserInfo(ctx, []types.JID{to})
		if err == nil && found[to].LID.IsEmpty() {
			return &gateways.SendError{Outcome: vault.Refused, Human: "this number is not on WhatsApp"}
		}
	}
	if err != nil {
		return &gateways.SendError{Outcome: vault.NotSent, Human: "WhatsApp did not say how to reach this number", Err: err}
	}
	return nil
}

// judge says what a failed send means.
func judge(ctx context.Context, err error) *gateways.SendError {
	e := &gateways.SendError{Outcome: vault.MayHaveSent, Human: "WhatsApp did not confirm it", Err: err}
	var cut *whatsmeow.DisconnectedError
	switch {
	case errors.Is(err, turns.ErrNoTurn):
		e.Outcome, e.Human = vault.NotSent, "it was not its turn yet"
	case errors.Is(err, whatsmeow.ErrNotConnected) && errors.Unwrap(err) == nil: // the library was about to send it once more
	case errors.Is(err, whatsmeow.ErrNotConnected), errors.Is(err, whatsmeow.ErrNotLoggedIn):
		e.Outcome, e.Human = vault.NotSent, "WhatsApp is out of reach"
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound):
		e.Outcome, e.Human = vault.Refused, "I am not in that group any more"
	case errors.Is(err, whatsmeow.ErrIQTimedOut), errors.Is(err, whatsmeow.ErrRecipientADJID), errors.Is(err, whatsmeow.ErrUnknownServer):
		e.Outcome, e.Human = vault.NotSent, "WhatsApp did not say how to reach this chat"
	case errors.Is(err, whatsmeow.ErrServerReturnedError):
		refused(e)
	case errors.As(err, &cut), errors.Is(err, whatsmeow.ErrMessageTimedOut), ctx.Err() != nil:
		// it may be there
	}
	return e
}

// refused judges what the server said of a message.
func refused(e *gateways.SendError) {
	code := 0
	words := e.Err.Error()
	if _, err := fmt.Sscan(words[strings.LastIndexByte(words, ' ')+1:], &code); err != nil {
		return
	}
	switch {
	case code == reachOut:
		e.Outcome, e.Human = vault.Refused, "WhatsApp does not let this number write to them until they next write to it"
	case code == 429 || code >= 500:
		e.Outcome, e.Human, e.Wait = vault.NotSent, "WhatsApp asks to wait", time.Minute
	default:
		e.Outcome, e.Human = vault.Refused, fmt.Sprintf("WhatsApp refuses it (code %d)", code)
	}
}
