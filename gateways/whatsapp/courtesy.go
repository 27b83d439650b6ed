package whatsapp

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"hearth/vault"
)

// A courtesy ends with the line and has a limit of its own. It is not cancelled: the library can break when a question that
// it has asked is cancelled in the moment of the answer.
const courtesyLimit = 10 * time.Second

// appear shows the agent as being there: else what people send stays at one tick. In Self it would mute the owner's own
// phone, so there it does not.
func (g *Gateway) appear(ctx context.Context, c *whatsmeow.Client) {
	if g.opt.Mode == Self {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), courtesyLimit)
	defer cancel()
	if err := c.SendPresence(ctx, types.PresenceAvailable); err != nil && ctx.Err() == nil {
		g.opt.Log.Debug("cannot show that I am there", "error", err)
	}
}

// read marks a message as read. It was taken, and its sender is somebody who is answered.
func (g *Gateway) read(ctx context.Context, c *whatsmeow.Client, m *events.Message) {
	if g.opt.Mode == Self {
		return // one's own words need none
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), courtesyLimit)
	defer cancel()
	if err := c.MarkRead(ctx, []types.MessageID{m.Info.ID}, time.Now(), m.Info.Chat, m.Info.Sender); err != nil && ctx.Err() == nil {
		g.opt.Log.Debug("cannot mark a message as read", "error", err)
	}
}

// Typing implements gateways.Typer. WhatsApp shows it for some ten seconds.
func (g *Gateway) Typing(ctx context.Context, to vault.Address) error {
	jid, err := address(to.Chat)
	if err != nil {
		return err
	}
	l, _, _ := g.now()
	if g.opt.Mode == Self || l == nil {
		return nil
	}
	known, wrote, err := g.opt.Vault.Reached(ctx, Name, to.Chat)
	if err != nil || !known || !wrote {
		return err
	}
	return l.client.SendChatPresence(ctx, jid, types.ChatPresenceComposing, types.ChatPresenceMediaText)
}
