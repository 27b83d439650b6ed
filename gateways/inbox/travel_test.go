package inbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// traveller is a world in which Ben, of Berlin, has one reminder of each kind, and one in a group.
func traveller(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, text := range []string{
		"/remind every day at 8, pills", "/remind tomorrow at 9, dentist", "/remind in 3 hours, tea", "/remind every 20 minutes, eyes",
		"/remind 2026-12-06T09:00:00+01:00, call", "/remind every second wednesday at 14:00, bins", "/remind today at 17:00, shop",
	} {
		w.ask(ben, text)
	}
	w.accept(w.inGroup(ben, "/remind every monday at 18:00, family"))
	return w
}

// clocks gives Ben's reminders as "number next zone", by number.
func (w *world) clocks() string {
	w.t.Helper()
	jobs := w.jobs("Ben")
	slices.SortFunc(jobs, func(a, b vault.Job) int { return int(a.ID - b.ID) })
	var out []string
	for _, j := range jobs {
		out = append(out, fmt.Sprintf("%d %s %s", j.ID, j.Next.UTC().Format("2 15:04"), j.Zone))
	}
	return strings.Join(out, "\n")
}

const (
	atHome = `1 5 07:00 Europe/Berlin
2 5 08:00 Europe/Berlin
3 4 12:00 Europe/Berlin
4 4 09:20 Europe/Berlin
5 6 08:00 Europe/Berlin
6 9 13:00 Europe/Berlin
7 4 16:00 Europe/Berlin
8 7 17:00 Europe/Berlin`
	inTokyo = `1 4 23:00 Asia/Tokyo
2 5 00:00 Asia/Tokyo
3 4 12:00 Europe/Berlin
4 4 09:20 Europe/Berlin
5 6 08:00 Europe/Berlin
6 9 05:00 Asia/Tokyo
7 4 16:00 Europe/Berlin
8 7 17:00 Europe/Berlin`
)

func TestTravelMovesWhatGoesByTheClockOnTheWall(t *testing.T) {
	for _, by := range []string{"typing", "a button"} {
		w := traveller(t)
		if got := w.clocks(); got != atHome {
			t.Fatalf("at home:\n%s", got)
		}
		in := w.message(ben, "/timezone tokyo")
		parts := w.hand(in)
		if got := said(parts); !strings.Contains(got, "\n4 reminders go by the clock of another zone:\n") || strings.Contains(got, "tea") || strings.Contains(got, "family") {
			t.Errorf("asked: %q", got)
		}
		if got := w.clocks(); got != atHome {
			t.Errorf("before the answer:\n%s", got)
		}
		q := parts[len(parts)-1]
		if len(q.Buttons) != 2 || q.Buttons[0] != (vault.Button{Label: "Move", Data: "z:" + in.ID + ":move"}) || q.Buttons[1].Label != "Keep" {
			t.Fatalf("buttons: %+v", q.Buttons)
		}
		if got := said(w.hand(w.press(ana, q.Buttons[0].Data))); got != unknownButton {
			t.Errorf("somebody else: %q", got)
		}
		answer := w.message(ben, "/timezone Move")
		if by == "a button" {
			answer = w.press(ben, q.Buttons[0].Data)
		}
		got := said(w.hand(answer))
		if !strings.HasPrefix(got, "3 reminders go by the clock of Asia/Tokyo now.\n1 · every day at 08:00, next Sat 5 Dec 2026, 08:00 (Asia/Tokyo): pills") ||
			!strings.HasSuffix(got, "1 reminder stays: its time has passed there already.\n7 · Fri 4 Dec 2026, 17:00 (Europe/Berlin): shop") {
			t.Errorf("%s: %q", by, got)
		}
		if got := w.clocks(); got != inTokyo {
			t.Errorf("%s:\n%s", by, got)
		}
		if got := w.outcome(q.Key); got != "✓ moved to Asia/Tokyo" {
			t.Errorf("outcome: %q", got)
		}
		w.hand(answer) // delivered again
		w.want(ben, "/remind tomorrow at 9, sushi", "Reminder 9: Sat 5 Dec 2026, 09:00 (Asia/Tokyo): sushi")
		if got := said(w.hand(w.press(ben, q.Buttons[1].Data))); !strings.HasPrefix(got, "That is answered already: ✓ moved to Asia/Tokyo.") {
			t.Errorf("pressed again: %q", got)
		}
		// And home again.
		w.now = w.now.Add(time.Minute)
		w.ask(ben, "/timezone berlin")
		w.ask(ben, "/timezone move")
		if got, _, _ := strings.Cut(w.clocks(), "\n9"); got != atHome {
			t.Errorf("home again:\n%s", got)
		}
	}
}

func TestTravelKeeps(t *testing.T) {
	w := traveller(t)
	w.ask(ben, "/timezone tokyo")
	first := w.parts()[len(w.parts())-1]
	parts := w.hand(w.message(ben, "/timezone lima"))
	if got := w.outcome(first.Key); got != "closed: the zone was set again" {
		t.Errorf("the first question: %q", got)
	}
	q := parts[len(parts)-1]
	if got := said(w.hand(w.press(ben, q.Buttons[1].Data))); got != "4 reminders stay on the clock they were made for; /jobs shows the zone. New ones go by America/Lima." {
		t.Errorf("keep: %q", got)
	}
	if got := w.clocks(); got != atHome {
		t.Errorf("kept:\n%s", got)
	}
	if got := w.outcome(q.Key); got != "kept" {
		t.Errorf("outcome: %q", got)
	}
	if got := w.ask(ben, "/jobs"); !strings.Contains(got, "1 · every day at 08:00, next Sat 5 Dec 2026, 08:00 (Europe/Berlin): pills") {
		t.Errorf("/jobs: %q", got)
	}
	w.want(ana, "/timezone move", "There is nothing to move: your zone is Europe/Lisbon, and no reminder of yours goes by another clock.")
}

// Others read along in a group: there the question has no words of the reminders.
func TestTravelIsDiscreetInAGroup(t *testing.T) {
	w := traveller(t)
	got := said(w.hand(w.inGroup(ben, "/timezone tokyo"))) + said(w.hand(w.inGroup(ben, "/timezone move")))
	if !strings.Contains(got, "4 reminders go by the clock of another zone.\nShall they move") || !strings.Contains(got, "3 reminders go by the clock of Asia/Tokyo now.") || strings.Contains(got, "pills") {
		t.Errorf("%q", got)
	}
	if got := w.clocks(); got != inTokyo {
		t.Errorf("moved:\n%s", got)
	}
}

// What was put off for some minutes is no time of day any more.
func TestASnoozedReminderDoesNotTravel(t *testing.T) {
	w := newWorld(t)
	w.ask(ben, "/remind tomorrow at 9, dentist")
	w.ask(ben, "/snooze 1 30")
	if got := w.ask(ben, "/timezone tokyo"); strings.Contains(got, "Shall") {
		t.Errorf("asked: %q", got)
	}
	w.ask(ben, "/timezone berlin")
	w.ask(ben, "/snooze 1 until monday 9")
	if got := w.ask(ben, "/timezone tokyo"); !strings.Contains(got, "Shall it move") {
		t.Errorf("not asked: %q", got)
	}
}

func FuzzPressedTravel(f *testing.F) {
	for _, seed := range []string{"z:12:move", "z:12:keep", "z::move", "z:a:b:keep", "z:", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if message, _, ok := pressedTravel(data); ok && (message == "" || !strings.HasPrefix(data, "z:"+message+":")) {
			t.Errorf("%q gives %q", data, message)
		}
	})
}
