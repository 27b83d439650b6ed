package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"hearth/gateways"
	"hearth/gateways/markup"
	"hearth/vault"
)

// Telegram's limits. Source: https://core.telegram.org/bots/api#sendmessage (4096 characters after entities parsing, which
// are UTF-16 units) and #inlinekeyboardbutton; 100 entities a message is what clients report.
const (
	textLimit   = 4096
	entityLimit = 100
	dataLimit   = 64 // bytes
)

// noPreview is set on every text: Telegram would fetch its first link to show it, and a model's link must not reach out by
// itself.
const noPreview = `{"is_disabled":true}`

// Send implements gateways.Gateway. The text goes out as plain text with entities, so no escaping can go wrong; when
// Telegram still refuses the entities, the plain text is sent once without them.
func (g *Gateway) Send(ctx context.Context, out vault.Part) (string, error) {
	if err := g.ours(out.To); err != nil {
		return "", &gateways.SendError{Outcome: vault.Refused, Human: "it was meant for another bot, which is not configured any more", Err: err}
	}
	t := form(out)
	ref, err := g.send(ctx, out, t)
	var e *callError
	if errors.As(err, &e) && e.refused(400) && len(t.Entities) > 0 && strings.Contains(strings.ToLower(e.api.Message), "entit") {
		g.opt.Log.Warn("Telegram refused the styles of a message; it goes out plain", "gateway", "telegram", "error", e)
		ref, err = g.send(ctx, out, bare(t))
	}
	if errors.As(err, &e) && e.api != nil && e.api.MigrateToChatID != 0 {
		moved := number(e.api.MigrateToChatID)
		if err := g.opt.Migrate(ctx, out.To.Chat, moved); err != nil {
			return "", &gateways.SendError{Outcome: vault.NotSent, Human: "the group has moved", Err: err}
		}
		out.To.Chat = moved
		ref, err = g.send(ctx, out, t)
	}
	if err != nil {
		return "", sendError(err)
	}
	return ref, nil
}

// ours refuses an address of another bot, whose chats and message ids mean something else here.
func (g *Gateway) ours(to vault.Address) error {
	if to.Account != "" && to.Account != g.account {
		return fmt.Errorf("bot %s is asked to act for bot %s", g.account, to.Account)
	}
	return nil
}

// form is what a part looks like: pieces of a long text were rendered when it was split, others are rendered here.
func form(p vault.Part) markup.Text {
	if p.Entities != "" {
		if t, err := markup.Decode(p.Text, p.Entities); err == nil {
			return t
		}
	}
	return markup.Render(p.Text)
}

// bare is a text without styles, but with its addresses if there is room for them.
func bare(t markup.Text) markup.Text {
	if plain := t.Terminal(false); markup.Units(plain) <= textLimit {
		return markup.Text{Plain: plain}
	}
	return markup.Text{Plain: t.Plain}
}

func (g *Gateway) send(ctx context.Context, out vault.Part, t markup.Text) (string, error) {
	params := tg.Params{"chat_id": out.To.Chat, "text": t.Plain, "link_preview_options": noPreview}
	if err := put(params, "entities", t.Entities, len(t.Entities) > 0); err != nil {
		return "", err
	}
	if out.To.Thread != "" {
		params["message_thread_id"] = out.To.Thread
	}
	if id, err := strconv.Atoi(out.ReplyTo); err == nil {
		params["reply_parameters"] = `{"message_id":` + strconv.Itoa(id) + `,"allow_sending_without_reply":true}`
	}
	if out.Class == vault.Status {
		params["disable_notification"] = "true" // the phone rings for the answer
	}
	rows := g.rows(out.Buttons)
	if err := put(params, "reply_markup", map[string]any{"inline_keyboard": rows}, len(rows) > 0); err != nil {
		return "", err
	}
	var sent struct {
		ID int `json:"message_id"`
	}
	if err := g.call(ctx, "sendMessage", params, g.limits.request, &sent); err != nil {
		return "", err
	}
	return strconv.Itoa(sent.ID), nil
}

func put(params tg.Params, name string, value any, present bool) error {
	if !present {
		return nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	params[name] = string(b)
	return nil
}

type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// A phone shows this much in one row of buttons.
const (
	rowButtons = 3
	rowLetters = 30
)

// rows lays buttons out: side by side if they fit, else below each other. One that Telegram would refuse is left out, since
// it would refuse the whole question; the text says how to answer by typing.
func (g *Gateway) rows(buttons []vault.Button) [][]button {
	var all []button
	letters := 0
	for _, b := range buttons {
		if b.Label == "" || b.Data == "" || len(b.Data) > dataLimit {
			g.opt.Log.Warn("a button is left out: its label or data is empty or too long", "gateway", "telegram", "bytes", len(b.Data))
			continue
		}
		all = append(all, button{b.Label, b.Data})
		letters += utf8.RuneCountInString(b.Label)
	}
	if len(all) == 0 {
		return nil
	}
	if len(all) <= rowButtons && letters <= rowLetters {
		return [][]button{all}
	}
	var out [][]button
	for _, b := range all {
		out = append(out, []button{b})
	}
	return out
}

// Split implements gateways.Splitter.
func (g *Gateway) Split(p vault.Part) []vault.Piece {
	var out []vault.Piece
	for _, piece := range form(p).Split(textLimit-gateways.Room, entityLimit) {
		out = append(out, vault.Piece{Text: piece.Plain, Entities: piece.Encode()})
	}
	return out
}

// Typing implements gateways.Typer: Telegram shows it for five seconds.
func (g *Gateway) Typing(ctx context.Context, to vault.Address) error {
	if err := g.ours(to); err != nil {
		return err
	}
	params := tg.Params{"chat_id": to.Chat, "action": "typing"}
	if to.Thread != "" {
		params["message_thread_id"] = to.Thread
	}
	return g.call(ctx, "sendChatAction", params, g.limits.request, nil)
}

// Edit implements gateways.Editor. Doing it twice leaves what once leaves. Buttons go away.
func (g *Gateway) Edit(ctx context.Context, to vault.Address, ref, words string) error {
	if err := g.ours(to); err != nil {
		return &gateways.SendError{Outcome: vault.Refused, Human: "it is a message of another bot", Err: err}
	}
	t := markup.Render(words)
	params := tg.Params{"chat_id": to.Chat, "message_id": ref, "text": t.Plain, "link_preview_options": noPreview}
	if err := put(params, "entities", t.Entities, len(t.Entities) > 0); err != nil {
		return err
	}
	err := g.call(ctx, "editMessageText", params, g.limits.request, nil)
	var e *callError
	if errors.As(err, &e) && e.refused(400) && strings.Contains(e.api.Message, "not modified") {
		return nil
	}
	if err != nil {
		return sendError(err)
	}
	return nil
}

// Settle implements gateways.Asker: the buttons go away, and the text says what came of the question.
func (g *Gateway) Settle(ctx context.Context, to vault.Address, ref, text string) error {
	return g.Edit(ctx, to, ref, text)
}
