package when

import (
	_ "embed"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

//go:embed testdata/phrases.tsv
var phraseTable string

// phrase is a row of the table that decides what words mean.
type phrase struct {
	words     string
	now       time.Time
	want      string   // instant, ASK or PAST
	spec      string   // "" for one-off
	following []string // instants after the first, END where there is none
}

func phrases(t testing.TB) []phrase {
	t.Helper()
	var rows []phrase
	for line := range strings.Lines(phraseTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cols := strings.Split(strings.TrimRight(line, "\n"), "\t")
		for len(cols) < 6 {
			cols = append(cols, "")
		}
		rows = append(rows, phrase{
			words: cols[0], now: instant(t, cols[1]).In(zone(t, cols[2])), want: cols[3], spec: cols[4], following: strings.Fields(cols[5]),
		})
	}
	return rows
}

func TestPhrases(t *testing.T) {
	rows := phrases(t)
	if len(rows) < 400 {
		t.Errorf("the table has %d rows, it shall have 400 at least", len(rows))
	}
	for _, row := range rows {
		res, err := Parse(row.words, row.now)
		var question *AskError
		var past *PastError
		got := res.At.Format(time.RFC3339)
		switch {
		case errors.As(err, &question) && strings.TrimSpace(question.Question) != "":
			got = "ASK"
		case errors.As(err, &past):
			got = "PAST"
			if past.At.After(row.now) || !past.Now.Equal(row.now) {
				t.Errorf("%q: a PastError of %s, said at %s", row.words, past.At, past.Now)
			}
		case err != nil:
			t.Errorf("%q: error %T is none of the documented", row.words, err)
		}
		if got != row.want {
			t.Errorf("%q said at %s = %s (%v), want %s", row.words, row.now, got, err, row.want)
			continue
		}
		if res.Spec != row.spec {
			t.Errorf("%q said at %s recurs as %q, want %q", row.words, row.now, res.Spec, row.spec)
			continue
		}
		if (res.Spec == "") != (res.Words == "") {
			t.Errorf("%q recurs as %q in the words %q", row.words, res.Spec, res.Words)
		}
		if res.Spec == "" {
			continue
		}
		var following []string
		at := res.At
		for range row.following {
			next, ok, err := Next(res.Spec, row.now.Location(), at)
			if err != nil {
				t.Fatalf("%q: Next(%q): %v", row.words, res.Spec, err)
			}
			if !ok {
				following = append(following, "END")
				break
			}
			following = append(following, next.Format(time.RFC3339))
			at = next
		}
		if diff := cmp.Diff(row.following, following); diff != "" {
			t.Errorf("%q goes on (-want +got):\n%s", row.words, diff)
		}
	}
}
