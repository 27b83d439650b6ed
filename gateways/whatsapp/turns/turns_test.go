package turns

import (
	"context"
	"errors"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// passing is an event buffer that runs what it is given.
type passing struct{ store.EventBuffer }

func (passing) DoDecryptionTxn(ctx context.Context, decrypt func(context.Context) error) error {
	return decrypt(ctx)
}

// While one side is at work the other one waits, and gives up when its context ends, having done nothing.
func TestOneAtATime(t *testing.T) {
	client := whatsmeow.NewClient(&store.Device{EventBuffer: passing{}}, nil)
	turns := Take(client)
	if client.Store.EventBuffer != store.EventBuffer(turns) || !client.EnableDecryptedEventBuffer {
		t.Fatal("the client takes no turns")
	}
	inside, leave := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- client.Store.EventBuffer.DoDecryptionTxn(context.Background(), func(context.Context) error {
			close(inside)
			<-leave
			return nil
		})
	}()
	<-inside
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.SendMessage(gone, types.NewJID("1", types.DefaultUserServer), &waE2E.Message{}); !errors.Is(err, ErrNoTurn) || !errors.Is(err, context.Canceled) {
		t.Errorf("it sends while something is decrypted: %v", err)
	}
	err := client.Store.EventBuffer.DoDecryptionTxn(gone, func(context.Context) error {
		t.Error("two are decrypted at once")
		return nil
	})
	if !errors.Is(err, ErrNoTurn) {
		t.Error(err)
	}
	close(leave)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// The turn is free again: the send gets as far as the library, which knows no account.
	if _, err := turns.SendMessage(t.Context(), types.NewJID("1", types.DefaultUserServer), &waE2E.Message{}); !errors.Is(err, whatsmeow.ErrNotLoggedIn) {
		t.Errorf("%v", err)
	}
}
