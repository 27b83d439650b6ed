// Package inbox is what every gateway hands its events to. It finds out who writes, carries out commands, takes the answers
// to questions, says honestly what it cannot read, and gives the rest to the vault, where the brain finds it.
//
// Whatever an event does is one commit together with the event itself, so that one that is delivered again does nothing
// again. The tour: inbox.go (the way of an event), people.go (strangers, pairing, zones), parse.go and commands.go (the
// table), and one file for each family of commands.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"hearth/vault"
)

// Options are what the inbox stands on. Functions are asked each time, since what they tell changes with a reload; one
// that is nil has the meaning its comment gives.
type Options struct {
	Vault  *vault.Vault
	Now    func() time.Time                   // the clock that people see; nil = time.Now
	Log    *slog.Logger                       // nil = nothing is logged
	Burst  func() time.Duration               // messages of one sender closer together than this make one run; nil = 0, off
	Zone   func(vault.Person) *time.Location  // a person's zone, else the household's; nil = the person's, else UTC
	Zones  []string                           // all IANA names, to suggest from; nil = nothing is suggested
	Groups func(gateway string) GroupMode     // nil = Mention
	Models func(ctx context.Context) ModelSet // nil = there is no model
	// Missing names what the server of a model has not installed, as the server calls it; "" = nothing, or not known. It
	// answers within seconds; nil = nothing is ever missing.
	Missing func(ctx context.Context, model string) string
	// Gateways tells how the messengers are; nil = nothing is known of them.
	Gateways func() []GatewayStatus
}

// GroupMode says which messages of a group are for the agent.
type GroupMode string

// The modes. Commands for the agent count as addressed to it, except in Off.
const (
	Off     GroupMode = "off"
	Mention GroupMode = "mention"
	All     GroupMode = "all"
)

// ModelSet names the models there are.
type ModelSet struct {
	Names []string // in the order of the YAML file
	InUse string
	YAML  string // what the YAML file says; /model holds until it changes
}

// GatewayStatus is how a messenger is. Detail is for people and holds no secret.
type GatewayStatus struct {
	Name   string
	OK     bool
	Detail string
}

// The settings that /model writes: the chosen name, and the YAML value it overrides.
const (
	SettingModel     = "model"
	SettingModelOver = "model_over"
)

// Inbox takes what comes in. It is safe for use by several goroutines.
type Inbox struct {
	opt       Options
	strangers sync.Mutex // two messages of a stranger at a time would both get the line
}

// New makes an inbox.
func New(opt Options) *Inbox {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Inbox{opt: opt}
}

// Accept takes one event. Nil means that it may be acknowledged: it is stored with what it did, or nothing is to be kept
// of it (strangers, groups that do not speak to the agent). After an error it must be offered again.
func (i *Inbox) Accept(ctx context.Context, in vault.Inbound) error {
	in = i.tidy(in)
	from, err := i.who(ctx, in)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return i.stranger(ctx, in)
	case err != nil:
		return fmt.Errorf("find out who writes: %w", err)
	}
	err = i.take(ctx, in, from)
	if errors.Is(err, vault.ErrRepeat) {
		i.opt.Log.Debug("an event came again", "gateway", in.Gateway)
		return nil
	}
	return err
}

// take handles an event of a known person.
func (i *Inbox) take(ctx context.Context, in vault.Inbound, from vault.Person) error {
	if in.Kind == "press" {
		return i.press(ctx, in, from)
	}
	// Somebody else's words, or a second version of a message, are never an order.
	cmd, isCommand := parse(in.Text)
	isCommand = isCommand && in.Kind == "text" && in.EditTime == 0 && in.Forwarded == ""
	if in.ChatKind == vault.Group && !i.addressed(in, cmd, isCommand) {
		return nil
	}
	switch {
	case isCommand:
		return i.command(ctx, in, from, cmd)
	case in.EditTime > 0:
		if in.Kind != "text" || strings.TrimSpace(in.Text) == "" {
			return nil // what could not be read was told when it came first
		}
	case in.Kind != "text":
		return i.unreadable(ctx, in, from)
	case strings.TrimSpace(in.Text) == "":
		return i.reply(ctx, in, from, "There were no words in your message; please write it again.", "")
	}
	burst := time.Duration(0)
	if i.opt.Burst != nil && in.Gateway != "terminal" { // at a terminal Enter says that the thought is complete
		burst = i.opt.Burst()
	}
	_, err := i.opt.Vault.Accept(ctx, in, from, burst)
	return err
}

// addressed reports whether an event of a group is for the agent.
func (i *Inbox) addressed(in vault.Inbound, cmd parsed, isCommand bool) bool {
	mode := Mention
	if i.opt.Groups != nil {
		mode = i.opt.Groups(in.Gateway)
	}
	switch {
	case mode == Off:
		return false
	case in.Mentioned:
		return true
	case isCommand && cmd.bot != "":
		return false // it names another bot
	case isCommand:
		_, known := find(cmd.name) // other bots of the group have commands of their own
		return known
	}
	return mode == All
}

// reply stores an event that makes no run, with one line as its answer. The same key answers once.
func (i *Inbox) reply(ctx context.Context, in vault.Inbound, from vault.Person, line, key string) error {
	in.Raw = nil // it is kept for a run only
	return i.opt.Vault.Command(ctx, in, from, func(*vault.Tx, vault.Conversation) ([]vault.Part, error) {
		return []vault.Part{{Key: key, Text: line, ReplyTo: replyTo(in)}}, nil
	})
}

// replyTo ties an answer to what it answers where several people write.
func replyTo(in vault.Inbound) string {
	if in.ChatKind == vault.Group && in.Kind != "press" {
		return in.ID
	}
	return ""
}

// zone is the zone a person's times are meant and shown in.
func (i *Inbox) zone(p vault.Person) *time.Location {
	if i.opt.Zone != nil {
		return i.opt.Zone(p)
	}
	if zone, err := time.LoadLocation(p.Zone); err == nil {
		return zone
	}
	return time.UTC
}
