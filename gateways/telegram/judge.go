package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// sendError says what a failed call means for a message.
func sendError(err error) *gateways.SendError {
	out := &gateways.SendError{Outcome: vault.MayHaveSent, Err: err}
	var e *callError
	if !errors.As(err, &e) {
		return out
	}
	switch {
	case e.api != nil:
		return apiError(e)
	case e.page != nil:
		return pageFault(e)
	case !e.wrote:
		out.Outcome, out.Human = vault.NotSent, "Telegram is out of reach"
	default:
		out.Human = "Telegram did not answer"
	}
	return out
}

// pageFault reads the page of somebody between us and Telegram. An error of theirs says that Telegram did not take it; a
// page without an error, or one that says that Telegram did not answer in time, leaves it open.
func pageFault(e *callError) *gateways.SendError {
	out := &gateways.SendError{Outcome: vault.NotSent, Human: fmt.Sprintf("Telegram's address answers with status %d", e.code), Wait: e.page.wait, Err: e}
	switch {
	case e.code < 300 || e.code == http.StatusGatewayTimeout:
		out.Outcome, out.Human = vault.MayHaveSent, "Telegram did not answer"
	case e.code >= 500:
		out.Human = "Telegram is out of order"
	}
	return out
}

// apiError reads an error that Telegram itself gave.
func apiError(e *callError) *gateways.SendError {
	out := &gateways.SendError{Outcome: vault.Refused, Human: "Telegram refuses it: " + e.api.Message, Err: e}
	switch {
	case e.code == http.StatusTooManyRequests:
		out.Outcome, out.Human, out.Wait = vault.NotSent, "Telegram asks to wait", e.retryAfter()
	case e.code == http.StatusUnauthorized || e.code == http.StatusNotFound:
		out.Outcome, out.Human, out.Wait = vault.NotSent, "Telegram does not accept the bot's token", time.Minute
	case e.code == http.StatusForbidden:
		out.Human = "the bot was blocked or removed there"
	case e.code == http.StatusGatewayTimeout:
		out.Outcome, out.Human = vault.MayHaveSent, "Telegram did not answer in time"
	case e.code >= 500:
		out.Outcome, out.Human = vault.NotSent, "Telegram is out of order"
	case e.code < 400: // it says "not ok" and no more
		out.Outcome, out.Human = vault.MayHaveSent, "Telegram's answer makes no sense"
	case strings.Contains(e.api.Message, "chat not found"):
		out.Human = "Telegram knows no such chat; the person must write to the bot first"
	}
	return out
}

// retryAfter is how long Telegram asks to be left alone.
func (e *callError) retryAfter() time.Duration {
	return time.Duration(max(1, e.api.RetryAfter)) * time.Second
}
