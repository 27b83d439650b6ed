package skills

import (
	"errors"
	"fmt"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// saidLimit is how old the person's words may be to count from the moment they were written. Words that lay longer in a
// messenger's queue count from now.
const saidLimit = 24 * time.Hour

// clashLimit is how far a computed instant may lie from what the person's words say.
const clashLimit = 2 * time.Minute

// from is the moment that words about time count from.
func (c Call) from(zone *time.Location) time.Time {
	now := c.Now.In(zone)
	if c.Said.IsZero() || c.Said.After(now) || now.Sub(c.Said) > saidLimit {
		return now
	}
	return c.Said.In(zone)
}

// resolve turns a model's when into an instant and a recurrence, on the wall clock of zone. What lies in the past only
// because the run began late is kept, and says so; what was in the past when it was asked for is refused.
func (c Call) resolve(words string, zone *time.Location) (when.Result, error) {
	now, from := c.Now.In(zone), c.from(zone)
	_, absolute := when.ParseInstant(words, zone)
	if absolute {
		from = now
	}
	res, err := when.Parse(words, from)
	var ask *when.AskError
	switch {
	case errors.As(err, &ask):
		return res, errors.New(AskPrefix + ask.Question)
	case err != nil:
		return res, err
	}
	if absolute {
		if err := c.clash(res.At, zone); err != nil {
			return res, err
		}
	}
	if res.At.After(now) {
		return res, nil
	}
	if res.Spec == "" {
		res.Note = joinNotes(res.Note, "That moment passed before I came to it, so it comes at once.")
		return res, nil
	}
	next, ok, err := when.Next(res.Spec, zone, now)
	if err != nil {
		return res, err
	}
	if !ok {
		return res, errors.New(AskPrefix + "This would already be over. When shall it be?")
	}
	res.At = next
	return res, nil
}

// clash refuses an instant that says something else than the person did. Models are bad at sums; the words are not.
func (c Call) clash(at time.Time, zone *time.Location) error {
	var said []when.Result
	for _, words := range c.Words {
		if res, _, err := when.Split(words, c.from(zone)); err == nil {
			said = append(said, res)
		}
	}
	if len(said) != 1 {
		return nil
	}
	meant := said[0]
	if meant.Spec != "" {
		return fmt.Errorf("%s is one moment, but the person's words say %q; nothing is stored: call again with the person's own words as when", when.Format(at), meant.Words)
	}
	if meant.DateOnly && sameDay(meant.At, at) {
		return nil
	}
	if meant.At.Sub(at).Abs() <= clashLimit {
		return nil
	}
	return fmt.Errorf("%s is not what the person's words say, which is %s; nothing is stored: call again with the person's own words as when", when.Format(at), when.Format(meant.At))
}

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Date()
	by, bm, bd := b.In(a.Location()).Date()
	return ay == by && am == bm && ad == bd
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// label is what people call a kind of job.
func label(kind string) string {
	if kind == vault.Do {
		return "Follow-up"
	}
	return "Reminder"
}

// zoneOf gives the zone of a job; that of the call when its name means nothing on this machine.
func (c Call) zoneOf(j vault.Job) *time.Location {
	if zone, err := time.LoadLocation(j.Zone); err == nil && j.Zone != "" {
		return zone
	}
	return c.Zone
}

// receipt confirms a job from its stored row.
func (c Call) receipt(j vault.Job) string {
	if j.Next.IsZero() {
		return fmt.Sprintf("%s %d: %s", label(j.Kind), j.ID, j.Text)
	}
	recurs := ""
	if j.Spec != "" {
		recurs = when.Describe(j.Spec)
	}
	return when.Receipt(label(j.Kind), j.ID, j.Next.In(c.zoneOf(j)), recurs, j.Text)
}

// confirm is the result of a tool that stored a job: the same words for the person and for the model.
func confirm(receipt, note string) Result {
	if note != "" {
		receipt += "\n" + note
	}
	return Result{Text: Done + "The person has been shown this confirmation, so do not repeat it:\n" + receipt, Receipt: receipt}
}
