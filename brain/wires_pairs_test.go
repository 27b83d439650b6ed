package brain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"hearth/brain"
)

// A history in which calls and results do not fit together, however that came about, reaches no server: each wire leaves an
// orphan out and answers a call that nothing answers.
func TestNoWireCarriesAHalfPair(t *testing.T) {
	look := func(ids ...string) brain.Msg {
		m := brain.Msg{Role: "assistant", Text: "One moment."}
		for _, id := range ids {
			m.Calls = append(m.Calls, brain.ToolCall{ID: id, Name: "look", Args: json.RawMessage(`{}`)})
		}
		return m
	}
	req := brain.Request{
		System: "You are Hearth.", Tools: []brain.ToolSpec{{Name: "look", About: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
		Messages: []brain.Msg{
			{Role: "user", Text: "hello"},
			{Role: "tool", CallID: "call-1", Tool: "look", Text: "an orphan"},
			look("call-2", "call-3"),
			{Role: "tool", CallID: "call-3", Tool: "look", Text: "the second"},
			{Role: "user", Text: "and now?"},
		},
	}
	for _, wire := range wires {
		synctest.Test(t, func(t *testing.T) {
			s, m := newServer(t, wire, reply{text: "Hello."})
			if _, err := m.Generate(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			one := s.asked[0]
			if strings.Contains(one.text, "an orphan") || !strings.Contains(one.text, "The result of this call is lost.") || len(one.results) != 2 {
				t.Errorf("%s gets %s", wire, one.text)
			}
		})
	}
}
