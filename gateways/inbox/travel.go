package inbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// Who travels is asked what the reminders do that go by the clock on the wall. Those of a group stay: it goes by the clock of
// its own place.

// travelKeys begins the keys of the questions to a person.
func (r *request) travelKeys() string { return "zone:" + strconv.FormatInt(r.from.ID, 10) + ":" }

// travelKey is the key of the question that a message led to.
func (r *request) travelKey(message string) string {
	return r.travelKeys() + r.in.Gateway + ":" + r.in.Chat + ":" + message
}

// pressedTravel reads the data of a button under the question: "z:123:move" answers the one that message 123 led to.
func pressedTravel(data string) (message string, move, ok bool) {
	rest, ok := strings.CutPrefix(data, "z:")
	at := strings.LastIndexByte(rest, ':')
	if !ok || at < 1 {
		return "", false, false
	}
	choice := rest[at+1:]
	return rest[:at], choice == "move", choice == "move" || choice == "keep"
}

// maxPress is the longest data of a button, in bytes.
const maxPress = 64

// elsewhere gives the person's own reminders that go by the clock of another zone than theirs.
func (r *request) elsewhere() ([]vault.Job, error) {
	all, err := r.i.opt.Vault.Jobs(r.ctx, r.from.ID, true, maxListed)
	if err != nil {
		return nil, err
	}
	var out []vault.Job
	for _, j := range all {
		old := zoneOf(j, r.zone)
		if j.Next.IsZero() || old.String() == r.zone.String() || !when.FollowsClock(j.Words, j.Spec, j.Created.In(old), r.zone) {
			continue
		}
		talk, err := r.i.opt.Vault.Conversation(r.ctx, j.Conversation)
		if err != nil {
			return nil, err
		}
		if talk.Kind != vault.Group {
			out = append(out, j)
		}
	}
	return out, nil
}

// listedTravel is how many reminders the question shows.
const listedTravel = 10

// askTravel asks what is to become of the reminders that go by another clock, behind what there is to say.
func (r *request) askTravel(words string) ([]string, error) {
	if err := r.tx.AnswerAll(r.travelKeys(), "closed: the zone was set again"); err != nil {
		return nil, err
	}
	jobs, err := r.elsewhere()
	if err != nil || len(jobs) == 0 {
		return []string{words}, err
	}
	lines := []string{words, plural(len(jobs), "reminder goes by the clock of another zone", "reminders go by the clock of another zone") + ":"}
	if !r.private() {
		lines[1] = strings.TrimSuffix(lines[1], ":") + "."
	}
	lines = append(lines, r.travelLines(jobs)...)
	what, leaves := "they", "them where they are"
	if len(jobs) == 1 {
		what, leaves = "it", "it where it is"
	}
	lines = append(lines, fmt.Sprintf("Shall %s move to the same time of day in %s? /timezone move does that, /timezone keep leaves %s.", what, r.zone, leaves))
	r.askKey = r.travelKey(r.in.ID)
	if data := "z:" + r.in.ID + ":"; len(data)+len("move") <= maxPress {
		r.buttons = []vault.Button{{Label: "Move", Data: data + "move"}, {Label: "Keep", Data: data + "keep"}}
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// travelLines lists reminders, where nobody else reads along.
func (r *request) travelLines(jobs []vault.Job) []string {
	if !r.private() {
		return nil
	}
	var lines []string
	for n, j := range jobs {
		if n == listedTravel {
			return append(lines, fmt.Sprintf("… and %d more", len(jobs)-n))
		}
		lines = append(lines, r.jobLine(j))
	}
	return lines
}

// travelPressed is the answer by a button.
func (r *request) travelPressed(message string, move bool) ([]string, error) {
	part, err := r.tx.Asked(r.travelKey(message))
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return say(unknownButton)
	case err != nil:
		return nil, err
	case part.Outcome != "":
		return say("That is answered already: %s. /timezone move or /timezone keep still works.", part.Outcome)
	}
	return r.travel(move)
}

// travel moves the reminders to the person's zone, or leaves them where they are.
func (r *request) travel(move bool) ([]string, error) {
	jobs, err := r.elsewhere()
	if err != nil {
		return nil, err
	}
	outcome := "kept"
	if move {
		outcome = "✓ moved to " + r.zone.String()
	}
	if err := r.tx.AnswerAll(r.travelKeys(), outcome); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return say("There is nothing to move: your zone is %s, and no reminder of yours goes by another clock.", r.zone)
	}
	if !move {
		words := plural(len(jobs), "reminder stays on the clock it was made for", "reminders stay on the clock they were made for")
		return say("%s; /jobs shows the zone. New ones go by %s.", words, r.zone)
	}
	var moved, stayed []vault.Job
	for _, j := range jobs {
		next, err := r.moved(j)
		if err != nil {
			return nil, err
		}
		now := j
		if !next.IsZero() {
			now, err = r.tx.MoveJob(j, r.zone.String(), next)
		}
		switch {
		case errors.Is(err, vault.ErrNotFound): // it has come meanwhile
		case err != nil:
			return nil, err
		case next.IsZero():
			stayed = append(stayed, j)
		default:
			moved = append(moved, now)
		}
	}
	var lines []string
	if len(moved) > 0 {
		lines = append(lines, plural(len(moved), "reminder goes", "reminders go")+" by the clock of "+r.zone.String()+" now.")
		lines = append(lines, r.travelLines(moved)...)
	}
	if len(stayed) > 0 {
		lines = append(lines, plural(len(stayed), "reminder stays: its time has passed there already.", "reminders stay: their time has passed there already."))
		lines = append(lines, r.travelLines(stayed)...)
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// moved is when a reminder comes on the clock of the person's zone; zero when that has passed.
func (r *request) moved(j vault.Job) (time.Time, error) {
	if j.Spec == "" {
		at := when.OnClockOf(r.zone, j.Next.In(zoneOf(j, r.zone)))
		if !at.After(r.now) {
			return time.Time{}, nil
		}
		return at, nil
	}
	at, ok, err := when.Next(j.Spec, r.zone, r.now)
	if err != nil || !ok {
		return time.Time{}, err
	}
	return at, nil
}
