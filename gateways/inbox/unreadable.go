package inbox

import (
	"context"
	"fmt"
	"strings"

	"hearth/vault"
)

// unreadable answers what cannot be read yet, in one honest line.
func (i *Inbox) unreadable(ctx context.Context, in vault.Inbound, from vault.Person) error {
	line := cannot(in.Kind)
	if strings.TrimSpace(in.Text) != "" {
		line += " I did not read the words that came with it either."
	}
	// The pictures of an album come as so many messages with one time of sending.
	key := fmt.Sprintf("unreadable:%s:%s:%s:%s:%s:%d", in.Gateway, in.Account, in.Chat, in.Sender, in.Kind, in.Sent.Unix())
	return i.reply(ctx, in, from, line, key)
}

// cannot says what is the matter with a kind of message.
func cannot(kind string) string {
	switch kind {
	case "voice":
		return "I cannot listen to voice notes yet; please write it."
	case "audio":
		return "I cannot listen to audio yet; please write what matters in it."
	case "photo":
		return "I cannot look at pictures yet; please write what is on it."
	case "video", "video note", "animation":
		return "I cannot watch videos yet; please write what matters in it."
	case "sticker":
		return "I cannot see stickers yet; please write it."
	case "document":
		return "I cannot open files yet; please copy the words into a message."
	case "location":
		return "I cannot read places on a map yet; please write the address."
	case "contact":
		return "I cannot read contact cards yet; please write the name and number."
	case "poll":
		return "I cannot take part in polls yet; please write it."
	}
	name := strings.Map(func(r rune) rune {
		if nameLetter(r) {
			return r
		}
		return ' '
	}, kind)
	return fmt.Sprintf("I cannot read this kind of message yet (%s); please write it.", oneLine(name, 20))
}
