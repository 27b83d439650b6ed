// Package telegram is the gateway to Telegram's Bot API. The library github.com/go-telegram-bot-api/telegram-bot-api gives
// the types and the encoding of requests; the polling, the deadlines and the judgement of errors are our own, because its
// poller confirms messages before anybody has handled them and its errors print the bot's token.
//
// The tour: poll.go takes updates in, decode.go and inbound.go say what they are, send.go sends, client.go makes the
// requests, judge.go says what a failed one means.
package telegram

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// Options are what the gateway needs.
type Options struct {
	Token  string
	APIURL string // "" = https://api.telegram.org
	// Groups says when the bot takes part in a group: off, mention or all. It is asked for each message; nil = mention.
	Groups func() string
	HTTP   *http.Client     // nil = one of its own
	Log    *slog.Logger     // nil = nothing is logged
	Now    func() time.Time // the clock that people see; nil = time.Now

	// Quarantine keeps an update that could not be understood.
	Quarantine func(ctx context.Context, account, reason string, raw []byte) error
	// Migrate is told that a group has another id from now on; it may be told again.
	Migrate func(ctx context.Context, from, to string) error
	// Tell reaches the owner, once for a key.
	Tell func(ctx context.Context, key, words string) error
	// TellBeside is Tell without this gateway, for when nothing can be sent by it; nil = Tell.
	TellBeside func(ctx context.Context, key, words string) error
}

// Gateway is one bot.
type Gateway struct {
	opt     Options
	account string // the bot's id, which stands in front of its token
	limits  limits

	mu       sync.Mutex
	username string // "" until getMe was answered
	readsAll bool   // Telegram gives it all messages of a group
	state    string // for people: what is wrong, "" = connected
	barred   bool   // the token is refused
}

// ErrBadToken says that a token has not the form 123456:ABC….
var ErrBadToken = errors.New("the Telegram token has not the form 123456789:ABC…; @BotFather gives it")

// New makes the gateway. It needs no network: a home server may boot before its line is up. Errors: ErrBadToken.
func New(opt Options) (*Gateway, error) {
	account, secret, ok := strings.Cut(opt.Token, ":")
	if !ok || account == "" || secret == "" || strings.Trim(account, "0123456789") != "" {
		return nil, ErrBadToken
	}
	if opt.APIURL == "" {
		opt.APIURL = "https://api.telegram.org"
	}
	opt.APIURL = strings.TrimRight(opt.APIURL, "/")
	if opt.Groups == nil {
		opt.Groups = func() string { return groupsMention }
	}
	if opt.HTTP == nil {
		opt.HTTP = newClient()
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.TellBeside == nil {
		opt.TellBeside = opt.Tell
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Gateway{opt: opt, account: account, limits: usual, state: "not connected yet"}, nil
}

// Name implements gateways.Gateway.
func (g *Gateway) Name() string { return "telegram" }

// Account is the bot's id: message ids repeat between bots.
func (g *Gateway) Account() string { return g.account }

// Username is the bot's name without the @; "" before Telegram has told it.
func (g *Gateway) Username() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.username
}

// State says how the connection is, in words; ok is false when something is wrong.
func (g *Gateway) State() (words string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.state != "":
		return g.state, false
	case !g.readsAll && g.opt.Groups() == groupsAll:
		return "connected as @" + g.username + "; in groups Telegram gives it only what speaks to it (@BotFather: /setprivacy)", true
	}
	return "connected as @" + g.username, true
}

// Barred reports whether Telegram refuses the token: until a person mends that, nobody is reached.
func (g *Gateway) Barred() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.barred
}

func (g *Gateway) setBarred(barred bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.barred = barred
}

func (g *Gateway) setState(words string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = words
}

// met notes what Telegram says of the bot.
func (g *Gateway) met(me tg.User) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.username, g.readsAll, g.state, g.barred = me.UserName, me.CanReadAllGroupMessages, "", false
}
