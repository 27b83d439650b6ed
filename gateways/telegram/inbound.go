package telegram

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"hearth/vault"
)

// When the bot takes part in a group.
const (
	groupsOff     = "off"
	groupsMention = "mention"
	groupsAll     = "all"
)

// inbound turns an update into what the inbox takes; ok is false for what concerns nobody. bot is the bot's name, groups
// says when it takes part in groups.
func (u update) inbound(account, bot, groups string) (in vault.Inbound, ok bool) {
	if u.CallbackQuery != nil {
		return u.press(account, groups)
	}
	m := u.message()
	if m == nil || m.From == nil || m.From.IsBot {
		return in, false // a channel, another bot, somebody who writes as a group
	}
	in = vault.Inbound{
		Gateway: "telegram", Account: account, Chat: number(m.Chat.ID), Thread: u.more.thread(), ChatKind: vault.Private,
		Sender: number(m.From.ID), SenderName: clean(person(m.From)), ID: strconv.Itoa(m.MessageID),
		Sent: time.Unix(int64(m.Date), 0), Kind: "text", Text: m.Text,
	}
	if u.EditedMessage != nil {
		in.EditTime = int64(max(1, m.EditDate))
	}
	entities := m.Entities
	if m.Text == "" {
		kind := u.more.kind()
		if kind == "" {
			return in, false // somebody joined, a title was changed, …
		}
		in.Kind, in.Text, entities = kind, m.Caption, m.CaptionEntities
	}
	in.Forwarded, in.Quoted = u.forwarded(m), u.quoted(m)
	if !m.Chat.IsPrivate() {
		in.ChatKind = vault.Group
		us, other := u.addressed(m, in.Text, entities, account, bot)
		if groups == groupsOff || other && !us {
			return in, false
		}
		in.Mentioned = us || groups == groupsAll
	}
	in.Text = withLinks(in.Text, entities)
	if in.ChatKind == vault.Group {
		in.Text = withoutMention(in.Text, bot)
	}
	return in, true
}

// press turns a pressed button into what the inbox takes. When it was pressed is not told.
func (u update) press(account, groups string) (in vault.Inbound, ok bool) {
	q := u.CallbackQuery
	in = vault.Inbound{
		Gateway: "telegram", Account: account, Sender: number(q.From.ID), SenderName: clean(person(q.From)), ID: "press:" + q.ID,
		Kind: "press", Text: q.Data, Mentioned: true, Chat: number(q.From.ID), ChatKind: vault.Private,
	}
	if q.Message != nil && q.Message.Chat != nil { // absent when it came from an inline query
		in.Chat, in.Thread, in.PressedOn = number(q.Message.Chat.ID), u.more.thread(), strconv.Itoa(q.Message.MessageID)
		if !q.Message.Chat.IsPrivate() {
			in.ChatKind = vault.Group
		}
	}
	return in, in.ChatKind == vault.Private || groups != groupsOff
}

// thread is the topic that an answer goes to. The General topic has an id too, but is no thread to send to.
func (f fields) thread() string {
	if f.IsTopic && f.ThreadID != 0 {
		return strconv.Itoa(f.ThreadID)
	}
	return ""
}

// forwarded says whose words a message is made of when they are not its sender's, "" when they are.
func (u update) forwarded(m *tg.Message) string {
	switch {
	case u.more.ForwardOrigin != nil:
		return u.more.ForwardOrigin.name()
	case m.ForwardFrom != nil: // the fields of before Bot API 7.0
		return named(person(m.ForwardFrom))
	case m.ForwardFromChat != nil:
		return named(m.ForwardFromChat.Title)
	case m.ForwardSenderName != "", m.ForwardDate != 0:
		return named(m.ForwardSenderName)
	case m.ViaBot != nil: // another bot wrote it, the sender chose it
		return named(person(m.ViaBot))
	}
	return ""
}

// quoted is the text a message answers to: the part that was marked, else the whole.
func (u update) quoted(m *tg.Message) string {
	reply := m.ReplyToMessage
	switch {
	case u.more.Quote != nil && u.more.Quote.Text != "":
		return u.more.Quote.Text
	case reply != nil && reply.Text != "":
		return reply.Text
	case reply != nil && reply.Caption != "":
		return reply.Caption
	case reply != nil && u.more.Reply != nil && u.more.Reply.kind() != "":
		return "(" + u.more.Reply.kind() + ")"
	case u.more.ExternalReply != nil && u.more.ExternalReply.Origin != nil:
		return "(a message of " + u.more.ExternalReply.Origin.name() + " elsewhere)"
	}
	return ""
}

// addressed reports whether a group's message speaks to this bot, and whether it speaks to another one.
func (u update) addressed(m *tg.Message, text string, entities []tg.MessageEntity, account, bot string) (us, other bool) {
	reply := m.ReplyToMessage
	// In a topic each message answers the one that opened it, which may be ours.
	opener := reply != nil && u.more.IsTopic && reply.MessageID == u.more.ThreadID
	if reply != nil && !opener && reply.From != nil && number(reply.From.ID) == account {
		us = true
	}
	units := utf16.Encode([]rune(text))
	for _, e := range entities {
		part, ok := covered(units, e)
		if !ok {
			continue
		}
		switch e.Type {
		case "mention":
			if strings.EqualFold(part, "@"+bot) {
				us = true
			} else if strings.HasSuffix(strings.ToLower(part), "bot") { // names of bots end so, by Telegram's rule
				other = true
			}
		case "bot_command":
			_, name, named := strings.Cut(part, "@")
			switch {
			case !named:
			case strings.EqualFold(name, bot):
				us = true
			case e.Offset == 0: // another bot's command, whoever is mentioned behind it
				return false, true
			default:
				other = true
			}
		case "text_mention":
			if e.User != nil && number(e.User.ID) == account {
				us = true
			}
		}
	}
	return us, other
}

// covered gives the text of an entity; ok is false when it lies outside.
func covered(units []uint16, e tg.MessageEntity) (part string, ok bool) {
	if e.Offset < 0 || e.Length <= 0 || e.Offset > len(units) || e.Length > len(units)-e.Offset {
		return "", false
	}
	return string(utf16.Decode(units[e.Offset : e.Offset+e.Length])), true
}

// withLinks writes the addresses of links behind their words, where they would be lost.
func withLinks(text string, entities []tg.MessageEntity) string {
	units := utf16.Encode([]rune(text))
	var out []uint16
	from := 0
	for _, e := range entities { // in order of their offsets
		part, ok := covered(units, e)
		if !ok || e.Type != "text_link" || e.URL == "" || part == e.URL || e.Offset+e.Length < from {
			continue
		}
		out = append(append(out, units[from:e.Offset+e.Length]...), utf16.Encode([]rune(" ("+e.URL+")"))...)
		from = e.Offset + e.Length
	}
	if from == 0 {
		return text
	}
	return string(utf16.Decode(append(out, units[from:]...)))
}

// withoutMention takes a leading @name out of the words: it is the address, not the message. A name alone stays.
func withoutMention(text, bot string) string {
	trimmed := strings.TrimSpace(text)
	if bot == "" || len(trimmed) <= len(bot) || !strings.EqualFold(trimmed[:len(bot)+1], "@"+bot) {
		return text
	}
	const between = " \n\t,:;"
	rest := trimmed[len(bot)+1:]
	words := strings.TrimLeft(rest, between)
	if words == "" || words == rest {
		return text
	}
	return words
}

func number(id int64) string { return strconv.FormatInt(id, 10) }
