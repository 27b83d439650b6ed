package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"hearth/vault"
)

// Pauses between failed polls.
const (
	firstPause    = time.Second
	longestPause  = 15 * time.Second
	conflictPause = 6 * time.Second // another poller has the token: asking oftener would only take turns with it
	keyPause      = time.Minute     // a token that is refused does not get better by asking
)

// updateKinds is what the bot wants to be told.
const updateKinds = `["message","edited_message","callback_query"]`

// besides is how many requests that nobody waits for run at a time.
const besides = 4

// poller is one life of Receive.
type poller struct {
	g         *Gateway
	accept    func(context.Context, vault.Inbound) error
	offset    int64 // confirms what lies below it; 0 = nothing yet
	failures  int   // polls in a row
	conflicts int   // of these, those that another poller ended
	words     string
	told      map[string]bool // keys
	strange   string          // the last update without a number, which is kept once

	slots  chan struct{}
	beside sync.WaitGroup
}

// Receive implements gateways.Gateway: it polls, and confirms an update only by the next poll's offset, after accept has
// committed it. What is served twice is recognised in the vault, so the offset needs no storing.
func (g *Gateway) Receive(ctx context.Context, accept func(context.Context, vault.Inbound) error) error {
	ctx, cancel := context.WithCancel(ctx)
	p := &poller{g: g, accept: accept, told: map[string]bool{}, slots: make(chan struct{}, besides)}
	defer p.beside.Wait()
	defer cancel()
	greeted := false
	for ctx.Err() == nil {
		var err error
		if !greeted {
			if err = p.greet(ctx); err == nil {
				greeted = true
			}
		}
		if err == nil {
			err = p.poll(ctx)
		}
		if err == nil {
			p.failures, p.conflicts, p.words = 0, 0, ""
			g.setState("")
			g.setBarred(false)
			continue
		}
		if ctx.Err() != nil {
			break
		}
		timer := time.NewTimer(p.failed(ctx, err))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// greet learns the bot's own name, without which a group's "@name" means nothing, and sets the commands menu.
func (p *poller) greet(ctx context.Context) error {
	var me tg.User
	if err := p.g.call(ctx, "getMe", nil, p.g.limits.request, &me); err != nil {
		return err
	}
	p.g.met(me)
	p.aside(func() {
		if err := p.g.call(ctx, "setMyCommands", tg.Params{"commands": menu}, p.g.limits.request, nil); err != nil && ctx.Err() == nil {
			p.g.opt.Log.Warn("cannot set the commands menu", "gateway", "telegram", "error", err)
		}
	})
	return nil
}

// menu is what Telegram offers when somebody types a slash.
const menu = `[{"command":"help","description":"what I can do"},{"command":"jobs","description":"reminders to come"},` +
	`{"command":"remind","description":"WHEN, TEXT"},{"command":"memory","description":"what I remember"},` +
	`{"command":"stop","description":"stop what I am doing"},{"command":"status","description":"how I am"},` +
	`{"command":"model","description":"which model answers"},{"command":"new","description":"begin afresh"}]`

// aside does what must not hold up the next update. When too much of it is going on, it is left undone.
func (p *poller) aside(do func()) {
	select {
	case p.slots <- struct{}{}:
	default:
		return
	}
	p.beside.Go(func() {
		defer func() { <-p.slots }()
		do()
	})
}

// errNoNumber says that an update cannot be confirmed by itself; one behind it confirms it too.
var errNoNumber = errors.New("an update has no number")

// poll asks for updates once and offers each to accept. The offset then confirms those that were taken.
func (p *poller) poll(ctx context.Context) error {
	seconds := int(p.g.limits.poll.Seconds())
	params := tg.Params{"timeout": strconv.Itoa(seconds), "allowed_updates": updateKinds, "limit": "100"}
	if p.offset != 0 {
		params["offset"] = strconv.FormatInt(p.offset, 10)
	}
	var updates []json.RawMessage
	if err := p.g.call(ctx, "getUpdates", params, p.g.limits.poll+p.g.limits.slack, &updates); err != nil {
		return err
	}
	var strange error
	for _, raw := range updates {
		id, err := p.take(ctx, raw)
		switch {
		case errors.Is(err, errNoNumber):
			strange = err
		case err != nil:
			return fmt.Errorf("take update: %w", err)
		default:
			// Ids may start again lower after a quiet week, so the offset follows the last one and not the highest.
			p.offset, strange = id+1, nil
		}
	}
	return strange
}

// take offers one update. An error means that it was not stored and must come again.
func (p *poller) take(ctx context.Context, raw json.RawMessage) (int64, error) {
	g := p.g
	var number struct {
		ID *int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &number); err != nil || number.ID == nil {
		if p.strange != string(raw) {
			if err := g.opt.Quarantine(ctx, g.account, errNoNumber.Error(), raw); err != nil {
				return 0, err
			}
			p.strange = string(raw)
		}
		return 0, errNoNumber
	}
	u, err := decode(raw)
	if err != nil {
		g.opt.Log.Warn("cannot understand an update", "gateway", "telegram", "error", err)
		return *number.ID, g.opt.Quarantine(ctx, g.account, err.Error(), raw)
	}
	if from, to, ok := u.migrated(); ok {
		return *number.ID, g.opt.Migrate(ctx, from, to)
	}
	in, ok := u.inbound(g.account, g.Username(), g.opt.Groups())
	if ok {
		in.Raw = raw
		if err := p.accept(ctx, in); err != nil {
			return 0, err
		}
	}
	if u.CallbackQuery != nil {
		p.answerPress(ctx, u.CallbackQuery.ID)
	}
	return *number.ID, nil
}

// answerPress ends the little clock on a pressed button. It says nothing: what came of the press is told in the chat, so a
// failure here hides nothing either.
func (p *poller) answerPress(ctx context.Context, id string) {
	p.aside(func() {
		if err := p.g.call(ctx, "answerCallbackQuery", tg.Params{"callback_query_id": id}, p.g.limits.press, nil); err != nil && ctx.Err() == nil {
			p.g.opt.Log.Info("cannot answer a button press", "gateway", "telegram", "error", err)
		}
	})
}

// failed says how long to wait, and tells the owner what only a person can mend.
func (p *poller) failed(ctx context.Context, err error) time.Duration {
	p.failures++
	pause := min(longestPause, firstPause<<min(p.failures-1, 5))
	pause = pause*3/4 + rand.N(pause/2)
	var e *callError
	words := "Telegram is out of reach"
	switch {
	case !errors.As(err, &e):
		words = "messages cannot be stored"
	case e.refused(http.StatusConflict) && strings.Contains(e.api.Message, "webhook"):
		words = "a webhook was set for this bot, which keeps its messages from me; I remove it"
		if err := p.g.call(ctx, "deleteWebhook", nil, p.g.limits.request, nil); err != nil {
			p.g.opt.Log.Warn("cannot remove the webhook", "gateway", "telegram", "error", err)
		}
		p.tell(ctx, "webhook", "A webhook was set for the Telegram bot, so that its messages went elsewhere. I removed it; if another program set it, give that one another bot.")
	case e.refused(http.StatusConflict):
		words, pause = "another program uses the same bot token; only one can", conflictPause
		if p.conflicts++; p.conflicts > 1 { // one alone may be somebody's single look
			p.tell(ctx, "conflict", "Telegram says that another program fetches the messages of the same bot. Only one can: stop the other one, or give it another token. I keep trying.")
		}
	case e.refused(http.StatusUnauthorized), e.refused(http.StatusNotFound):
		words, pause = "Telegram does not accept the token; @BotFather shows the right one", keyPause
		p.g.setBarred(true)
		p.tellBeside(ctx, "token", "Telegram does not accept the token of the bot, so nobody is reached there. @BotFather shows the right one; put it into the configuration under gateways.telegram.token, it is taken up when the file is saved.")
	case e.refused(http.StatusTooManyRequests):
		words, pause = "Telegram asks to wait", e.retryAfter()
	case e.page != nil && e.page.wait > 0:
		words, pause = "Telegram asks to wait", e.page.wait
	case e.code >= 400:
		words = "Telegram is out of order"
	}
	p.g.setState(words)
	level := slog.LevelWarn
	if words == p.words {
		level = slog.LevelDebug // a line that stays down is logged once
	}
	p.words = words
	p.g.opt.Log.Log(ctx, level, "cannot take in messages", "gateway", "telegram", "state", words, "error", err, "pause", pause.Round(time.Millisecond).String())
	return pause
}

// tell reaches the owner, at most once a day about one thing.
func (p *poller) tell(ctx context.Context, about, words string) {
	p.tellBy(ctx, p.g.opt.Tell, about, words)
}

// tellBeside is tell when the bot itself reaches nobody.
func (p *poller) tellBeside(ctx context.Context, about, words string) {
	p.tellBy(ctx, p.g.opt.TellBeside, about, words)
}

func (p *poller) tellBy(ctx context.Context, by func(ctx context.Context, key, words string) error, about, words string) {
	key := fmt.Sprintf("telegram-%s:%s:%s", about, p.g.account, p.g.opt.Now().Format(time.DateOnly))
	if p.told[key] {
		return
	}
	if err := by(ctx, key, words); err != nil {
		p.g.opt.Log.Error("cannot tell the owner", "gateway", "telegram", "error", err)
		return
	}
	p.told[key] = true
}
