package main

import (
	"context"
	"fmt"
	"time"

	"hearth/vault"
)

// outboxRow is a part that was or will be sent.
type outboxRow struct {
	ID           int64  `json:"id"`
	Run          number `json:"run"`
	Conversation number `json:"conversation"`
	Gateway      string `json:"gateway"`
	Class        string `json:"class"`
	State        string `json:"state"`
	Attempts     int    `json:"attempts"`
	Ref          text   `json:"ref"`
	Text         string `json:"text"`
	Error        text   `json:"error"`
}

func makeOutboxRow(p vault.Part) outboxRow {
	return outboxRow{
		ID: p.ID, Run: number(p.Run), Conversation: number(p.Conversation), Gateway: p.To.Gateway, Class: string(p.Class), State: p.State,
		Attempts: p.Attempts, Ref: text(p.Ref), Text: p.Text, Error: text(p.Error),
	}
}

var viewOutbox = view[[]outboxRow]{"outbox", func(s *service, ctx context.Context, q query) ([]outboxRow, error) {
	found, err := s.vault.Parts(ctx, !q.All, q.limit(everything))
	if err != nil {
		return nil, err
	}
	var out []outboxRow
	for _, p := range found {
		out = append(out, makeOutboxRow(p))
	}
	return rows(out), nil
}}

// partOrder names a part.
type partOrder struct {
	ID int64 `json:"id"`
}

var changeOutboxRetry = change[partOrder]{"outbox/retry", func(s *service, ctx context.Context, q partOrder) (told, error) {
	if err := s.vault.RetryPart(ctx, q.ID); err != nil {
		return told{}, missing(err, "There is no failed message %d; `hearth outbox` shows what there is.", q.ID)
	}
	return told{Text: fmt.Sprintf("Message %d is sent again.", q.ID), ID: number(q.ID)}, nil
}}

var changeOutboxDrop = change[partOrder]{"outbox/drop", func(s *service, ctx context.Context, q partOrder) (told, error) {
	if err := s.vault.DropPart(ctx, q.ID); err != nil {
		return told{}, missing(err, "There is no unsent message %d; `hearth outbox` shows what there is.", q.ID)
	}
	return told{Text: fmt.Sprintf("Message %d is given up.", q.ID), ID: number(q.ID)}, nil
}}

// cmdOutbox lists what has not been delivered.
func cmdOutbox(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewOutbox, query{All: in.has("all")}, func(found []outboxRow, _ time.Time) error {
		var lines [][]string
		for _, p := range found {
			lines = append(lines, []string{id(p.ID), p.Gateway, p.Class, p.State, fmt.Sprint(p.Attempts), clip(p.Text, 60), clip(string(p.Error), 60)})
		}
		return table(in.out, "Everything has been delivered.", []string{"N", "GATEWAY", "CLASS", "STATE", "TRIES", "TEXT", "LAST ERROR"}, lines)
	})
}

// cmdOutboxRetry sends again.
func cmdOutboxRetry(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return doing(ctx, in, changeOutboxRetry, partOrder{n})
}

// cmdOutboxDrop gives up.
func cmdOutboxDrop(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return doing(ctx, in, changeOutboxDrop, partOrder{n})
}
