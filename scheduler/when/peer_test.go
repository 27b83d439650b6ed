package when

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"
)

// peerRules are what people say, and the same as a rule of RFC 5545. The first instant is the rule's start.
var peerRules = []struct{ words, rule string }{
	{"every day at 02:30", "FREQ=DAILY"},
	{"0 0 * * *", "FREQ=DAILY"},
	{"every weekday at 8", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
	{"every second wednesday at 14:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE"},
	{"every monday and thursday at 7:15", "FREQ=WEEKLY;BYDAY=MO,TH"},
	{"every sunday at 02:00", "FREQ=WEEKLY;BYDAY=SU"},
	{"every 3 days at 20:00", "FREQ=DAILY;INTERVAL=3"},
	{"on the 31st of every month at 9", "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1"},
	{"last working day of the month at 17:00", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
	{"first monday of every month at 10:00", "FREQ=MONTHLY;BYDAY=1MO"},
	{"last friday of every month at 18:00", "FREQ=MONTHLY;BYDAY=-1FR"},
	{"every year on 29 february at 9:00", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1"},
	{"every 3 hours between 9 and 18", "FREQ=DAILY;BYHOUR=9,12,15,18;BYMINUTE=0;BYSECOND=0"},
	{"30 1 1,15 * *", "FREQ=MONTHLY;BYMONTHDAY=1,15"},
	{"0 12 * 6-8 1-5", "FREQ=DAILY;BYMONTH=6,7,8;BYDAY=MO,TU,WE,TH,FR"},
}

// TestPeerDateutilAgrees holds ten years of recurrences in nine zones to an implementation that nobody here wrote.
func TestPeerDateutilAgrees(t *testing.T) {
	python := os.Getenv("HEARTH_TEST_DATEUTIL")
	if python == "" {
		python = "/usr/bin/python3"
		if exec.CommandContext(t.Context(), python, "-c", "import dateutil").Run() != nil {
			t.Skip("no python3 with dateutil (Debian: python3-dateutil)")
		}
	}
	var asked bytes.Buffer
	type answer struct {
		words, zone string
		at          []int64
	}
	var ours []answer
	for _, name := range []string{"UTC", "Europe/Berlin", "Europe/Lisbon", "America/New_York", "America/Santiago", "Pacific/Auckland", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"} {
		z := zone(t, name)
		now := time.Date(2026, 1, 7, 8, 0, 0, 0, z)
		end := now.AddDate(10, 0, 0)
		for _, r := range peerRules {
			res, err := Parse(r.words, now)
			if err != nil {
				t.Fatalf("%s: %v", r.words, err)
			}
			a := answer{words: r.words, zone: name}
			for at := res.At; !at.After(end); {
				a.at = append(a.at, at.Unix())
				next, ok, err := Next(res.Spec, z, at)
				if err != nil || !ok {
					t.Fatalf("%s in %s ends at %s: %v", r.words, name, at, err)
				}
				at = next
			}
			ours = append(ours, a)
			line, err := json.Marshal(map[string]string{"rule": r.rule, "zone": name, "start": wallOf(res.At, z).Format(wallLayout), "until": wallOf(end, z).Format(wallLayout)})
			if err != nil {
				t.Fatal(err)
			}
			asked.Write(append(line, '\n'))
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/peer.py")
	cmd.Stdin, cmd.Stderr = &asked, os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers, compared := json.NewDecoder(bytes.NewReader(said)), 0
	for _, a := range ours {
		var theirs []int64
		if err := answers.Decode(&theirs); err != nil {
			t.Fatal(err)
		}
		if len(theirs) != len(a.at) {
			t.Errorf("%s in %s: %d instants, dateutil has %d", a.words, a.zone, len(a.at), len(theirs))
		}
		for i := range min(len(theirs), len(a.at)) {
			if theirs[i] != a.at[i] {
				t.Errorf("%s in %s: %s, dateutil says %s", a.words, a.zone, time.Unix(a.at[i], 0).In(zone(t, a.zone)), time.Unix(theirs[i], 0).In(zone(t, a.zone)))
				break
			}
		}
		compared += len(a.at)
	}
	t.Logf("%d instants", compared)
}
