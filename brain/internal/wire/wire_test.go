package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hearth/brain"
)

func TestCallsAndResultsStayPaired(t *testing.T) {
	calls := func(ids ...string) brain.Msg {
		m := brain.Msg{Role: "assistant"}
		for _, id := range ids {
			m.Calls = append(m.Calls, brain.ToolCall{ID: id, Name: "look", Args: json.RawMessage("{}")})
		}
		return m
	}
	result := func(id, text string) brain.Msg {
		return brain.Msg{Role: "tool", CallID: id, Tool: "look", Text: text}
	}
	user := brain.Msg{Role: "user", Text: "hi"}
	lost := "The result of this call is lost."
	for name, c := range map[string]struct{ in, want []brain.Msg }{
		"in order":            {[]brain.Msg{user, calls("a", "b"), result("a", "1"), result("b", "2"), user}, []brain.Msg{user, calls("a", "b"), result("a", "1"), result("b", "2"), user}},
		"out of order":        {[]brain.Msg{calls("a", "b"), result("b", "2"), result("a", "1")}, []brain.Msg{calls("a", "b"), result("a", "1"), result("b", "2")}},
		"one lost":            {[]brain.Msg{calls("a", "b"), result("b", "2")}, []brain.Msg{calls("a", "b"), result("a", lost), result("b", "2")}},
		"all lost":            {[]brain.Msg{calls("a"), user}, []brain.Msg{calls("a"), result("a", lost), user}},
		"an orphan":           {[]brain.Msg{user, result("a", "1"), user}, []brain.Msg{user, user}},
		"an orphan in a pair": {[]brain.Msg{calls("a"), result("x", "9"), result("a", "1")}, []brain.Msg{calls("a"), result("a", "1")}},
		"twice":               {[]brain.Msg{calls("a"), result("a", "1"), result("a", "2")}, []brain.Msg{calls("a"), result("a", "1")}},
		"too late":            {[]brain.Msg{calls("a"), user, result("a", "1")}, []brain.Msg{calls("a"), result("a", lost), user}},
	} {
		if diff := cmp.Diff(c.want, Paired(c.in), cmpopts.IgnoreUnexported(brain.Msg{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestArgumentsAsTextOrObject(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`, ``: `null`, `null`: `null`, `"x"`: `"x"`, ` [1] `: `[1]`, `"{\"a\":"`: `"{\"a\":"`,
	} {
		if got := string(ReadArgs(json.RawMessage(in))); got != want {
			t.Errorf("%s became %s, not %s", in, got, want)
		}
	}
}
