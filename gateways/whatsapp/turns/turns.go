// Package turns keeps a WhatsApp client from encrypting and decrypting at the same time.
package turns

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// ErrNoTurn says that something ended before its turn had come: nothing was done.
var ErrNoTurn = errors.New("it was not its turn yet")

// Turns lets a client either send or take in a message. The library's two paths each load, change and store the session
// with a contact and are not locked against each other (tulir/whatsmeow#1168): when they collide, a message goes out under
// a used key, is acknowledged by the server, and is dropped by its receiver.
type Turns struct {
	store.EventBuffer
	slot   chan struct{}
	client *whatsmeow.Client
}

// Take makes a client take turns from now on, and its decrypted-event buffer be used. The device must have been saved: saving
// one puts a store of its own in place. Messages must then be sent with SendMessage of what is returned.
func Take(client *whatsmeow.Client) *Turns {
	t := &Turns{EventBuffer: client.Store.EventBuffer, client: client, slot: make(chan struct{}, 1)}
	client.EnableDecryptedEventBuffer = true
	client.Store.EventBuffer = t
	return t
}

// DoDecryptionTxn implements store.EventBuffer.
func (t *Turns) DoDecryptionTxn(ctx context.Context, decrypt func(context.Context) error) error {
	if err := t.begin(ctx); err != nil {
		return err
	}
	defer t.end()
	return t.EventBuffer.DoDecryptionTxn(ctx, decrypt)
}

// SendMessage is the client's own, in turn. It ends with ctx.
func (t *Turns) SendMessage(ctx context.Context, to types.JID, message *waE2E.Message, extra ...whatsmeow.SendRequestExtra) (whatsmeow.SendResponse, error) {
	if err := t.begin(ctx); err != nil {
		return whatsmeow.SendResponse{}, err
	}
	defer t.end()
	return t.client.SendMessage(ctx, to, message, extra...)
}

func (t *Turns) begin(ctx context.Context) error {
	select {
	case t.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNoTurn, ctx.Err())
	}
}

func (t *Turns) end() { <-t.slot }
