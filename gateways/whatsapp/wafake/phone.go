package wafake

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"

	"hearth/gateways/whatsapp/turns"
)

// Phone is an account's phone, played by an unmodified whatsmeow client that is device 0.
type Phone struct {
	*whatsmeow.Client
	turns    *turns.Turns
	Account  *Account
	Messages chan *events.Message
	Receipts chan *events.Receipt
	Typing   chan *events.ChatPresence
}

// Phone logs the account's phone in, with db for its keys. driver "sqlite3" and a database that has
// foreign keys on will do; give every phone a database of its own.
func (a *Account) Phone(db *sql.DB, log waLog.Logger) (*Phone, error) {
	ctx := context.Background()
	container := sqlstore.NewWithDB(db, "sqlite3", log)
	if err := container.Upgrade(ctx); err != nil {
		return nil, err
	}
	signed, err := a.signDevice(0, a.identity.Pub[:])
	if err != nil {
		return nil, err
	}
	signed.DeviceSignature = sign(a.identity, slices.Concat(whatsmeow.AdvDeviceSignaturePrefix, signed.Details, a.identity.Pub[:], a.identity.Pub[:]))
	jid := a.pnDevice(0)
	dev := container.NewDevice()
	dev.ID, dev.LID, dev.PushName, dev.Account = &jid, a.LID, a.Name, signed
	dev.IdentityKey, dev.SignedPreKey = a.identity, a.identity.CreateSignedPreKey(1)
	if err = a.login(ctx, dev); err != nil {
		return nil, err
	}
	p := &Phone{
		Client:   whatsmeow.NewClient(dev, log),
		Account:  a,
		Messages: make(chan *events.Message, 1000),
		Receipts: make(chan *events.Receipt, 1000),
		Typing:   make(chan *events.ChatPresence, 1000),
	}
	p.turns = turns.Take(p.Client)
	a.s.Attach(p.Client)
	connected := make(chan struct{}, 1)
	p.AddEventHandler(func(evt any) {
		switch evt := evt.(type) { // without ever blocking; what nobody reads is dropped in the end
		case *events.Message:
			offer(p.Messages, evt)
		case *events.Receipt:
			offer(p.Receipts, evt)
		case *events.ChatPresence:
			offer(p.Typing, evt)
		case *events.Connected:
			offer(connected, struct{}{})
		}
	})
	if err = p.Connect(); err != nil {
		return nil, err
	}
	select {
	case <-connected:
	case <-time.After(30 * time.Second):
		return nil, errors.New("the phone didn't get connected")
	}
	a.s.t.Cleanup(p.Disconnect)
	return p, nil
}

func offer[T any](ch chan<- T, v T) {
	select {
	case ch <- v:
	default:
	}
}

// login saves a ready-made device in its store and registers it with the server.
func (a *Account) login(ctx context.Context, dev *store.Device) error {
	a.s.mu.Lock()
	added := a.addDevice(dev.ID.Device)
	added.noise = dev.NoiseKey.Pub[:]
	a.s.mu.Unlock()
	return dev.Save(ctx)
}

// SendMessage hides the client's own for the sake of turns.
func (p *Phone) SendMessage(ctx context.Context, to types.JID, msg *waE2E.Message, extra ...whatsmeow.SendRequestExtra) (whatsmeow.SendResponse, error) {
	return p.turns.SendMessage(ctx, to, msg, extra...)
}

// Say sends text.
func (p *Phone) Say(to types.JID, text string, extra ...whatsmeow.SendRequestExtra) (whatsmeow.SendResponse, error) {
	return p.SendMessage(context.Background(), to, &waE2E.Message{Conversation: proto.String(text)}, extra...)
}

// Hear waits for the next message that has text.
func (p *Phone) Hear(timeout time.Duration) (*events.Message, string, error) {
	deadline := time.After(timeout)
	for {
		select {
		case evt := <-p.Messages:
			if text := Text(evt.Message); text != "" {
				return evt, text, nil
			}
		case <-deadline:
			return nil, "", errors.New("heard nothing")
		}
	}
}

// Text returns the text of a plain or extended text message.
func Text(msg *waE2E.Message) string {
	if text := msg.GetConversation(); text != "" {
		return text
	}
	return msg.GetExtendedTextMessage().GetText()
}
