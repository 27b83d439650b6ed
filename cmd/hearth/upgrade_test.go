package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Fifty runs wait for their owner when the program is killed. The next version, with another schema, takes them all up:
// nothing is asked again, what is approved is done once, what is denied says so.
func TestUpgradeWithFiftyParkedRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t, "", "")
	h.write("hearth.yaml", strings.Replace(h.read("hearth.yaml"), "skills: {workspace:", "skills: {permissions: {write_file: ask}, workspace:", 1))
	daemon := h.daemon()
	ana := h.open("Ana")
	const parked = 50
	for n := 1; n <= parked; n++ {
		if s := ana.await(spoken(t, ana, fmt.Sprintf("m%d", n), fmt.Sprintf("save box%d to box%d.txt", n, n))); s.State != "waiting" {
			t.Fatalf("run %d is %s:\n%s", n, s.State, strings.Join(ana.all(), "\n"))
		}
	}
	daemon.kill()
	h.binary = program(t, "nextschema")
	h.daemon()
	if copies, err := filepath.Glob(filepath.Join(h.vault(), "backups", "before-schema-*.db")); err != nil || len(copies) != 1 {
		t.Fatalf("copies of the old schema: %v, %v", copies, err)
	}
	open := ask(h, viewApprovals, query{})
	if len(open) != parked {
		t.Fatalf("%d questions are open", len(open))
	}
	ana.reopen()
	for n := 1; n <= parked; n++ {
		word := "/approve"
		if n%10 == 0 {
			word = "/deny"
		}
		ana.await(spoken(t, ana, fmt.Sprintf("a%d", n), fmt.Sprintf("%s %d", word, n)))
	}
	eventually(t, "all runs have ended", func() bool {
		runs := ask(h, viewRuns, query{Limit: everything})
		return len(runs) == parked && !slices.ContainsFunc(runs, func(r runRow) bool { return r.State != "done" })
	})
	for n := 1; n <= parked; n++ {
		path := filepath.Join(h.dir, "ws", fmt.Sprintf("box%d.txt", n))
		body, err := os.ReadFile(path)
		if denied := n%10 == 0; denied && err == nil || !denied && string(body) != fmt.Sprintf("box%d", n) {
			t.Errorf("box%d.txt: %q, %v", n, body, err)
		}
		if n%10 != 0 {
			ana.hears(fmt.Sprintf("box%d.txt", n))
		}
	}
	if all := ask(h, viewApprovals, query{All: true}); len(all) != parked {
		t.Errorf("%d questions were asked", len(all))
	}
}

// spoken says something and gives its id.
func spoken(t *testing.T, c *chatter, id, words string) string {
	t.Helper()
	if err := c.say(words, id); err != nil {
		t.Fatal(err)
	}
	return id
}
