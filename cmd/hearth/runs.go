package main

import (
	"context"
	"fmt"
	"time"

	"hearth/vault"
)

// runRow is a run as listings show it. Its instants are in its person's zone.
type runRow struct {
	ID           int64  `json:"id"`
	Conversation number `json:"conversation"`
	Trigger      string `json:"trigger"` // message, job or system
	State        string `json:"state"`
	Reason       text   `json:"reason"`
	Steps        int    `json:"steps"`
	Calls        int    `json:"calls"`
	TokensIn     int    `json:"tokens_in"`
	TokensOut    int    `json:"tokens_out"`
	USD          money  `json:"usd"` // null = not known
	Model        text   `json:"model"`
	Queued       stamp  `json:"queued"`
	Started      stamp  `json:"started"`
	Ended        stamp  `json:"ended"`
}

func makeRunRow(r vault.Run, zone *time.Location) runRow {
	return runRow{
		ID: r.ID, Conversation: number(r.Conversation), Trigger: r.Trigger, State: string(r.State), Reason: text(r.Reason), Steps: r.Steps, Calls: r.Calls,
		TokensIn: r.TokensIn, TokensOut: r.TokensOut, USD: dollars(r.USD, r.USDKnown), Model: text(r.Model),
		Queued: at(zone, r.Queued), Started: at(zone, r.Started), Ended: at(zone, r.Ended),
	}
}

func (s *service) runRows(ctx context.Context, found []vault.Run) ([]runRow, error) {
	var out []runRow
	n := s.names()
	for _, r := range found {
		p, err := n.person(ctx, r.Person)
		if err != nil {
			return nil, err
		}
		out = append(out, makeRunRow(r, s.zoneOf(p)))
	}
	return rows(out), nil
}

var viewRuns = view[[]runRow]{"runs", func(s *service, ctx context.Context, q query) ([]runRow, error) {
	p, err := s.personNamed(ctx, q.Person, everybody)
	if err != nil {
		return nil, err
	}
	found, err := s.vault.Runs(ctx, p.ID, q.limit(50))
	if err != nil {
		return nil, err
	}
	return s.runRows(ctx, found)
}}

// runOrder names a run.
type runOrder struct {
	ID int64 `json:"id"`
}

var changeRunsStop = change[runOrder]{"runs/stop", func(s *service, ctx context.Context, q runOrder) (told, error) {
	var r vault.Run
	err := s.vault.Do(ctx, "stop-run", func(t *vault.Tx) (err error) {
		r, err = t.StopRun(q.ID)
		return err
	})
	if err != nil {
		return told{}, missing(err, "There is no run %d at work; `hearth runs` shows them.", q.ID)
	}
	p, err := s.vault.Progress(ctx, r.ID)
	if err != nil {
		return told{}, err
	}
	words := fmt.Sprintf("Stopped run %d, which was %s.", r.ID, r.State)
	for _, c := range p.Calls {
		if c.State == vault.Unknown {
			words += fmt.Sprintf(" Its call %d (%s) had begun: whether it had its effect is not known.", c.ID, c.Tool)
		}
	}
	return told{Text: words, ID: number(r.ID)}, nil
}}

var changeRunsResume = change[runOrder]{"runs/resume", func(s *service, ctx context.Context, q runOrder) (told, error) {
	r, err := s.vault.ResumeRun(ctx, q.ID)
	if err != nil {
		return told{}, missing(err, "There is no run %d that was stopped or has failed; `hearth runs` shows them.", q.ID)
	}
	return told{Text: fmt.Sprintf("Run %d goes on from its step %d; what it has done is not done again.", r.ID, r.Steps+1), ID: number(r.ID)}, nil
}}

// cmdRuns lists runs, the newest first.
func cmdRuns(ctx context.Context, in *invocation) error {
	n, err := in.count("n", 50)
	if err != nil {
		return err
	}
	return listing(ctx, in, viewRuns, query{Person: in.flags["person"], Limit: n}, func(found []runRow, now time.Time) error {
		var lines [][]string
		for _, r := range found {
			lines = append(lines, []string{
				id(r.ID), short(r.Queued, now), r.Trigger, r.State, fmt.Sprint(r.Steps), fmt.Sprint(r.Calls),
				fmt.Sprintf("%d/%d", r.TokensIn, r.TokensOut), price(r.USD), dash(r.Model), clip(string(r.Reason), 50),
			})
		}
		return table(in.out, "Nothing was worked on yet.", []string{"N", "SINCE", "BEGUN BY", "STATE", "STEPS", "CALLS", "TOKENS", "COST", "MODEL", "REASON"}, lines)
	})
}

// price writes a cost in words.
func price(usd money) string {
	if usd == nil {
		return "not known"
	}
	return fmt.Sprintf("$%.4f", *usd)
}

// cmdRunsStop ends a run.
func cmdRunsStop(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return doing(ctx, in, changeRunsStop, runOrder{n})
}

// cmdRunsResume takes a run up again.
func cmdRunsResume(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return doing(ctx, in, changeRunsResume, runOrder{n})
}
