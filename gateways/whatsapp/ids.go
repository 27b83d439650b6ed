package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"hearth/vault"
)

// People have two ids on WhatsApp: their number, and an opaque one (LID) that is shown where the number is not. Both are one
// person and one chat here: the number where it is known, "+351912345678", else the other, "123@lid".

// who is a person on the other side.
type who struct {
	ext   string
	known bool
}

// identify finds out who is behind an id, of which the library may have told the other one too. Where the vault knows one of
// the two, that one counts, so that what was paired before the number was known stays paired.
func (g *Gateway) identify(ctx context.Context, c *whatsmeow.Client, jid, other types.JID) (who, error) {
	number, hidden := jid.ToNonAD(), other.ToNonAD()
	if number.Server == types.HiddenUserServer {
		number, hidden = hidden, number
	}
	if number.Server != types.DefaultUserServer {
		number = types.EmptyJID
	}
	var err error
	switch {
	case number.IsEmpty() && !hidden.IsEmpty():
		number, err = c.Store.LIDs.GetPNForLID(ctx, hidden)
	case hidden.IsEmpty() && !number.IsEmpty():
		hidden, err = c.Store.LIDs.GetLIDForPN(ctx, number)
	}
	if err != nil {
		return who{}, fmt.Errorf("look up the other id: %w", err)
	}
	var first who
	for _, id := range []types.JID{number, hidden} {
		if id.IsEmpty() {
			continue
		}
		w := who{ext: external(id)}
		_, err := g.opt.Vault.PersonBy(ctx, Name, w.ext)
		if w.known = err == nil; w.known {
			return w, nil
		}
		if !errors.Is(err, vault.ErrNotFound) {
			return who{}, fmt.Errorf("find out who writes: %w", err)
		}
		if first.ext == "" {
			first = w
		}
	}
	return first, nil
}

// external is an id as the vault has it.
func external(jid types.JID) string {
	if jid.Server == types.DefaultUserServer {
		return "+" + jid.User
	}
	return jid.ToNonAD().String()
}

// address is the library's form of what the vault has.
func address(chat string) (types.JID, error) {
	if digits, ok := strings.CutPrefix(chat, "+"); ok && isDigits(digits) {
		return types.NewJID(digits, types.DefaultUserServer), nil
	}
	user, server, _ := strings.Cut(chat, "@")
	if (server == types.HiddenUserServer || server == types.GroupServer) && isDigits(strings.ReplaceAll(user, "-", "")) {
		return types.NewJID(user, server), nil
	}
	return types.JID{}, errors.New("there is no such address on WhatsApp")
}

func isDigits(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "0123456789") == ""
}

// ours reports whether an id is the linked account's own, by number or by LID.
func ours(c *whatsmeow.Client, jid types.JID) bool {
	if c.Store.ID == nil || jid.User == "" {
		return false
	}
	switch jid.Server {
	case types.DefaultUserServer, types.HostedServer:
		return jid.User == c.Store.ID.User
	case types.HiddenUserServer, types.HostedLIDServer:
		return jid.User == c.Store.LID.User
	}
	return false
}
