package scheduler

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// nothingToTell is the result of a brief that was not sent.
const nothingToTell = "nothing to tell"

// brief writes a person's daily brief from rows, without a model: "" when there is nothing in it.
func (s *Scheduler) brief(ctx context.Context, j vault.Job) (string, error) {
	zone, err := time.LoadLocation(j.Zone)
	if err != nil || j.Zone == "" {
		zone = s.now().Location()
	}
	now := s.now().In(zone)
	b, err := s.vault.Brief(ctx, j, time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, zone))
	if err != nil || b.Empty() {
		return "", err
	}
	lines := []string{"Your brief for " + now.Format("Mon 2 Jan 2006") + "."}
	section := func(title string, n int, line func(i int) string) {
		if n > 0 {
			lines = append(lines, title)
		}
		for i := range n {
			lines = append(lines, "- "+line(i))
		}
	}
	section("Due today:", len(b.Due), func(i int) string {
		d := b.Due[i]
		return fmt.Sprintf("%s: %s (%s)", clock(d, now), short(d.Text), number(d))
	})
	section("Waiting for you:", len(b.Waiting), func(i int) string {
		return fmt.Sprintf("%s (/answer %d CHOICE)", short(b.Waiting[i].Question), b.Waiting[i].ID)
	})
	section("Blocked:", len(b.Blocked)+len(b.Letters), func(i int) string {
		if i < len(b.Blocked) {
			d := b.Blocked[i]
			state := d.LastResult
			if d.State == vault.JobPaused {
				state = strings.TrimSuffix("paused: "+state, ": ")
			}
			return fmt.Sprintf("%s (%s): %s", short(d.Text), number(d), short(state))
		}
		p := b.Letters[i-len(b.Blocked)]
		return fmt.Sprintf("not delivered: %s (`hearth outbox retry %d` tries again, `hearth outbox drop %d` gives it up)", short(p.Text), p.ID, p.ID)
	})
	return strings.Join(lines, "\n"), nil
}

// clock is a job's time of day where its person is told of it, with the zone where its own clock is another one.
func clock(j vault.Job, now time.Time) string {
	if j.Zone == now.Location().String() {
		return j.Next.In(now.Location()).Format("15:04")
	}
	return when.Format(j.Next.In(now.Location()))
}

func number(j vault.Job) string {
	if j.Kind == vault.Do {
		return fmt.Sprintf("follow-up %d", j.ID)
	}
	return fmt.Sprintf("reminder %d", j.ID)
}

// short makes a text one line of a list.
func short(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return string(r)
}
