package main

import (
	"context"
	"time"
)

// runStory is a run with everything that happened in it.
type runStory struct {
	runRow
	Person    text         `json:"person"`
	Zone      string       `json:"zone"`
	Input     text         `json:"input"`
	Job       number       `json:"job"`
	Due       stamp        `json:"due"`
	WorkedMS  int64        `json:"worked_ms"` // at work, without the waits
	Messages  []messageRow `json:"messages"`
	Steps     []stepRow    `json:"steps"`
	Calls     []callRow    `json:"calls"`
	Approvals []askedRow   `json:"approvals"`
	Sends     []sendRow    `json:"sends"`
}

type messageRow struct {
	ID       int64  `json:"id"`
	Role     string `json:"role"`
	Step     *int   `json:"step"` // the first that saw it; null = none has
	Person   text   `json:"person"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Sent     stamp  `json:"sent"`
	Received stamp  `json:"received"`
}

type stepRow struct {
	N         int    `json:"n"`
	Kind      string `json:"kind"` // model or note
	Text      string `json:"text"`
	Model     text   `json:"model"`
	TokensIn  int    `json:"tokens_in"`
	TokensOut int    `json:"tokens_out"`
	USD       money  `json:"usd"`
	Started   stamp  `json:"started"`
	Ended     stamp  `json:"ended"`
	TookMS    *int64 `json:"took_ms"`
}

type callRow struct {
	ID        int64    `json:"id"`
	Step      int      `json:"step"`
	Tool      string   `json:"tool"`
	Arguments document `json:"arguments"`
	Effect    string   `json:"effect"`
	State     string   `json:"state"`
	Result    text     `json:"result"`
	Receipt   text     `json:"receipt"`
	Started   stamp    `json:"started"`
	Ended     stamp    `json:"ended"`
	TookMS    *int64   `json:"took_ms"`
}

// tookMS is how long something took; nil while it has not ended, or when the clock was set back meanwhile.
func tookMS(from, to time.Time) *int64 {
	if from.IsZero() || to.Before(from) {
		return nil
	}
	ms := to.Sub(from).Milliseconds()
	return &ms
}

// askedRow is a question with its words, and who was asked.
type askedRow struct {
	approvalRow
	Question text  `json:"question"`
	AskedOf  text  `json:"asked_of"`
	Expires  stamp `json:"expires"`
}

// sendRow is a part of the outbox with its times.
type sendRow struct {
	outboxRow
	Approval number `json:"approval"` // the question it asks
	Marked   bool   `json:"marked"`   // it may be a repeat and says so
	Created  stamp  `json:"created"`
	Sent     stamp  `json:"sent"`
}

var viewRunsShow = view[runStory]{"runs/show", func(s *service, ctx context.Context, q query) (runStory, error) {
	p, err := s.vault.Progress(ctx, q.ID)
	if err != nil {
		return runStory{}, missing(err, "There is no run %d; `hearth runs` shows them.", q.ID)
	}
	zone := s.zoneOf(p.Person)
	story := runStory{runRow: makeRunRow(p.Run, zone), Person: text(p.Person.Name), Zone: zone.String(), Input: text(p.Run.Input)}
	story.Job, story.Due, story.WorkedMS = number(p.Run.Job), at(zone, p.Run.Due), p.Run.Worked.Milliseconds()
	n := s.names()
	for _, m := range p.Messages {
		from, err := n.person(ctx, m.Person)
		if err != nil {
			return story, err
		}
		row := messageRow{ID: m.ID, Role: m.Role, Person: text(from.Name), Kind: m.Kind, Text: m.Text, Sent: at(zone, m.Sent), Received: at(zone, m.Received)}
		if m.Step >= 0 {
			seen := int(m.Step)
			row.Step = &seen
		}
		story.Messages = append(story.Messages, row)
	}
	for _, st := range p.Steps {
		story.Steps = append(story.Steps, stepRow{
			N: st.N, Kind: st.Kind, Text: st.Text, Model: text(st.Model), TokensIn: st.TokensIn, TokensOut: st.TokensOut,
			USD: dollars(st.USD, st.USDKnown), Started: at(zone, st.Started), Ended: at(zone, st.Ended), TookMS: tookMS(st.Started, st.Ended),
		})
	}
	for _, c := range p.Calls {
		story.Calls = append(story.Calls, callRow{
			ID: c.ID, Step: c.Step, Tool: c.Tool, Arguments: document(c.Args), Effect: c.Effect, State: string(c.State),
			Result: text(c.Result), Receipt: text(c.Receipt), Started: at(zone, c.Started), Ended: at(zone, c.Ended), TookMS: tookMS(c.Started, c.Ended),
		})
	}
	asked, err := s.approvalRows(ctx, p.Approvals)
	if err != nil {
		return story, err
	}
	for i, a := range p.Approvals {
		of, err := n.person(ctx, a.Person)
		if err != nil {
			return story, err
		}
		story.Approvals = append(story.Approvals, askedRow{approvalRow: asked[i], Question: text(a.Question), AskedOf: text(of.Name), Expires: at(s.zoneOf(of), a.Expires)})
	}
	parts, err := s.vault.PartsOf(ctx, q.ID)
	if err != nil {
		return story, err
	}
	for _, part := range parts {
		story.Sends = append(story.Sends, sendRow{outboxRow: makeOutboxRow(part), Approval: number(part.Approval), Marked: part.Marked, Created: at(zone, part.Created), Sent: at(zone, part.Sent)})
	}
	story.Messages, story.Steps, story.Calls = rows(story.Messages), rows(story.Steps), rows(story.Calls)
	story.Approvals, story.Sends = rows(story.Approvals), rows(story.Sends)
	return story, nil
}}

// cmdRunsShow tells the story of a run.
func cmdRunsShow(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return listing(ctx, in, viewRunsShow, query{ID: n}, func(r runStory, now time.Time) error {
		return in.print(tellRun(r, now))
	})
}
