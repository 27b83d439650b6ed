package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// command is one line of the table.
type command struct {
	name  string
	args  string // as /help writes them
	about string // as /help writes it
	owner bool   // owners only
	world bool   // it asks the models and gateways, which must happen before the commit
	looks bool   // it only shows something, which no model needs to see
	do    func(*request) ([]string, error)
}

// table lists the commands in the order of /help.
func table() []command {
	return []command{
		{name: "start", looks: true, about: "says who I am", do: start},
		{name: "help", looks: true, about: "shows this list", do: help},
		{name: "status", looks: true, about: "how I am: messengers, model, work, reminders, cost", world: true, do: status},
		{name: "stop", about: "stops what I am doing here", do: stop},
		{name: "pause", about: "holds all work; messages are kept, reminders still come", owner: true, do: pause},
		{name: "resume", about: "lets work go on after /pause", owner: true, do: resume},
		{name: "new", about: "starts a new talk; memories and reminders stay", do: newTalk},
		{name: "model", looks: true, args: "[NAME]", about: "shows the models, or switches to one", world: true, do: model},
		{name: "cost", looks: true, about: "what today and this month have cost", do: cost},
		{name: "runs", looks: true, about: "what I did last", do: runs},
		{name: "remind", args: "WHEN, TEXT", about: "reminds you, for example /remind tomorrow at 9, call mum; /remind every day at 8, brief tells what is due, blocked or waiting", do: remind},
		{name: "jobs", looks: true, about: "lists your reminders and follow-ups", do: jobs},
		{name: "cancel", args: "N", about: "cancels reminder N", do: cancel},
		{name: "snooze", args: "N WHEN", about: "says reminder N again later, for example /snooze 7 20 minutes", do: snooze},
		{name: "remember", args: "TEXT", about: "keeps a fact", do: remember},
		{name: "memory", looks: true, args: "[QUERY]", about: "lists what I remember, or searches it", do: memory},
		{name: "pin", args: "N", about: "keeps memory N always in view; /pin N off ends that", do: pin},
		{name: "forget", args: "N", about: "forgets memory N for good", do: forget},
		{name: "why", looks: true, args: "N", about: "says where memory N comes from", do: why},
		{name: "approve", args: "N", about: "says yes to question N", owner: true, do: approve},
		{name: "deny", args: "N", about: "says no to question N", owner: true, do: deny},
		{name: "answer", args: "N CHOICE", about: "answers question N with one of its choices", owner: true, do: answer},
		{name: "rules", looks: true, about: "lists what was allowed with always, and which standing rules are enforced", owner: true, do: rules},
		{name: "rule", args: "drop N", about: "ends rule N", owner: true, do: rule},
		{name: "pair", looks: true, args: "CODE", about: "links a messenger to a person, with a code from hearth pair", do: pair},
		{name: "timezone", args: "[ZONE]", about: "shows or sets your time zone; after a move, /timezone move or keep says what your reminders do", do: timezone},
	}
}

// find gives a command by its name.
func find(name string) (command, bool) {
	for _, c := range table() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// request is one command on its way. What do functions read beside tx is as it was before the commit.
type request struct {
	i    *Inbox
	ctx  context.Context
	in   vault.Inbound
	from vault.Person
	arg  string
	tx   *vault.Tx
	c    vault.Conversation
	zone *time.Location
	now  time.Time // in zone

	models   ModelSet
	missing  string // what the server of the model that /model names has not installed
	gateways []GatewayStatus

	approval int64          // the question that was decided, for the gateway that shows its buttons
	askKey   string         // of the answer, when it is a question with buttons
	buttons  []vault.Button // of that question
}

// refusal is the short note to somebody who may not.
const refusal = "Only an owner can do that."

// command carries out a command, with its answer, in one commit.
func (i *Inbox) command(ctx context.Context, in vault.Inbound, from vault.Person, p parsed) error {
	c, known := find(p.name)
	in.Kind, in.Raw = "command", nil
	if c.looks || !known {
		in.Kind = vault.Lookup
	}
	r := &request{i: i, ctx: ctx, from: from, arg: p.arg, zone: i.zone(from)}
	r.now = i.opt.Now().In(r.zone)
	switch {
	case !known:
		c.do = func(r *request) ([]string, error) { return unknown(r, p.name) }
	case c.owner && !from.IsOwner():
		c.do = func(*request) ([]string, error) { return []string{refusal}, nil }
	case c.world:
		if i.opt.Models != nil {
			r.models = i.opt.Models(ctx)
		}
		if i.opt.Gateways != nil {
			r.gateways = i.opt.Gateways()
		}
		if p.name == "model" {
			r.missing = i.missing(r)
		}
	}
	switch p.name {
	case "remember":
		in.Text = "/remember" // the words stand in the memory and in the answer, where forgetting finds them
	case "pair", "start":
		in.Text = "/" + p.name // a code is nothing to keep
	}
	r.in = in
	return i.carryOut(r, c.do)
}

// carryOut commits an event with what do does and says.
func (i *Inbox) carryOut(r *request, do func(*request) ([]string, error)) error {
	return i.opt.Vault.Command(r.ctx, r.in, r.from, func(tx *vault.Tx, c vault.Conversation) ([]vault.Part, error) {
		r.tx, r.c = tx, c
		words, err := do(r)
		if err != nil {
			return nil, err
		}
		parts := make([]vault.Part, 0, len(words))
		for n, text := range words {
			part := vault.Part{Text: text, Approval: r.approval}
			if n == 0 {
				part.ReplyTo = replyTo(r.in)
			}
			if n == len(words)-1 {
				part.Key, part.Buttons = r.askKey, r.buttons
			}
			parts = append(parts, part)
		}
		return parts, nil
	})
}

// say is the answer of a command that is one text.
func say(format string, args ...any) ([]string, error) {
	return []string{fmt.Sprintf(format, args...)}, nil
}

// private reports whether nobody else reads along.
func (r *request) private() bool { return r.c.Kind != vault.Group }

// scope is which memories the command reaches.
func (r *request) scope() vault.Scope { return vault.ScopeOf(r.c, r.from.ID) }

// key names the command for what it makes: delivered again, it makes nothing again.
func (r *request) key() string {
	return strings.Join([]string{"command", r.in.Gateway, r.in.Account, r.in.Chat, r.in.ID}, ":")
}

// date writes an instant in the person's zone, in full.
func (r *request) date(t time.Time) string { return when.Format(t.In(r.zone)) }

// clock writes the present minute.
func (r *request) clock() string { return when.Format(r.now.Truncate(time.Minute)) }

// unknown answers a command there is none of.
func unknown(r *request, name string) ([]string, error) {
	var names []string
	for _, c := range table() {
		if !c.owner || r.from.IsOwner() {
			names = append(names, c.name)
		}
	}
	if near := nearest(name, names); near != "" {
		return say("I do not know /%s. Did you mean /%s? /help lists all commands.", name, near)
	}
	return say("I do not know /%s. /help lists all commands.", name)
}

// start greets.
func start(r *request) ([]string, error) {
	return say("Hello %s. Write to me as you would to a person: I answer, remember, and remind you. /help lists what works at any time.", r.from.Name)
}

// help lists the commands that this person can use.
func help(r *request) ([]string, error) {
	lines := []string{"These work at any time, also without a model:"}
	for _, c := range table() {
		if c.owner && !r.from.IsOwner() {
			continue
		}
		lines = append(lines, strings.TrimSpace("/"+c.name+" "+c.args)+" – "+c.about)
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// pair answers somebody who needs no code.
func pair(r *request) ([]string, error) {
	return say("You are paired already, as %s (%s). For another messenger, send the code from there.", r.from.Name, r.from.Role)
}

// plural writes a number with its noun.
func plural[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxListed is how many rows are looked at for a listing.
const maxListed = 10_000

// maxAnswer is how much one part of a long listing holds, in bytes. It is below every messenger's limit, so that a part is
// cut here, between two rows, and never within one: words that are forgotten later are only found whole.
const maxAnswer = 3000

// pack joins lines to as few texts as hold them.
func pack(lines []string) []string {
	var out []string
	for from := 0; from < len(lines); {
		to, size := from+1, len(lines[from])
		for to < len(lines) && size+1+len(lines[to]) <= maxAnswer {
			size += 1 + len(lines[to])
			to++
		}
		out = append(out, strings.Join(slices.Clone(lines[from:to]), "\n"))
		from = to
	}
	return out
}
