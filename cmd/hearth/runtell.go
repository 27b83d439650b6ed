package main

import (
	"fmt"
	"strings"
	"time"

	"hearth/gateways/terminal"
)

// The story of a run as a person reads it: no line is wider than a terminal, everything stands in the order in which it
// happened, and what a call led to stands under it.

const (
	storyWidth = 80
	// storyLines is how much of one text is shown; --json shows all of it. A question's arguments are never cut: they are what was decided on.
	storyLines = 30
)

type teller struct {
	b   strings.Builder
	now time.Time
	run runStory
}

// tellRun writes the story.
func tellRun(r runStory, now time.Time) string {
	t := &teller{now: now, run: r}
	t.head()
	shown := 0
	for _, s := range r.Steps {
		for shown < len(r.Messages) && r.Messages[shown].Step != nil && *r.Messages[shown].Step <= s.N {
			t.message(r.Messages[shown])
			shown++
		}
		t.step(s)
	}
	for _, m := range r.Messages[shown:] {
		t.message(m)
	}
	for _, a := range r.Approvals {
		if a.Call == 0 {
			t.blank()
			t.question(0, a)
		}
	}
	for _, s := range r.Sends {
		t.send(s)
	}
	return t.b.String()
}

func (t *teller) blank() { t.b.WriteByte('\n') }

// put writes a text, wrapped and indented by so many columns.
func (t *teller) put(by int, format string, args ...any) {
	margin := strings.Repeat(" ", by)
	for line := range strings.SplitSeq(terminal.Format(fmt.Sprintf(format, args...), storyWidth-by), "\n") {
		t.b.WriteString(strings.TrimRight(margin+line, " "))
		t.blank()
	}
}

// quote is put for what somebody or something said, cut when it is long.
func (t *teller) quote(by int, words string) {
	lines := strings.Split(terminal.Format(strings.TrimRight(words, "\n"), storyWidth-by), "\n")
	if over := len(lines) - storyLines; over > 1 {
		lines = append(lines[:storyLines], fmt.Sprintf("… and %d more lines: --json shows them", over))
	}
	t.put(by, "%s", strings.Join(lines, "\n"))
}

func (t *teller) head() {
	r := t.run
	first := fmt.Sprintf("Run %d for %s, begun by a %s, %s", r.ID, dash(r.Person), r.Trigger, r.State)
	if r.Reason != "" {
		first += fmt.Sprintf(" (%s)", r.Reason)
	}
	t.put(0, "%s", first)
	t.put(0, "Queued %s, started %s, ended %s (%s)", exact(r.Queued, t.now), exact(r.Started, t.now), exact(r.Ended, t.now), r.Zone)
	replies := 0
	for _, s := range r.Steps {
		if s.Kind != "note" {
			replies++
		}
	}
	t.put(0, "%s, %s, %d tokens in, %d out, cost %s, model %s%s", plural(replies, "step"), plural(len(r.Calls), "call"), r.TokensIn, r.TokensOut, price(r.USD), dash(r.Model), worked(r.WorkedMS))
	if r.Job != 0 {
		t.put(0, "Job %d was due %s.", r.Job, exact(r.Due, t.now))
	}
	if r.Input != "" {
		t.blank()
		t.put(0, "Goal:")
		t.quote(2, string(r.Input))
	}
}

func worked(ms int64) string {
	if ms == 0 {
		return ""
	}
	return ", at work for " + took(time.Duration(ms)*time.Millisecond)
}

// took writes a duration as precisely as a person wants it.
func took(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// lasted writes how long something took; "" when it is not known.
func lasted(ms *int64) string {
	if ms == nil {
		return ""
	}
	return ", took " + took(time.Duration(*ms)*time.Millisecond)
}

func (t *teller) message(m messageRow) {
	t.blank()
	what := ""
	if m.Kind != "text" {
		what = " (" + m.Kind + ")"
	}
	t.put(0, "%s, %s%s:", dash(m.Person), exact(m.Received, t.now), what)
	t.quote(2, m.Text)
}

func (t *teller) step(s stepRow) {
	t.blank()
	if s.Kind == "note" {
		t.put(0, "Step %d, %s, the program to the model:", s.N+1, exact(s.Ended, t.now))
	} else {
		t.put(0, "Step %d, %s%s: %s, %d tokens in, %d out, %s", s.N+1, exact(s.Ended, t.now), lasted(s.TookMS), dash(s.Model), s.TokensIn, s.TokensOut, price(s.USD))
	}
	if s.Text != "" {
		t.quote(2, s.Text)
	}
	for _, c := range t.run.Calls {
		if c.Step == s.N {
			t.call(c)
		}
	}
}

func (t *teller) call(c callRow) {
	when := ""
	if !c.Ended.IsZero() {
		when = ", " + exact(c.Ended, t.now) + lasted(c.TookMS)
	}
	t.put(2, "Call %d: %s (%s): %s%s", c.ID, c.Tool, c.Effect, c.State, when)
	t.put(4, "%s", c.Arguments)
	for _, a := range t.run.Approvals {
		if int64(a.Call) == c.ID {
			t.question(4, a)
		}
	}
	if c.Result != "" {
		t.put(4, "Result:")
		t.quote(6, string(c.Result))
	}
	if c.Receipt != "" && c.Receipt != c.Result {
		t.put(4, "Receipt:")
		t.quote(6, string(c.Receipt))
	}
}

// question tells who was asked what and when, and who decided what and when.
func (t *teller) question(by int, a askedRow) {
	t.put(by, "Question %d (%s) to %s, asked %s: %s", a.ID, a.Kind, dash(a.AskedOf), exact(a.Asked, t.now), dash(a.Question))
	switch {
	case a.State == "open" && !a.Expires.IsZero():
		t.put(by+2, "open: %s; expires %s", strings.Join(a.Choices, ", "), exact(a.Expires, t.now))
	case a.State == "open":
		t.put(by+2, "open: %s", strings.Join(a.Choices, ", "))
	case a.DecidedBy == "":
		t.put(by+2, "%s %s; nobody decided", a.State, exact(a.Decided, t.now))
	default:
		t.put(by+2, "%s %s by %s: %s", a.State, exact(a.Decided, t.now), a.DecidedBy, dash(a.Choice))
	}
}

func (t *teller) send(s sendRow) {
	t.blank()
	about := []string{fmt.Sprintf("Message %d: %s to %s, %s", s.ID, s.Class, dash(s.Gateway), s.State)}
	if s.Sent.IsZero() {
		about = append(about, "queued "+exact(s.Created, t.now))
	} else {
		about = append(about, exact(s.Sent, t.now))
	}
	if s.Attempts != 1 {
		about = append(about, fmt.Sprintf("%d attempts", s.Attempts))
	}
	if s.Ref != "" {
		about = append(about, "its id there is "+string(s.Ref))
	}
	if s.Marked {
		about = append(about, "marked as a possible repeat")
	}
	t.put(0, "%s", strings.Join(about, ", "))
	if s.Error != "" {
		t.put(2, "last error: %s", s.Error)
	}
	t.quote(2, s.Text)
}
