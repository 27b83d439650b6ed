// Package gateways carries messages in and out. A Gateway is one messenger's adapter; beside it stand inbox (who writes,
// commands, bursts), outbox (delivery), terminal (the messenger of this machine) and gatewaytest (what every gateway must
// pass). Gateways talk to nobody but the vault: what comes in is committed before it is acknowledged, what goes out is
// committed before it is sent.
package gateways

import (
	"context"
	"fmt"
	"time"

	"hearth/vault"
)

// Gateway is one messenger. Its methods are called from several goroutines.
type Gateway interface {
	// Name is the word for the messenger in addresses, config and tables: "telegram", "terminal".
	Name() string
	// Receive offers everything that comes in to accept, each chat in its own order, until ctx ends; then it returns nil
	// within a second. It acknowledges an event upstream only after accept returned nil for it. It survives a line that is
	// down; an error means that the gateway cannot work again without a person.
	//
	// A vault.Inbound names the messenger's own ids, the same ones whenever the event is offered again. A command that is
	// addressed by name in a group (/status@name) counts only when Mentioned says that the name is this bot's.
	Receive(ctx context.Context, accept func(ctx context.Context, in vault.Inbound) error) error
	// Send delivers one part and returns the messenger's id for it. An error is a *SendError; any other counts as
	// vault.MayHaveSent. Parts of one chat are sent one after the other, those of different chats side by side. It has a
	// time limit of its own, and when ctx ends it returns within a second.
	Send(ctx context.Context, out vault.Part) (ref string, err error)
}

// SendError is what is known of a send that did not succeed.
type SendError struct {
	// Outcome: vault.NotSent only when the messenger certainly does not have it (no connection, an explicit "try again");
	// vault.MayHaveSent when the answer is missing; vault.Refused when it will never take it.
	Outcome vault.Outcome
	// Wait is how long the messenger asks to be left alone; 0 = it does not say.
	Wait time.Duration
	// Human says what is wrong in words for a listing and for the owner: "the bot was blocked". No secrets, no addresses.
	Human string
	// Err is the cause, for the log. It holds no secret either.
	Err error
}

func (e *SendError) Error() string {
	switch {
	case e.Err == nil:
		return fmt.Sprintf("send (%s): %s", e.Outcome, e.Human)
	case e.Human == "":
		return fmt.Sprintf("send (%s): %v", e.Outcome, e.Err)
	}
	return fmt.Sprintf("send (%s): %s: %v", e.Outcome, e.Human, e.Err)
}

// Unwrap gives the cause.
func (e *SendError) Unwrap() error { return e.Err }

// Room is what every piece of a Splitter leaves free below the messenger's limit, in the messenger's own unit: the outbox
// adds lateness and the repeat mark to a piece.
const Room = 200

// Splitter is a gateway whose messages have a greatest length.
type Splitter interface {
	// Split cuts a part's text into pieces that the messenger takes, each with Room to spare, in order and without losing a
	// word. One piece means that the part fits as it is; none, that there is nothing to show.
	Split(p vault.Part) []vault.Piece
}

// StableIDs is a gateway that lets the sender choose a message's id, in vault.Part.Stable: the same bytes sent again under
// the same id are shown once. Nothing is ever marked as a repeat there.
type StableIDs interface {
	// NewID makes an id that was never used before.
	NewID() string
}

// Presence is a gateway that knows whether anybody is at the other end. A part for somebody who is away is not tried: it
// waits for outbox.Nudge or the next commit, whichever comes first.
type Presence interface {
	Present(to vault.Address) bool
}

// Typer is a gateway that can show that an answer is being written. It shows for a few seconds and is then repeated.
type Typer interface {
	Typing(ctx context.Context, to vault.Address) error
}

// Editor is a gateway that can change what it has sent. There, and only there, long work is shown as one progress line.
type Editor interface {
	// Edit gives the message ref another text, which is Markdown; its buttons go away. To do it twice is to do it once: a
	// text that is there already is a success. An error is a *SendError as for Send, where MayHaveSent means to try again.
	Edit(ctx context.Context, to vault.Address, ref, text string) error
}

// Asker is a gateway that shows the buttons of a part. Elsewhere the text alone must do: it says how to answer by typing.
type Asker interface {
	// Settle takes the buttons away from a question that is decided, and shows the outcome below it.
	Settle(ctx context.Context, to vault.Address, ref, outcome string) error
}

// Title is a gateway's name as people write it.
func Title(name string) string {
	switch name {
	case "telegram":
		return "Telegram"
	case "whatsapp":
		return "WhatsApp"
	case "web":
		return "the web page"
	case "terminal":
		return "the terminal"
	}
	return name
}

// Reason is what a person is told: Human, or a general sentence for lack of it. The cause may hold anything, so it is
// never shown.
func (e *SendError) Reason() string {
	switch {
	case e.Human != "":
		return e.Human
	case e.Outcome == vault.NotSent:
		return "the messenger is out of reach"
	case e.Outcome == vault.Refused:
		return "the messenger refuses it"
	}
	return "the messenger did not answer"
}
