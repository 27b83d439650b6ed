package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hearth/vault"
)

// approvalRow is a question to an owner. Its instants are in the zone of who is asked.
type approvalRow struct {
	ID        int64    `json:"id"`
	Run       number   `json:"run"`
	Call      number   `json:"call"`
	Kind      string   `json:"kind"` // call, unknown, budget or cloud
	Tool      text     `json:"tool"`
	Arguments document `json:"arguments"`
	Choices   []string `json:"choices"`
	State     string   `json:"state"`
	Asked     stamp    `json:"asked"`
	Decided   stamp    `json:"decided"`
	DecidedBy text     `json:"decided_by"`
	Choice    text     `json:"choice"`
}

func (s *service) approvalRows(ctx context.Context, found []vault.Approval) ([]approvalRow, error) {
	var out []approvalRow
	n := s.names()
	for _, a := range found {
		asked, err := n.person(ctx, a.Person)
		if err != nil {
			return nil, err
		}
		by, err := n.person(ctx, a.DecidedBy)
		if err != nil {
			return nil, err
		}
		zone := s.zoneOf(asked)
		out = append(out, approvalRow{
			ID: a.ID, Run: number(a.Run), Call: number(a.Call), Kind: a.Kind, Tool: text(a.Tool), Arguments: document(a.Arguments), Choices: rows(a.Choices),
			State: a.State, Asked: at(zone, a.Asked), Decided: at(zone, a.Decided), DecidedBy: text(by.Name), Choice: text(a.Choice),
		})
	}
	return rows(out), nil
}

var viewApprovals = view[[]approvalRow]{"approvals", func(s *service, ctx context.Context, q query) ([]approvalRow, error) {
	found, err := s.vault.Approvals(ctx, !q.All, q.limit(everything))
	if err != nil {
		return nil, err
	}
	return s.approvalRows(ctx, found)
}}

// decision answers a question.
type decision struct {
	ID     int64  `json:"id"`
	Choice string `json:"choice"`
	As     string `json:"as"`
}

var changeApprovalsDecide = change[decision]{"approvals/decide", func(s *service, ctx context.Context, q decision) (told, error) {
	by, err := s.personNamed(ctx, q.As, s.owner)
	if err != nil {
		return told{}, err
	}
	var a vault.Approval
	err = s.vault.Do(ctx, "decide", func(t *vault.Tx) error {
		a, err = t.Decide(q.ID, by, q.Choice)
		return err
	})
	switch {
	case errors.Is(err, vault.ErrNotOwner):
		return told{}, failed("%s is a member: only an owner decides.", by.Name)
	case errors.Is(err, vault.ErrDecided):
		return told{}, failed("Question %d is %s already; nothing was changed.", q.ID, a.State)
	case errors.Is(err, vault.ErrBadChoice):
		return told{}, failed("Question %d takes one of: %s.", q.ID, strings.Join(a.Choices, ", "))
	case err != nil:
		return told{}, missing(err, "There is no question %d; `hearth approvals` shows the open ones.", q.ID)
	}
	if a, err = s.vault.Approval(ctx, q.ID); err != nil {
		return told{}, err
	}
	if a.State == "expired" {
		return told{}, failed("Question %d had expired, so nothing was done.", q.ID)
	}
	return told{Text: fmt.Sprintf("Question %d: %s. Run %d goes on.", a.ID, a.Choice, a.Run), ID: number(a.ID)}, nil
}}

// ruleRow is a standing permission. Its instant is in the zone of who gave it.
type ruleRow struct {
	ID        int64  `json:"id"`
	Tool      string `json:"tool"`
	Person    text   `json:"person"` // whose runs it speaks of
	Chat      string `json:"chat"`   // private, group or any
	Created   stamp  `json:"created"`
	CreatedBy text   `json:"created_by"`
}

var viewRules = view[[]ruleRow]{"rules", func(s *service, ctx context.Context, _ query) ([]ruleRow, error) {
	found, err := s.vault.Rules(ctx)
	if err != nil {
		return nil, err
	}
	var out []ruleRow
	n := s.names()
	for _, r := range found {
		whose, err := n.person(ctx, r.Person)
		if err != nil {
			return nil, err
		}
		by, err := n.person(ctx, r.CreatedBy)
		if err != nil {
			return nil, err
		}
		out = append(out, ruleRow{ID: r.ID, Tool: r.Tool, Person: text(whose.Name), Chat: r.Chat, Created: at(s.zoneOf(by), r.Created), CreatedBy: text(by.Name)})
	}
	return rows(out), nil
}}

// ruleOrder names a rule.
type ruleOrder struct {
	ID int64 `json:"id"`
}

var changeRulesDrop = change[ruleOrder]{"rules/drop", func(s *service, ctx context.Context, q ruleOrder) (told, error) {
	err := s.vault.Do(ctx, "drop-rule", func(t *vault.Tx) error { return t.DropRule(q.ID) })
	if err != nil {
		return told{}, missing(err, "There is no rule %d; `hearth rules` shows them.", q.ID)
	}
	return told{Text: fmt.Sprintf("Dropped rule %d: it is asked again from now on.", q.ID), ID: number(q.ID)}, nil
}}

// cmdApprovals lists questions.
func cmdApprovals(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewApprovals, query{All: in.has("all")}, func(found []approvalRow, now time.Time) error {
		var lines [][]string
		for _, a := range found {
			what := dash(a.Tool)
			if a.Arguments != "" {
				what += " " + clip(string(a.Arguments), 70)
			}
			state := a.State
			if a.State == "open" {
				state = "open: " + strings.Join(a.Choices, ", ")
			} else if a.DecidedBy != "" {
				state += " by " + string(a.DecidedBy)
			}
			lines = append(lines, []string{id(a.ID), short(a.Asked, now), id(int64(a.Run)), a.Kind, what, state})
		}
		return table(in.out, "No question waits for an answer.", []string{"N", "ASKED", "RUN", "ABOUT", "WHAT", "STATE"}, lines)
	})
}

// cmdApprovalsDecide answers a question: the command's name or its second word is the choice.
func cmdApprovalsDecide(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	choice := in.command.words()[1]
	if choice == "answer" {
		choice = in.words[1]
	}
	return doing(ctx, in, changeApprovalsDecide, decision{ID: n, Choice: choice, As: in.flags["as"]})
}

// cmdRules lists standing permissions.
func cmdRules(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewRules, query{}, func(found []ruleRow, now time.Time) error {
		var lines [][]string
		for _, r := range found {
			lines = append(lines, []string{id(r.ID), r.Tool, dash(r.Person), r.Chat, short(r.Created, now), dash(r.CreatedBy)})
		}
		return table(in.out, "Nothing was answered with always.", []string{"N", "TOOL", "WHOSE RUNS", "CHAT", "SINCE", "GIVEN BY"}, lines)
	})
}

// cmdRulesDrop ends a standing permission.
func cmdRulesDrop(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return doing(ctx, in, changeRulesDrop, ruleOrder{n})
}
