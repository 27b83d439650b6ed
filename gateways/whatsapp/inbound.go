package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"hearth/vault"
)

// take deals with one message: it is dropped, withdrawn, or offered to the vault. An error means that it must come again.
func (l *life) take(m *events.Message) error {
	g := l.g
	if noise(m) {
		return nil
	}
	p := parse(m)
	if p.empty() || !g.mine(l.client, m) {
		return nil
	}
	if repeated, err := g.echo(l.ctx, m); err != nil || repeated {
		return err
	}
	from, err := g.identify(l.ctx, l.client, m.Info.Sender, m.Info.SenderAlt)
	if err != nil || from.ext == "" {
		return err
	}
	in := vault.Inbound{
		Gateway: Name, Account: g.Account(), Chat: from.ext, ChatKind: vault.Private, Sender: from.ext, SenderName: clean(m.Info.PushName),
		ID: m.Info.ID, Sent: m.Info.Timestamp, Kind: p.kind, Text: p.text, Quoted: quoted(p.info), EditTime: p.edited,
	}
	if p.target != "" {
		in.ID = p.target
	}
	if p.info.GetIsForwarded() {
		in.Forwarded = "somebody else" // WhatsApp does not say who
	}
	if m.Info.IsGroup {
		mode := g.opt.Groups()
		us := addressed(l.client, p.info)
		if mode == groupsOff {
			return nil
		}
		in.Chat, in.ChatKind = m.Info.Chat.String(), vault.Group
		in.Mentioned = us || mode == groupsAll
		in.Text = withoutMention(l.client, in.Text)
	}
	if p.deleted {
		return g.opt.Vault.Withdraw(l.ctx, in)
	}
	if err := g.keepTimer(l.ctx, in.Chat, from.known, p); err != nil {
		return err
	}
	if p.reaction != "" || p.kind == "text" && p.edited == 0 && in.Forwarded == "" {
		if err := g.answers(l.ctx, &in, p); err != nil {
			return err
		}
	}
	if p.reaction != "" && in.Kind != "press" {
		return nil // a reaction to something else than an open question
	}
	if in.Raw, err = proto.Marshal(m.RawMessage); err != nil {
		return fmt.Errorf("keep the message as it came: %w", err)
	}
	if err := l.accept(l.ctx, in); err != nil {
		return err
	}
	if from.known && (in.ChatKind == vault.Private || in.Mentioned) {
		l.aside(func() { g.read(l.ctx, l.client, m) })
	}
	return nil
}

// noise reports what is written to nobody in particular: status, newsletters, broadcast lists, bots of WhatsApp's own, and
// what devices of one account tell each other.
func noise(m *events.Message) bool {
	chat := m.Info.Chat.Server
	return m.Message == nil || chat != types.DefaultUserServer && chat != types.HiddenUserServer && chat != types.GroupServer ||
		m.Info.Category == "peer" || m.Info.IsIncomingBroadcast() || m.Info.Chat.IsBot()
}

// mine reports whether a chat is one in which this mode of the gateway takes part. In Self that is the owner's chat with
// their own number and nothing else, whoever writes there or anywhere.
func (g *Gateway) mine(c *whatsmeow.Client, m *events.Message) bool {
	if g.opt.Mode == Self {
		return m.Info.IsFromMe && !m.Info.IsGroup && ours(c, m.Info.Chat) && ours(c, m.Info.Sender)
	}
	return !m.Info.IsFromMe && !ours(c, m.Info.Sender)
}

// echo reports that a message is one that the agent itself has sent. In the chat with oneself it would answer itself.
func (g *Gateway) echo(ctx context.Context, m *events.Message) (bool, error) {
	if !m.Info.IsFromMe {
		return false, nil
	}
	_, err := g.opt.Vault.PartUnder(ctx, Name, m.Info.ID)
	if errors.Is(err, vault.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// parsed is a message as far as it can be understood by itself.
type parsed struct {
	content
	id       string // of the message itself
	target   string // the message it changes, takes back or reacts to
	edited   int64  // > 0: when the target was changed, in milliseconds of its sender's clock
	deleted  bool
	reaction string
	timer    *uint32 // a new disappearing timer of the chat, in seconds
}

func (p parsed) empty() bool {
	return p.kind == "" && !p.deleted && p.reaction == "" && p.timer == nil
}

// parse understands a message.
func parse(m *events.Message) parsed {
	p := understand(m)
	p.id = m.Info.ID
	return p
}

func understand(m *events.Message) parsed {
	msg := unwrap(m.Message)
	if r := msg.GetReactionMessage(); r != nil {
		return parsed{target: r.GetKey().GetID(), reaction: r.GetText()}
	}
	switch p := msg.GetProtocolMessage(); {
	case p == nil:
	case p.GetType() == waE2E.ProtocolMessage_REVOKE:
		return parsed{target: p.GetKey().GetID(), deleted: p.GetKey().GetID() != ""}
	case p.GetType() == waE2E.ProtocolMessage_EPHEMERAL_SETTING:
		seconds := p.GetEphemeralExpiration()
		return parsed{timer: &seconds}
	case p.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT && p.GetKey().GetID() != "":
		out := parsed{content: contentOf(p.GetEditedMessage()), target: p.GetKey().GetID(), edited: p.GetTimestampMS()}
		if out.edited <= 0 {
			out.edited = max(1, m.Info.Timestamp.UnixMilli())
		}
		return out
	}
	out := parsed{content: contentOf(msg)}
	if out.kind != "" {
		seconds := out.info.GetExpiration()
		out.timer = &seconds
	}
	return out
}

// addressed reports whether a message of a group speaks to the agent: it names it, or answers what it said. What stands in
// the message that is quoted does not count (openclaw#51804).
func addressed(c *whatsmeow.Client, info *waE2E.ContextInfo) bool {
	for _, mentioned := range info.GetMentionedJID() {
		if jid, err := types.ParseJID(mentioned); err == nil && ours(c, jid) {
			return true
		}
	}
	if info.GetStanzaID() == "" {
		return false
	}
	jid, err := types.ParseJID(info.GetParticipant())
	return err == nil && ours(c, jid)
}

// withoutMention takes a leading mention of the agent out of the words: it is the address, not the message. A mention alone
// stays.
func withoutMention(c *whatsmeow.Client, text string) string {
	trimmed := strings.TrimSpace(text)
	for _, id := range []string{c.Store.GetJID().User, c.Store.GetLID().User} {
		rest, ok := strings.CutPrefix(trimmed, "@"+id)
		if !ok || id == "" {
			continue
		}
		if words := strings.TrimLeft(rest, " \n\t,:;"); words != "" && words != rest {
			return words
		}
	}
	return text
}

const nameLimit = 60

// clean makes a name that a stranger chose harmless: one line, no control or direction characters, short.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case r == unicode.ReplacementChar, unicode.Is(unicode.Cf, r) && r != 0x200d: // a joiner holds emoji together
			return -1
		}
		return r
	}, name)
	return clip(strings.Join(strings.Fields(name), " "), nameLimit)
}

// keepTimer notes for how long messages of a chat are shown, so that what the agent says there disappears as all else does.
func (g *Gateway) keepTimer(ctx context.Context, chat string, known bool, p parsed) error {
	if p.timer == nil || !known {
		return nil
	}
	now, err := g.timer(ctx, chat)
	if err != nil || now == *p.timer {
		return err
	}
	value := ""
	if *p.timer > 0 {
		value = fmt.Sprint(*p.timer)
	}
	return g.opt.Vault.Set(ctx, timerSetting+chat, value)
}

const timerSetting = "whatsapp-timer:"

// timer is how many seconds messages of a chat are shown; 0 = for ever.
func (g *Gateway) timer(ctx context.Context, chat string) (uint32, error) {
	value, err := g.opt.Vault.Setting(ctx, timerSetting+chat)
	if err != nil || value == "" {
		return 0, err
	}
	var seconds uint32
	if _, err := fmt.Sscan(value, &seconds); err != nil || time.Duration(seconds)*time.Second > 400*24*time.Hour {
		return 0, nil // whatever it is, the chat says it again with its next message
	}
	return seconds, nil
}
