package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"hearth/gateways/terminal"
)

// runStory is a run with everything that happened in it.
type runStory struct {
	runRow
	Person    text          `json:"person"`
	Zone      string        `json:"zone"`
	Input     text          `json:"input"`
	Messages  []messageRow  `json:"messages"`
	Steps     []stepRow     `json:"steps"`
	Calls     []callRow     `json:"calls"`
	Approvals []approvalRow `json:"approvals"`
	Sends     []sendRow     `json:"sends"`
}

type messageRow struct {
	ID       int64  `json:"id"`
	Role     string `json:"role"`
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
}

// sendRow is a part of the outbox with its times.
type sendRow struct {
	outboxRow
	Created stamp `json:"created"`
	Sent    stamp `json:"sent"`
}

var viewRunsShow = view[runStory]{"runs/show", func(s *service, ctx context.Context, q query) (runStory, error) {
	p, err := s.vault.Progress(ctx, q.ID)
	if err != nil {
		return runStory{}, missing(err, "There is no run %d; `hearth runs` shows them.", q.ID)
	}
	zone := s.zoneOf(p.Person)
	story := runStory{runRow: makeRunRow(p.Run, zone), Person: text(p.Person.Name), Zone: zone.String(), Input: text(p.Run.Input)}
	n := s.names()
	for _, m := range p.Messages {
		from, err := n.person(ctx, m.Person)
		if err != nil {
			return story, err
		}
		story.Messages = append(story.Messages, messageRow{ID: m.ID, Role: m.Role, Person: text(from.Name), Kind: m.Kind, Text: m.Text, Sent: at(zone, m.Sent), Received: at(zone, m.Received)})
	}
	for _, st := range p.Steps {
		story.Steps = append(story.Steps, stepRow{
			N: st.N, Kind: st.Kind, Text: st.Text, Model: text(st.Model), TokensIn: st.TokensIn, TokensOut: st.TokensOut,
			USD: dollars(st.USD, st.USDKnown), Started: at(zone, st.Started), Ended: at(zone, st.Ended),
		})
	}
	for _, c := range p.Calls {
		story.Calls = append(story.Calls, callRow{
			ID: c.ID, Step: c.Step, Tool: c.Tool, Arguments: document(c.Args), Effect: c.Effect, State: string(c.State),
			Result: text(c.Result), Receipt: text(c.Receipt), Started: at(zone, c.Started), Ended: at(zone, c.Ended),
		})
	}
	if story.Approvals, err = s.approvalRows(ctx, p.Approvals); err != nil {
		return story, err
	}
	parts, err := s.vault.PartsOf(ctx, q.ID)
	if err != nil {
		return story, err
	}
	for _, part := range parts {
		story.Sends = append(story.Sends, sendRow{outboxRow: makeOutboxRow(part), Created: at(zone, part.Created), Sent: at(zone, part.Sent)})
	}
	story.Messages, story.Steps, story.Calls, story.Sends = rows(story.Messages), rows(story.Steps), rows(story.Calls), rows(story.Sends)
	return story, nil
}}

// cmdRunsShow tells the story of a run.
func cmdRunsShow(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return listing(ctx, in, viewRunsShow, query{ID: n}, func(r runStory, now time.Time) error {
		var b strings.Builder
		r.tell(&b, now)
		return in.print(terminal.Clean(b.String()))
	})
}

// tell writes the story in the order in which it happened.
func (r runStory) tell(w io.Writer, now time.Time) {
	fmt.Fprintf(w, "Run %d for %s, begun by a %s, %s", r.ID, dash(r.Person), r.Trigger, r.State)
	if r.Reason != "" {
		fmt.Fprintf(w, " (%s)", r.Reason)
	}
	fmt.Fprintf(w, "\nQueued %s, started %s, ended %s (%s)\n", short(r.Queued, now), short(r.Started, now), short(r.Ended, now), r.Zone)
	fmt.Fprintf(w, "%s, %s, %d tokens in, %d out, cost %s, model %s\n", plural(len(r.Steps), "step"), plural(len(r.Calls), "call"), r.TokensIn, r.TokensOut, price(r.USD), dash(r.Model))
	if r.Input != "" {
		fmt.Fprintf(w, "\nGoal: %s\n", r.Input)
	}
	for _, m := range r.Messages {
		fmt.Fprintf(w, "\n%s, %s: %s\n", dash(m.Person), short(m.Received, now), m.Text)
	}
	for _, s := range r.Steps {
		who := "Step"
		if s.Kind == "note" {
			who = "Note to the model, step"
		}
		fmt.Fprintf(w, "\n%s %d, %s", who, s.N+1, short(s.Ended, now))
		if s.Model != "" {
			fmt.Fprintf(w, ", %s, %d tokens in, %d out, %s", s.Model, s.TokensIn, s.TokensOut, price(s.USD))
		}
		fmt.Fprintln(w)
		if s.Text != "" {
			fmt.Fprintln(w, indent(s.Text))
		}
		for _, c := range r.Calls {
			if c.Step == s.N {
				c.tell(w)
			}
		}
	}
	for _, a := range r.Approvals {
		fmt.Fprintf(w, "\nQuestion %d (%s), asked %s: %s", a.ID, a.Kind, short(a.Asked, now), a.State)
		if !a.Decided.IsZero() {
			fmt.Fprintf(w, " %s by %s: %s", short(a.Decided, now), dash(a.DecidedBy), dash(a.Choice))
		}
		fmt.Fprintln(w)
	}
	for _, s := range r.Sends {
		fmt.Fprintf(w, "\n%s to %s, %s", s.Class, dash(s.Gateway), s.State)
		if !s.Sent.IsZero() {
			fmt.Fprintf(w, " %s", short(s.Sent, now))
		}
		fmt.Fprintf(w, "\n%s\n", indent(s.Text))
	}
}

func (c callRow) tell(w io.Writer) {
	fmt.Fprintf(w, "  call %d: %s %s (%s): %s\n", c.ID, c.Tool, c.Arguments, c.Effect, c.State)
	if c.Result != "" {
		fmt.Fprintln(w, indent("  "+string(c.Result)))
	}
	if c.Receipt != "" && c.Receipt != c.Result {
		fmt.Fprintln(w, indent("  "+string(c.Receipt)))
	}
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
