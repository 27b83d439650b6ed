package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// setClock writes the test clock's file, as a whole or in place.
func (h *home) setClock(instant string) {
	h.t.Helper()
	next := h.write("clock.new", instant+"\n")
	if err := os.Rename(next, filepath.Join(h.dir, "clock")); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) clocked(instant string) *home {
	h.setClock(instant)
	h.env = append(h.env, clockVariable+"="+filepath.Join(h.dir, "clock"))
	return h
}

func TestTestClockIsSeenAtOnceAndWakesTheScheduler(t *testing.T) {
	h := newHome(t, "", "").clocked("2026-03-10T08:00:00Z")
	daemon := h.daemon()
	ana := h.open("Ana")
	if !strings.Contains(daemon.log.String(), "RUNNING ON A TEST CLOCK") {
		t.Error("it is not announced")
	}
	h.ok("jobs", "add", "tomorrow at 9", "stretch")
	jobs := ask(h, viewJobs, query{})
	if len(jobs) != 1 || jobs[0].Next.Format(time.RFC3339) != "2026-03-11T09:00:00Z" {
		t.Fatalf("jobs: %+v", jobs)
	}
	h.setClock("2026-03-11T08:59:59Z")
	ana.hears("stretch")
	now := ask(h, viewStatus, query{}).Now
	if d := now.Sub(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)); d < -time.Second || d > time.Minute {
		t.Errorf("it is %v", now)
	}
	// Written in place, twice within a tick of the file system's clock.
	h.write("clock", "2026-03-12T00:00:00Z")
	h.write("clock", "2026-03-12T00:00:00.5Z\n")
	eventually(t, "the edit in place is seen", func() bool { return ask(h, viewStatus, query{}).Now.Day() == 12 })
	// Half a save, or none, changes nothing.
	h.write("clock", "")
	if err := os.Remove(filepath.Join(h.dir, "clock")); err != nil {
		t.Fatal(err)
	}
	if day := ask(h, viewStatus, query{}).Now.Day(); day != 12 {
		t.Errorf("without its file the clock says day %d", day)
	}
}

func TestUnreadableTestClockIsRefused(t *testing.T) {
	h := newHome(t, "", "")
	for name, body := range map[string]string{"missing": "", "words": "tomorrow", "no offset": "2026-03-10T08:00:00"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(h.dir, "none")
			if body != "" {
				path = h.write("bad", body)
			}
			p := h.begin([]string{clockVariable + "=" + path}, "run")
			if code := p.wait(5 * time.Second); code != 2 || !strings.Contains(p.log.String(), "HEARTH_TEST_CLOCK names "+path) {
				t.Errorf("exit %d: %s", code, p.log)
			}
		})
	}
}

// The clock stands two months before what was seen: nothing fires, doctor says why, and a person can say that it is right.
func TestSCH31ClockOfThePastIsNamedAndCanBeAccepted(t *testing.T) {
	h := newHome(t, "", "").clocked("2026-06-01T08:00:00Z")
	h.ok("jobs", "add", "in 1 hour", "stretch")
	h.setClock("2026-01-01T00:00:30Z")
	daemon := h.daemon()
	ana := h.open("Ana")
	code, out, _ := h.run("doctor")
	if code != 1 || !strings.Contains(out, "clock: it says Thu 1 Jan 2026, 00:00 (Europe/Lisbon), and Mon 1 Jun 2026, 09:00 (Europe/Lisbon) was seen already") || !strings.Contains(out, "--accept-clock") {
		t.Errorf("doctor exits %d:\n%s", code, out)
	}
	h.setClock("2026-06-01T09:00:01Z")
	ana.hears("stretch")
	daemon.term()
	h.setClock("2026-01-01T00:00:30Z")
	if said := h.ok("doctor", "--accept-clock"); !strings.Contains(said, "Taken as right: Thu 1 Jan 2026, 00:00 (Europe/Lisbon)") {
		t.Errorf("it says %q", said)
	}
	if out := h.ok("doctor"); strings.Contains(out, "wrong") {
		t.Errorf("afterwards doctor says\n%s", out)
	}
}

func TestClockIsTheFilesInstantPlusItsAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock")
	if err := os.WriteFile(path, []byte("2026-03-10T08:00:00+01:00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	c, err := newClock(path)
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	if got := c.now(); got.Sub(want) < 0 || got.Sub(want) > time.Minute {
		t.Errorf("it is %v, not %v", got, want)
	}
	if fmt.Sprint(c.now().Location()) == "Local" {
		t.Error("it is in the machine's zone")
	}
}
