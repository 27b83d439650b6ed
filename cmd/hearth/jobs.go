package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// jobRow is a wake-up as listings show it. Its instants are in its zone.
type jobRow struct {
	ID           int64  `json:"id"`
	Kind         string `json:"kind"` // say or do
	Person       text   `json:"person"`
	Conversation number `json:"conversation"`
	Gateway      text   `json:"gateway"`
	Text         string `json:"text"`
	Spec         text   `json:"spec"`
	Zone         string `json:"zone"`
	Next         stamp  `json:"next"`
	State        string `json:"state"`
	LastDue      stamp  `json:"last_due"`
	LastResult   text   `json:"last_result"`
	CreatedByRun number `json:"created_by_run"`
}

func (s *service) jobRow(ctx context.Context, n *names, j vault.Job) (jobRow, error) {
	p, err := n.person(ctx, j.Person)
	if err != nil {
		return jobRow{}, err
	}
	zone, err := time.LoadLocation(j.Zone)
	if err != nil {
		zone = s.zoneOf(p)
	}
	return jobRow{
		ID: j.ID, Kind: j.Kind, Person: text(p.Name), Conversation: number(j.Conversation), Gateway: text(j.To.Gateway), Text: j.Text, Spec: text(j.Spec),
		Zone: zone.String(), Next: at(zone, j.Next), State: string(j.State), LastDue: at(zone, j.LastDue), LastResult: text(j.LastResult), CreatedByRun: number(j.CreatedByRun),
	}, nil
}

func (s *service) jobRows(ctx context.Context, jobs []vault.Job) ([]jobRow, error) {
	var out []jobRow
	n := s.names()
	for _, j := range jobs {
		row, err := s.jobRow(ctx, n, j)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return rows(out), nil
}

var viewJobs = view[[]jobRow]{"jobs", func(s *service, ctx context.Context, q query) ([]jobRow, error) {
	p, err := s.personNamed(ctx, q.Person, everybody)
	if err != nil {
		return nil, err
	}
	jobs, err := s.vault.Jobs(ctx, p.ID, !q.All, q.limit(everything))
	if err != nil {
		return nil, err
	}
	return s.jobRows(ctx, jobs)
}}

// jobOrder is a new job, or a new time for one.
type jobOrder struct {
	ID     int64  `json:"id"`
	When   string `json:"when"`
	Text   string `json:"text"`
	Person string `json:"person"`
}

var changeJobsAdd = change[jobOrder]{"jobs/add", func(s *service, ctx context.Context, q jobOrder) (told, error) {
	p, err := s.personNamed(ctx, q.Person, s.owner)
	if err != nil {
		return told{}, err
	}
	zone := s.zoneOf(p)
	res, words := when.Result{}, q.Text
	if words != "" {
		res, err = when.Parse(q.When, s.now().In(zone))
	} else {
		res, words, err = when.Split(q.When, s.now().In(zone))
	}
	if err != nil {
		return told{}, timeTrouble(err)
	}
	if words == "" {
		return told{}, failed("What is the reminder about? Say it as in: hearth jobs add %q \"call the plumber\".", q.When)
	}
	c, err := s.vault.PrivateConversation(ctx, p.ID)
	if err != nil {
		return told{}, err
	}
	to, err := s.vault.PrivateAddress(ctx, p.ID)
	if err != nil {
		return told{}, err
	}
	j, err := s.vault.AddJob(ctx, vault.Job{Kind: vault.Say, Person: p.ID, Conversation: c.ID, To: to, Text: words, Spec: res.Spec, Words: q.When, Zone: zone.String(), Next: res.At})
	if errors.Is(err, vault.ErrTooManyJobs) {
		return told{}, failed("%s", sentenceOf(err.Error()))
	}
	if err != nil {
		return told{}, err
	}
	return told{Text: receipt(j, res.Note), ID: number(j.ID)}, nil
}}

// receipt confirms a job from its row.
func receipt(j vault.Job, note string) string {
	zone, err := time.LoadLocation(j.Zone)
	if err != nil {
		zone = time.UTC
	}
	label, recurs := "Reminder", ""
	if j.Kind == vault.Do {
		label = "Follow-up"
	}
	if j.Spec != "" {
		recurs = when.Describe(j.Spec)
	}
	return strings.TrimSpace(when.Receipt(label, j.ID, j.Next.In(zone), recurs, j.Text) + "\n" + note)
}

// timeTrouble makes what scheduler/when says about a phrase the sentence a person gets.
func timeTrouble(err error) error {
	var ask *when.AskError
	var past *when.PastError
	if errors.As(err, &ask) || errors.As(err, &past) {
		return failed("%s", sentenceOf(err.Error()))
	}
	return err
}

var changeJobsCancel = change[jobOrder]{"jobs/cancel", func(s *service, ctx context.Context, q jobOrder) (told, error) {
	p, err := s.owner(ctx)
	if err != nil {
		return told{}, err
	}
	var j vault.Job
	err = s.vault.Do(ctx, "cancel-job", func(t *vault.Tx) error {
		j, err = t.CancelJob(q.ID, p)
		return err
	})
	if err != nil {
		return told{}, missing(err, "There is no job %d that could still be cancelled; `hearth jobs` shows those to come.", q.ID)
	}
	return told{Text: "Cancelled job " + numbered(j.ID, j.Text), ID: number(j.ID)}, nil
}}

var changeJobsSnooze = change[jobOrder]{"jobs/snooze", func(s *service, ctx context.Context, q jobOrder) (told, error) {
	old, err := s.vault.Job(ctx, q.ID)
	if err != nil {
		return told{}, missing(err, "There is no job %d; `hearth jobs list --all` shows them all.", q.ID)
	}
	p, err := s.owner(ctx)
	if err != nil {
		return told{}, err
	}
	zone, err := time.LoadLocation(old.Zone)
	if err != nil {
		zone = s.zone()
	}
	res, err := when.Parse(q.When, s.now().In(zone))
	if err != nil {
		return told{}, timeTrouble(err)
	}
	if res.Spec != "" {
		return told{}, failed("A snooze is for once: %q comes again and again. `hearth jobs add` makes a new reminder.", q.When)
	}
	var j vault.Job
	err = s.vault.Do(ctx, "snooze-job", func(t *vault.Tx) error {
		j, err = t.SnoozeJob(q.ID, p, res.At, q.When, "")
		return err
	})
	if err != nil {
		return told{}, missing(err, "Job %d was cancelled; `hearth jobs add` makes a new one.", q.ID)
	}
	return told{Text: receipt(j, res.Note), ID: number(j.ID)}, nil
}}

// cmdJobs lists jobs.
func cmdJobs(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewJobs, query{Person: in.flags["person"], All: in.has("all")}, func(found []jobRow, now time.Time) error {
		var lines [][]string
		for _, j := range found {
			next := exact(inZone(j.Next, j.Zone), now)
			recurs := "once"
			if j.Spec != "" {
				recurs = when.Describe(string(j.Spec))
			}
			lines = append(lines, []string{id(j.ID), next, j.Zone, recurs, dash(j.Person), j.State, clip(j.Text, 60), clip(string(j.LastResult), 40)})
		}
		return table(in.out, "No reminders are waiting.", []string{"N", "NEXT", "ZONE", "HOW OFTEN", "WHOSE", "STATE", "TEXT", "LAST TIME"}, lines)
	})
}

// cmdJobsAdd makes a reminder. Two arguments are the time and the text; anything else is a sentence that holds both.
func cmdJobsAdd(ctx context.Context, in *invocation) error {
	order := jobOrder{Person: in.flags["person"], When: strings.Join(in.words, " ")}
	if len(in.words) == 2 {
		order.When, order.Text = in.words[0], in.words[1]
	}
	return doing(ctx, in, changeJobsAdd, order)
}

// cmdJobsCancel ends jobs.
func cmdJobsCancel(ctx context.Context, in *invocation) error {
	return doingEach(ctx, in, changeJobsCancel, func(n int64) jobOrder { return jobOrder{ID: n} })
}

// cmdJobsSnooze says a job once more.
func cmdJobsSnooze(ctx context.Context, in *invocation) error {
	n, err := in.number(0)
	if err != nil {
		return err
	}
	return doing(ctx, in, changeJobsSnooze, jobOrder{ID: n, When: strings.Join(in.words[1:], " ")})
}
