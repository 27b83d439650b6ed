package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"hearth/gateways/terminal"
	"hearth/scheduler/when"
	"hearth/vault"
)

// statusRow is how the agent is. Instants are in the household's zone.
type statusRow struct {
	Version   string       `json:"version"`
	Running   bool         `json:"running"` // false: a look at the vault alone, the agent is off
	Now       stamp        `json:"now"`
	Zone      string       `json:"zone"`
	Paused    bool         `json:"paused"`
	Gateways  []gatewayRow `json:"gateways"`
	Model     modelRow     `json:"model"`
	Queue     int          `json:"queue"` // runs that wait for their turn
	Runs      []runRow     `json:"runs"`  // at work, or waiting for a person
	Jobs      []jobRow     `json:"jobs"`  // the next ones
	Approvals int          `json:"approvals"`
	Outbox    outboxCount  `json:"outbox"`
	Spent     float64      `json:"spent_today_usd"`
	Cost      costRow      `json:"cost"`
}

// gatewayRow is how a messenger is.
type gatewayRow struct {
	Name  string `json:"name"`
	State string `json:"state"` // connected, off, or what is wrong
	Error text   `json:"error"`
	Mend  text   `json:"mend"` // what a person can do about it
}

// modelRow is which model answers.
type modelRow struct {
	InUse      text     `json:"in_use"`
	Configured text     `json:"configured"`
	Known      []string `json:"known"`
	Note       text     `json:"note"` // why it is not the configured one
}

// outboxCount counts what is not delivered.
type outboxCount struct {
	Waiting int `json:"waiting"`
	Unknown int `json:"unknown"`
	Failed  int `json:"failed"`
}

// nextJobs is how many of the jobs to come a status shows.
const nextJobs = 5

var viewStatus = view[statusRow]{"status", func(s *service, ctx context.Context, _ query) (row statusRow, err error) {
	zone := s.zone()
	now := s.now().In(zone)
	row = statusRow{Version: programVersion(), Now: stamp{now}, Zone: zone.String(), Gateways: []gatewayRow{}, Model: s.model}
	if s.parts != nil {
		row.Running, row.Gateways = true, s.parts.gatewayRows()
		if row.Model, err = s.parts.modelInUse(ctx); err != nil {
			return row, err
		}
	}
	if row.Paused, err = s.vault.Paused(ctx); err != nil {
		return row, err
	}
	open, err := s.vault.OpenRuns(ctx, 0)
	if err != nil {
		return row, err
	}
	var active []vault.Run
	for _, r := range open {
		if r.State == vault.Queued {
			row.Queue++
		} else {
			active = append(active, r)
		}
	}
	if row.Runs, err = s.runRows(ctx, active); err != nil {
		return row, err
	}
	jobs, err := s.vault.Jobs(ctx, 0, true, nextJobs)
	if err != nil {
		return row, err
	}
	if row.Jobs, err = s.jobRows(ctx, jobs); err != nil {
		return row, err
	}
	asked, err := s.vault.Approvals(ctx, true, everything)
	if err != nil {
		return row, err
	}
	row.Approvals = len(asked)
	parts, err := s.vault.Parts(ctx, true, everything)
	if err != nil {
		return row, err
	}
	for _, p := range parts {
		switch p.State {
		case "unknown":
			row.Outbox.Unknown++
		case "failed":
			row.Outbox.Failed++
		default:
			row.Outbox.Waiting++
		}
	}
	row.Cost, err = s.cost(ctx, now)
	row.Spent = row.Cost.Today.USD
	return row, err
}}

// cmdStatus tells how the agent is.
func cmdStatus(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewStatus, query{}, func(s statusRow, _ time.Time) error {
		var b strings.Builder
		s.tell(&b)
		return in.print(terminal.Clean(b.String()))
	})
}

func (s statusRow) tell(w io.Writer) {
	now := inZone(s.Now, s.Zone).Time
	state := "running"
	if !s.Running {
		state = "off: `hearth run` starts it"
	}
	fmt.Fprintf(w, "Hearth %s, %s. It is %s.\n", s.Version, state, when.Format(now.Truncate(time.Minute)))
	for _, g := range s.Gateways {
		fmt.Fprintf(w, "Gateway %s: %s", g.Name, g.State)
		if g.Error != "" {
			fmt.Fprintf(w, " (%s)", g.Error)
		}
		if g.Mend != "" {
			fmt.Fprintf(w, ". %s", g.Mend)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "Model in use: %s", dash(s.Model.InUse))
	if s.Model.Note != "" {
		fmt.Fprintf(w, " (%s)", s.Model.Note)
	}
	fmt.Fprintf(w, "\nQueue: %s waiting, %s at work or waiting for an answer\n", plural(s.Queue, "run"), plural(len(s.Runs), "run"))
	if s.Paused {
		fmt.Fprintln(w, "Work is paused: /resume in a chat lets it go on.")
	}
	for _, r := range s.Runs {
		fmt.Fprintf(w, "  run %d, %s, since %s, %s\n", r.ID, r.State, short(r.Queued, now), plural(r.Steps, "step"))
	}
	if s.Approvals > 0 {
		fmt.Fprintf(w, "%s waiting for an answer: `hearth approvals`\n", plural(s.Approvals, "question"))
	}
	if o := s.Outbox; o.Waiting+o.Unknown+o.Failed > 0 {
		fmt.Fprintf(w, "Outbox: %d waiting, %d of unknown outcome, %d failed: `hearth outbox`\n", o.Waiting, o.Unknown, o.Failed)
	}
	if len(s.Jobs) == 0 {
		fmt.Fprintln(w, "No reminders are waiting.")
	}
	for _, j := range s.Jobs {
		fmt.Fprintf(w, "Next: %s (%s) job %d: %s\n", exact(inZone(j.Next, j.Zone), now), j.Zone, j.ID, clip(j.Text, 60))
	}
	s.Cost.tell(w)
}
