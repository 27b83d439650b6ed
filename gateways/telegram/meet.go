package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// Bot is what Telegram says of a bot.
type Bot struct {
	Name     string // as people see it
	Username string // without the @
}

// MeetError says why a bot could not be met.
type MeetError struct {
	// Refused: Telegram itself does not take the token. Otherwise nothing is known of it.
	Refused bool
	Human   string // a sentence, without the token
	Err     error  // the cause, without the token
}

func (e *MeetError) Error() string { return fmt.Sprintf("meet the bot: %v", e.Err) }

// Unwrap gives the cause.
func (e *MeetError) Unwrap() error { return e.Err }

const meetTime = 15 * time.Second

// Meet asks Telegram whose token it is, once, within 15 s. Of opt only Token, APIURL and HTTP count. An error is a
// *MeetError unless ctx ended.
func Meet(ctx context.Context, opt Options) (Bot, error) {
	g, err := New(opt)
	if err != nil {
		return Bot{}, &MeetError{Refused: true, Err: err, Human: "That has not the form of a bot token, 123456789:ABC…: copy the whole line that @BotFather gave."}
	}
	if opt.HTTP == nil {
		defer g.opt.HTTP.CloseIdleConnections()
	}
	var me tg.User
	err = g.call(ctx, "getMe", nil, meetTime, &me)
	if err == nil && me.UserName == "" {
		err = &callError{method: "getMe", text: "an answer without a username"}
	}
	if err == nil {
		return Bot{Name: strings.TrimSpace(me.FirstName + " " + me.LastName), Username: me.UserName}, nil
	}
	if ctx.Err() != nil {
		return Bot{}, context.Cause(ctx)
	}
	return Bot{}, meetError(err)
}

func meetError(err error) *MeetError {
	out := &MeetError{Err: err}
	var e *callError
	errors.As(err, &e)
	switch {
	case e == nil:
		out.Human = "Telegram could not be asked."
	case e.refused(http.StatusUnauthorized), e.refused(http.StatusNotFound):
		out.Refused, out.Human = true, "Telegram does not know this token: it is mistyped, or was revoked. @BotFather shows the right one with /mybots."
	case e.api != nil && e.code == http.StatusTooManyRequests:
		out.Human = fmt.Sprintf("Telegram asks to wait for %d s.", max(1, e.api.RetryAfter))
	case e.api != nil:
		out.Human = "Telegram answers with an error: " + e.text + "."
	case e.page != nil:
		out.Human = fmt.Sprintf("What answers is not Telegram (status %d): is a proxy or a login page in between, or gateways.telegram.api_url wrong?", e.code)
	case errors.Is(e.cause, context.DeadlineExceeded):
		out.Human = "Telegram did not answer within 15 seconds."
	case e.code == 0:
		out.Human = "Telegram cannot be reached (" + e.text + "): is this machine connected to the internet?"
	default:
		out.Human = "Telegram's answer makes no sense: is gateways.telegram.api_url right?"
	}
	return out
}
