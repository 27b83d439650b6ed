package inbox

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/vault"
)

// pressed reads the data of a question's button: "a:7:deny" says deny to question 7.
func pressed(data string) (n int64, choice string, ok bool) {
	rest, ok := strings.CutPrefix(data, "a:")
	if !ok {
		return 0, "", false
	}
	digits, choice, ok := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, choice, ok && err == nil && n > 0 && choice != ""
}

func approve(r *request) ([]string, error) { return r.yesOrNo("/approve N", vault.ChooseApprove) }

func deny(r *request) ([]string, error) { return r.yesOrNo("/deny N", vault.ChooseDeny) }

func (r *request) yesOrNo(usage, choice string) ([]string, error) {
	n, _, ok := number(r.arg)
	if !ok {
		return r.which(usage)
	}
	return r.decide(n, choice)
}

// answer takes one of a question's own choices.
func answer(r *request) ([]string, error) {
	n, choice, ok := number(r.arg)
	if !ok {
		return r.which("/answer N CHOICE")
	}
	return r.decide(n, choice)
}

// which asks for the number, and shows those there are.
func (r *request) which(usage string) ([]string, error) {
	open, err := questions(r)
	if err != nil {
		return nil, err
	}
	if len(open) == 0 {
		return say("Which one? Write it as %s. No question is open.", usage)
	}
	return say("Which one? Write it as %s. %s.", usage, open[0])
}

// decide gives an owner's answer to a question. What becomes of it is said from the stored row.
func (r *request) decide(n int64, choice string) ([]string, error) {
	a, err := r.tx.Decide(n, r.from, choice)
	switch {
	case errors.Is(err, vault.ErrNotOwner):
		return say("Only an owner can answer that.")
	case errors.Is(err, vault.ErrNotFound):
		return say("There is no question %d.", n)
	case errors.Is(err, vault.ErrBadChoice):
		return say("Question %d (%s) takes one of: %s. Answer with /answer %d CHOICE.", n, subject(a), strings.Join(a.Choices, ", "), n)
	case errors.Is(err, vault.ErrDecided):
		r.approval = a.ID
		return r.decided(a)
	case err != nil:
		return nil, err
	}
	r.approval = a.ID
	words := fmt.Sprintf("Answered question %d (%s) with %s.", n, subject(a), a.Choice)
	if a.Kind == "call" {
		words = fmt.Sprintf("Approved: question %d (%s).", n, subject(a))
		switch a.Choice {
		case vault.ChooseDeny:
			words = fmt.Sprintf("Denied: question %d (%s) is not done.", n, subject(a))
		case vault.ChooseAlways:
			words = fmt.Sprintf("Approved: question %d (%s), and from now on without asking. /rules lists that.", n, subject(a))
		}
	}
	paused, err := r.i.opt.Vault.Paused(r.ctx)
	if err != nil {
		return nil, err
	}
	if paused {
		words += " I am paused: it goes on after /resume."
	}
	return []string{words}, nil
}

// decided explains an answer that came after the first one.
func (r *request) decided(a vault.Approval) ([]string, error) {
	if a.State == "expired" {
		// Closed by this very answer, or when its time was over; else together with its task.
		if !a.Expires.IsZero() && (a.Decided.IsZero() || !a.Decided.Before(a.Expires)) {
			return say("Question %d (%s) has expired on %s: nobody had answered, so %s.", a.ID, subject(a), r.date(a.Expires), undone(a))
		}
		return say("Question %d (%s) was closed on %s, when its task was stopped: %s.", a.ID, subject(a), r.date(a.Decided.Truncate(time.Second)), undone(a))
	}
	by, err := r.name(a.DecidedBy)
	if err != nil {
		return nil, err
	}
	outcome := a.State
	if a.Kind != "call" || a.Choice == vault.ChooseAlways {
		outcome = "answered with " + a.Choice
	}
	return say("Question %d (%s) is decided already: %s by %s on %s.", a.ID, subject(a), outcome, by, r.date(a.Decided.Truncate(time.Second)))
}

// undone is what became of a thing whose question nobody answered.
func undone(a vault.Approval) string {
	if a.Kind == "unknown" {
		return "it may or may not have happened, and I do not repeat it"
	}
	if a.Kind == "cloud" {
		return "nothing went to the cloud"
	}
	if a.Kind == "budget" {
		return "the task was stopped"
	}
	return "it was not done"
}

// subject is what a question is about.
func subject(a vault.Approval) string {
	switch {
	case a.Tool != "":
		return a.Tool
	case a.Kind != "":
		return a.Kind
	}
	return "a question"
}

// rules lists what was allowed with always, and what the person's standing rules shut.
func rules(r *request) ([]string, error) {
	all, err := r.i.opt.Vault.Rules(r.ctx)
	if err != nil {
		return nil, err
	}
	orders, err := r.i.opt.Vault.Orders(r.ctx, r.scope())
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && len(orders) == 0 {
		return say("No rules. Answering a question with always makes one.")
	}
	var lines []string
	for _, rule := range all {
		whose, err := r.name(rule.Person)
		if err != nil {
			return nil, err
		}
		by, err := r.name(rule.CreatedBy)
		if err != nil {
			return nil, err
		}
		where := "any chat"
		if rule.Chat != "any" {
			where = rule.Chat + " chats"
		}
		uses := rule.Tool
		if rule.About != "" {
			uses += ", every " + rule.About + ","
		}
		lines = append(lines, fmt.Sprintf("%d · %s without asking, for %s in %s (by %s on %s)", rule.ID, uses, whose, where, by, r.date(rule.Created.Truncate(time.Second))))
	}
	if len(all) > 0 {
		lines = append(lines, "/rule drop N ends one.")
	}
	for _, o := range orders {
		lines = append(lines, fmt.Sprintf("Memory %d · %s, whatever was answered with always (/forget %d ends it)", o.Memory, o.Says(), o.Memory))
	}
	return pack(lines), nil
}

// rule ends a standing permission.
func rule(r *request) ([]string, error) {
	verb, rest, _ := strings.Cut(r.arg, " ")
	n, _, ok := number(rest)
	if !strings.EqualFold(verb, "drop") || !ok {
		return say("Write it as /rule drop N, for example /rule drop 2. /rules lists the numbers.")
	}
	all, err := r.i.opt.Vault.Rules(r.ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(rule vault.Rule) bool { return rule.ID == n })
	if at < 0 {
		return say("There is no rule %d. /rules lists them.", n)
	}
	if err := r.tx.DropRule(n); err != nil {
		return nil, err
	}
	return say("Rule %d is ended: I ask again before %s.", n, all[at].Tool)
}
