package whatsapp

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"hearth/vault"
)

// There are no buttons here, so a question is answered with what people do anyway: 👍 or 👎 on it, a number or a word as the
// reply to it, or a lone number right behind it. Each becomes the press of the button that it stands for.

// answers turns a message that answers a question into a press.
func (g *Gateway) answers(ctx context.Context, in *vault.Inbound, p parsed) error {
	ref := p.target
	if p.reaction == "" {
		ref = p.info.GetStanzaID()
	}
	var question vault.Part
	var err error
	switch {
	case ref != "":
		question, err = g.opt.Vault.PartUnder(ctx, Name, ref)
	case in.ChatKind == vault.Private && lone(in.Text) > 0:
		question, err = g.opt.Vault.LastQuestion(ctx, Name, in.Chat)
	default:
		return nil
	}
	if errors.Is(err, vault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if question.Class != vault.Asks || question.To.Chat != in.Chat {
		return nil
	}
	choice := chosen(question.Buttons, in.Text)
	if p.reaction != "" {
		choice = thumb(question.Buttons, p.reaction)
		in.ID = "react:" + ref + ":" + p.id
	}
	if choice == "" {
		return nil
	}
	in.Kind, in.Text, in.PressedOn, in.Quoted = "press", choice, question.Stable, ""
	return nil
}

// thumb gives the button that a reaction means: 👍 for yes and 👎 for no, in any colour of skin. "" for another reaction, and
// for a question that is not one of yes and no.
func thumb(buttons []vault.Button, reaction string) string {
	want := ""
	switch {
	case strings.HasPrefix(reaction, "👍"):
		want = ":" + vault.ChooseApprove
	case strings.HasPrefix(reaction, "👎"):
		want = ":" + vault.ChooseDeny
	default:
		return ""
	}
	for _, b := range buttons {
		if strings.HasSuffix(b.Data, want) {
			return b.Data
		}
	}
	return ""
}

// chosen gives the button that a reply names by its number or its word; "" for anything else.
func chosen(buttons []vault.Button, text string) string {
	text = strings.TrimSpace(text)
	if n := lone(text); n > 0 && n <= len(buttons) {
		return buttons[n-1].Data
	}
	for _, b := range buttons {
		if strings.EqualFold(text, b.Label) {
			return b.Data
		}
	}
	return ""
}

// lone reads a text that is one small number and nothing else; 0 for anything else.
func lone(text string) int {
	text = strings.TrimSpace(text)
	if len(text) != 1 {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// choices is what stands below a question.
func choices(buttons []vault.Button) string {
	if len(buttons) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	for i, button := range buttons {
		b.WriteString("\n" + strconv.Itoa(i+1) + ". " + button.Label)
	}
	b.WriteString("\nReply with the number")
	if thumb(buttons, "👍") != "" && thumb(buttons, "👎") != "" {
		b.WriteString(", or react with 👍 or 👎")
	}
	return b.String() + "."
}
