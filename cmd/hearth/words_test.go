package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"hearth/config"
	"hearth/vault"
)

func TestEveryErrorHasItsExitCodeAndSentence(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{usage("So %s.", "not"), 2, "So not."},
		{failed("It failed."), 1, "It failed."},
		{fmt.Errorf("wrapped: %w", failed("It failed.")), 1, "It failed."},
		{&failure{code: 4}, 4, ""},
		{&vault.LockedError{Dir: "/v", Holder: "hearth run, process 7"}, 3, "The vault in /v is in use by hearth run, process 7: end that first, or use another vault.dir."},
		{fmt.Errorf("open: %w", &vault.NewerError{Path: "/v/vault.db", Have: 9, Can: 2}), 4, "/v/vault.db was written by a newer Hearth (its schema is 9, this program knows up to 2): install the newer program. Nothing was changed."},
		{&vault.DamagedError{Path: "/v/vault.db", Err: errors.New("no header")}, 4, "/v/vault.db is damaged (no header). Nothing more is written to it. Bring back a copy with `hearth restore FILE`; the folder backups beside it may hold one. The damaged file is kept aside then."},
		{&config.Error{Problems: []config.Problem{{File: "a.yaml", Line: 3, Key: "k", Text: "is wrong"}, {File: "a.yaml", Line: 4, Text: "so is this"}}}, 2, "a.yaml:3: k: is wrong\na.yaml:4: so is this"},
		{vault.ErrNoFTS5, 2, "This binary was built without full-text search: build it with `make build` or `go build -tags sqlite_fts5 ./cmd/hearth`."},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 1, "The disk is full: free some space and try again."},
		{fmt.Errorf("say: %w", &vault.FullError{Dir: "/v", Err: syscall.ENOSPC}), 1, "The disk of /v is full: free some space."},
		{&vault.FullError{Dir: "/v", ReadOnly: true, Err: syscall.EROFS}, 1, "The disk of /v has become read-only, as happens when it fails: look at it, and mount it for writing again."},
		{context.Canceled, 1, "Interrupted."},
		{errors.New("read row: no idea"), 1, "It did not work: read row: no idea."},
	} {
		if code, sentence := explain(c.err); code != c.code || sentence != c.want {
			t.Errorf("%v: %d %q", c.err, code, sentence)
		}
	}
}

func TestWords(t *testing.T) {
	now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	noon := stamp{time.Date(2026, 3, 10, 12, 0, 30, 0, time.UTC)}
	for got, want := range map[string]string{
		nearest("statsu", []string{"status", "jobs"}):    "status",
		nearest("JOBS", []string{"status", "jobs"}):      "jobs",
		nearest("xyzzy", []string{"status", "jobs"}):     "",
		nearest("m", []string{"n", "status"}):            "n",
		clip("one\n two\tthree", 20):                     "one two three",
		clip("häuser und gärten", 7):                     "häuser…",
		clip("a \x1b]0;title\x07b \x1b[2Jc \u202ed", 20): "a b c d",
		list(nil) + "|":                                              "|",
		list([]string{"a"}) + "|":                                    "a|",
		list([]string{"a", "b", "c"}):                                "a, b and c",
		plural(1, "job") + plural(2, "job"):                          "1 job2 jobs",
		sentenceOf("read it"):                                        "Read it.",
		sentenceOf("already one. "):                                  "Already one.",
		short(stamp{}, now) + exact(stamp{}, now):                    "--",
		short(noon, now):                                             "Tue 10 Mar, 12:00",
		exact(noon, now):                                             "Tue 10 Mar, 12:00:30",
		exact(inZone(noon, "Asia/Tokyo"), now):                       "Tue 10 Mar, 21:00:30",
		price(nil) + price(dollars(0.5, true)):                       "not known$0.5000",
		fmt.Sprint(inZone(noon, "No/Where") == noon, dash(text(""))): "true-",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
