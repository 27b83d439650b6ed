package vault

import (
	"context"
	"errors"
	"slices"
	"strconv"
)

// ChatKind says who can read along.
type ChatKind string

// The kinds of chat.
const (
	Private ChatKind = "private"
	Group   ChatKind = "group"
)

// Address is a place a message can be sent to. Thread is a forum topic; "" = none.
type Address struct{ Gateway, Account, Chat, Thread string }

// Conversation is one place of talk: a person's private chats on all messengers together, or one group.
type Conversation struct {
	ID       int64
	Kind     ChatKind
	Person   int64 // private: whose
	Gateway  string
	Chat     string
	SincePos int64 // /new: nothing at or before this position is shown to the model
}

const conversationColumns = `id, kind, person_id, gateway, chat, since_pos`

func scanConversation(s scanner) (c Conversation, err error) {
	err = s.Scan(&c.ID, &c.Kind, null[int64]{&c.Person}, &c.Gateway, &c.Chat, &c.SincePos)
	return c, err
}

// Conversation gives a conversation by number.
func (v *Vault) Conversation(ctx context.Context, number int64) (Conversation, error) {
	return one(ctx, v.rdb, scanConversation, `SELECT `+conversationColumns+` FROM conversation WHERE id = ?`, number)
}

// PrivateConversation finds or makes a person's own conversation.
func (v *Vault) PrivateConversation(ctx context.Context, person int64) (Conversation, error) {
	c, err := privateConversation(ctx, v.rdb, person)
	if !errors.Is(err, ErrNotFound) {
		return c, err
	}
	err = v.write(ctx, "conversation", durable, func(t *Tx) error {
		c, err = t.privateConversation(person)
		return err
	})
	return c, err
}

func privateConversation(ctx context.Context, q querier, person int64) (Conversation, error) {
	return one(ctx, q, scanConversation, `SELECT `+conversationColumns+` FROM conversation WHERE kind = 'private' AND person_id = ?`, person)
}

func (t *Tx) privateConversation(person int64) (Conversation, error) {
	return one(t.ctx, t.tx, scanConversation, `INSERT INTO conversation(kind, person_id, created) VALUES('private', ?, ?)
		ON CONFLICT(person_id) WHERE kind = 'private' DO UPDATE SET kind = kind RETURNING `+conversationColumns, person, t.now.UnixMilli())
}

// conversationOf finds or makes the conversation an inbound message belongs to and notes where its person is active.
func (t *Tx) conversationOf(in Inbound, person int64) (c Conversation, err error) {
	if in.ChatKind == Group {
		c, err = one(t.ctx, t.tx, scanConversation, `INSERT INTO conversation(kind, gateway, chat, created) VALUES('group', ?, ?, ?)
			ON CONFLICT(gateway, chat) WHERE kind = 'group' DO UPDATE SET kind = kind RETURNING `+conversationColumns, in.Gateway, in.Chat, t.now.UnixMilli())
	} else {
		c, err = t.privateConversation(person)
	}
	if err != nil {
		return c, err
	}
	_, err = t.exec(`INSERT INTO chat(gateway, account, chat, thread, conversation_id, kind, active) VALUES(?,?,?,?,?,?,?)
		ON CONFLICT DO UPDATE SET conversation_id = excluded.conversation_id, active = excluded.active`,
		in.Gateway, in.Account, in.Chat, in.Thread, c.ID, in.ChatKind, t.now.UnixMilli())
	return c, err
}

func scanAddress(s scanner) (a Address, err error) {
	err = s.Scan(&a.Gateway, &a.Account, &a.Chat, &a.Thread)
	return a, err
}

// PrivateAddress is where a person is reached when the agent speaks first: the private messenger chat they last wrote
// in, else the terminal.
func (v *Vault) PrivateAddress(ctx context.Context, person int64) (Address, error) {
	return v.privateAddress(ctx, v.rdb, person)
}

func (v *Vault) privateAddress(ctx context.Context, q querier, person int64) (Address, error) {
	return v.addressBeside(ctx, q, person, "")
}

// addressBeside is privateAddress without a gateway that does not reach anybody just now; "" = none is left out.
func (v *Vault) addressBeside(ctx context.Context, q querier, person int64, gateway string) (Address, error) {
	chats, err := collect(ctx, q, scanAddress, `SELECT h.gateway, h.account, h.chat, h.thread FROM chat h JOIN conversation c ON c.id = h.conversation_id
		WHERE c.kind = 'private' AND c.person_id = ? AND h.kind = 'private' ORDER BY h.active DESC`, person)
	if err != nil {
		return Address{}, err
	}
	// A person of the YAML file who has not written yet is known by an id that is also the private chat's.
	more, err := collect(ctx, q, func(s scanner) (a Address, err error) { err = s.Scan(&a.Gateway, &a.Chat); return a, err },
		`SELECT gateway, ext FROM identity WHERE person_id = ? ORDER BY gateway = 'telegram' DESC`, person)
	if err != nil {
		return Address{}, err
	}
	for _, a := range append(chats, more...) {
		if a.Gateway != gateway && !local(a.Gateway) && v.carries(a.Gateway) {
			return a, nil
		}
	}
	return TerminalAddress(person), nil
}

// local reports whether a gateway has no phone at its other end: what speaks first goes elsewhere if it can.
func local(gateway string) bool { return gateway == "terminal" || gateway == "web" }

// carries reports whether this process has the gateway.
func (v *Vault) carries(gateway string) bool {
	names := v.gateways.Load()
	return names == nil || slices.Contains(*names, gateway)
}

// Carry says which gateways this process runs from now on: what speaks first is only sent where one of them reaches.
func (v *Vault) Carry(gateways []string) { v.gateways.Store(&gateways) }

// TerminalAddress is where a person is reached on the machine itself.
func TerminalAddress(person int64) Address {
	return Address{Gateway: "terminal", Account: "local", Chat: strconv.FormatInt(person, 10)}
}

// OwnerAddress is where the household's first owner is told things. ErrNotFound before anybody is known.
func (v *Vault) OwnerAddress(ctx context.Context) (Address, Person, error) {
	p, err := v.FirstOwner(ctx)
	if err != nil {
		return Address{}, p, err
	}
	a, err := v.PrivateAddress(ctx, p.ID)
	return a, p, err
}

// NewTalk starts a conversation afresh: what was said before is kept, but no longer shown to the model.
func (t *Tx) NewTalk(conversation int64) error {
	pos, err := t.nextPos()
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE conversation SET since_pos = ? WHERE id = ?`, pos, conversation)
	return err
}

// nextPos gives the next place in the history. It only grows, whatever the clock does.
func (t *Tx) nextPos() (int64, error) {
	return one(t.ctx, t.tx, scanInt, `UPDATE counter SET value = value + 1 WHERE name = 'pos' RETURNING value`)
}
