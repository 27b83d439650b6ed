package whatsapp

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"hearth/gateways"
	"hearth/gateways/markup"
	"hearth/vault"
)

// Where a long text is cut. WhatsApp takes 65,536 characters; a phone shows the first thousand or so and hides the rest, and
// a wall of text is what gets a number reported. Marks and choices come on top.
const (
	textLimit   = 4000
	entityLimit = 200
	hardLimit   = 65_536
)

// form is what a part looks like: pieces of a long text were rendered when it was split, others are rendered here.
func form(p vault.Part) markup.Text {
	if p.Entities != "" {
		if t, err := markup.Decode(p.Text, p.Entities); err == nil {
			return t
		}
	}
	return markup.Render(p.Text)
}

// body is the text of a part with WhatsApp's own marks, and the choices of a question below it. Other buttons stand for
// what their text, or a command, says how to type.
func body(p vault.Part) string {
	text := strings.ToValidUTF8(form(p).WhatsApp(), "\uFFFD")
	if p.Class == vault.Asks {
		text += choices(p.Buttons)
	}
	return text
}

// Split implements gateways.Splitter.
func (g *Gateway) Split(p vault.Part) []vault.Piece {
	var out []vault.Piece
	for _, piece := range form(p).Split(textLimit-gateways.Room, entityLimit) {
		out = append(out, vault.Piece{Text: piece.Plain, Entities: piece.Encode()})
	}
	return out
}

// message is the library's form of a text. Link previews are left out: they would be fetched. timer is how many seconds the
// chat shows messages; 0 = for ever.
func message(text string, timer uint32) *waE2E.Message {
	if timer == 0 {
		return &waE2E.Message{Conversation: proto.String(text)}
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: proto.String(text), ContextInfo: &waE2E.ContextInfo{Expiration: proto.Uint32(timer)},
	}}
}
