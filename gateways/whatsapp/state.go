package whatsapp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"hearth/scheduler/when"
)

// status is how the connection is, for people.
type status struct {
	words string
	mend  string // what a person can do; "" = nothing, it mends itself
	ok    bool
}

var (
	starting   = status{words: "not connected yet"}
	unlinked   = status{words: "no account is linked", mend: "`hearth whatsapp pair` links one."}
	linkingNow = status{words: "an account is being linked"}
	outOfReach = status{words: "WhatsApp is out of reach; it is tried again by itself"}
	silent     = status{words: "the line to WhatsApp had gone dead; it is begun anew"}
	unstored   = status{words: "messages cannot be stored"}
	replaced   = status{
		words: "another program uses the same WhatsApp session, and only one can",
		mend:  "End the other one: a second Hearth, or a copy of whatsapp.db. I look again later.",
	}
	outdated = status{
		words: "WhatsApp does not take this version of Hearth any more",
		mend:  "Update Hearth. I try again every hour.",
	}
)

func connected(account, mode string) status {
	if mode == Self {
		return status{words: "connected as " + account + ", in the chat with yourself", ok: true}
	}
	return status{words: "connected as " + account, ok: true}
}

// loggedOut says why an account is not linked any more.
func loggedOut(account string, why events.ConnectFailureReason) status {
	s := status{words: fmt.Sprintf("WhatsApp has logged %s out", account), mend: "`hearth whatsapp pair` links it again."}
	switch why {
	case events.ConnectFailureMainDeviceGone, events.ConnectFailureUnknownLogout:
		s.words = fmt.Sprintf("WhatsApp has locked %s or logged it out", account)
		s.mend = "Open WhatsApp on its phone and see what it says. When it works there again, `hearth whatsapp pair` links it."
	default:
		s.words += ": the device was removed on the phone, or the phone was not online for 14 days"
	}
	return s
}

// banned says for how long.
func banned(b *events.TemporaryBan, until time.Time) status {
	why := map[events.TempBanReason]string{
		events.TempBanSentToTooManyPeople:    "too many messages to people who do not know the number",
		events.TempBanBlockedByUsers:         "too many people have blocked the number",
		events.TempBanCreatedTooManyGroups:   "too many groups were made",
		events.TempBanSentTooManySameMessage: "the same message was sent too often",
		events.TempBanBroadcastList:          "too many broadcasts",
	}[b.Code]
	if why == "" {
		why = fmt.Sprintf("code %d", int(b.Code))
	}
	return status{
		words: fmt.Sprintf("WhatsApp has banned this number for a while (%s), until %s", why, when.Format(until)),
		mend:  "Wait: I send nothing until then and come back by myself.",
	}
}

// refusedLogin is a failure that is none of the known ones.
func refusedLogin(code int, again time.Time) status {
	return status{
		words: fmt.Sprintf("WhatsApp refuses the login (code %d)", code),
		mend:  fmt.Sprintf("I try again at %s. If it stays so, look at WhatsApp on the phone.", again.Format("15:04")),
	}
}

// State says how the connection is, in words; ok is false when something is wrong.
func (g *Gateway) State() (words string, ok bool) {
	_, s, _ := g.now()
	return s.words, s.ok
}

// Mend says what a person can do about what is wrong; "" when nothing is needed.
func (g *Gateway) Mend() string {
	_, s, _ := g.now()
	return s.mend
}

// tell reaches the owner on another messenger, at most once a day about one thing.
func (g *Gateway) tell(ctx context.Context, about string, s status) {
	now := g.opt.Now()
	key := fmt.Sprintf("whatsapp-%s:%s:%s", about, g.Account(), now.Format(time.DateOnly))
	words := strings.TrimSpace("WhatsApp: " + s.words + ". " + s.mend)
	if err := g.opt.Vault.TellBeside(ctx, Name, key, words); err != nil && ctx.Err() == nil {
		g.opt.Log.Error("cannot tell the owner", "error", err)
	}
}
