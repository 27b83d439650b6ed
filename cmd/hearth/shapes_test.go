package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/config"
	"hearth/gateways"
	"hearth/vault"
)

// keys gives the field names of an object, in their order.
func keys(t *testing.T, object []byte) (names []string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(object))
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			return names
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth == 1 {
				names = append(names, token)
				var value json.RawMessage
				if err := dec.Decode(&value); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// contract reads the fields of a listing from the line of docs/contract.md that tells them, as "- jobs: `id kind(…) …`".
func contract(t *testing.T, listing string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?m)(?:^- |; )" + listing + ": `([^`]+)`").FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/contract.md does not tell the fields of %s", listing)
	}
	// What stands in brackets are the values.
	return strings.Fields(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(string(found[1]), ""))
}

func TestRowsHaveTheFieldsOfTheContract(t *testing.T) {
	for listing, row := range map[string]any{"jobs": jobRow{}, "memory": memoryRow{}, "runs": runRow{}, "approvals": approvalRow{}, "outbox": outboxRow{}} {
		b, err := marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(contract(t, listing), keys(t, b)); diff != "" {
			t.Errorf("%s (-contract +row):\n%s", listing, diff)
		}
	}
	b, err := marshal(runStory{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "steps", "calls", "approvals", "sends"} {
		if n := strings.Count(string(b), `"`+name+`":`); n != 1 {
			t.Errorf("runs show has %s %d times", name, n)
		}
	}
}

func TestAbsentValuesAreNullAndComeBackAsAbsent(t *testing.T) {
	b, err := marshal(jobRow{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":0,"kind":"","person":null,"conversation":null,"gateway":null,"text":"","spec":null,"zone":"","next":null,"state":"","last_due":null,"last_result":null,"created_by_run":null}`
	if string(b) != want {
		t.Errorf("it is %s", b)
	}
	if b, err = marshal(approvalRow{Choices: rows[string](nil)}); err != nil || !strings.Contains(string(b), `"arguments":null,"choices":[]`) {
		t.Errorf("it is %s, %v", b, err)
	}
	full := jobRow{ID: 1, Person: "Ana & <Co>", Next: stamp{time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)}, Conversation: 3}
	if b, err = marshal(full); err != nil || !strings.Contains(string(b), "Ana & <Co>") {
		t.Errorf("it is %s, %v", b, err)
	}
	for _, row := range []jobRow{{}, full} {
		var back jobRow
		b, err := marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(row, back); diff != "" {
			t.Error(diff)
		}
	}
}

// bench is a service on a vault of its own, whose clock stands still.
func bench(t *testing.T) *service {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 7, 1, 8, 0, 0, 0, time.UTC) }
	v, err := vault.Open(t.Context(), t.TempDir(), vault.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	err = v.SyncPeople(t.Context(), []vault.Person{{Name: "Ana", Role: vault.Owner}, {Name: "Ben", Role: vault.Member, Zone: "Asia/Tokyo"}})
	if err != nil {
		t.Fatal(err)
	}
	return &service{vault: v, now: now, zone: func() *time.Location { return zone }, model: modelRow{InUse: config.Offline}, mask: func(s string) string { return strings.ReplaceAll(s, "hunter22", "***") }}
}

func shown[A any](t *testing.T, s *service, v view[A], q query) string {
	t.Helper()
	found, err := v.do(s, t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	b, err := marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A question, its answer with always, the rule that makes, a run that fails, a part that does: every listing that the
// scripts do not reach, in the zones of the people they are about.
func TestRowsOfQuestionsRulesAndFailures(t *testing.T) {
	s := bench(t)
	ctx := t.Context()
	ben, err := s.vault.PersonNamed(ctx, "Ben")
	if err != nil {
		t.Fatal(err)
	}
	at := vault.TerminalAddress(ben.ID)
	in := vault.Inbound{Gateway: at.Gateway, Account: at.Account, Chat: at.Chat, ChatKind: vault.Private, Sender: at.Chat, ID: "m1", Kind: "text", Text: "send it", Sent: s.now()}
	if _, err := s.vault.Accept(ctx, in, ben, 0); err != nil {
		t.Fatal(err)
	}
	p, err := s.vault.Claim(ctx)
	if err != nil {
		t.Fatal(err)
	}
	step := vault.StepDone{Step: vault.Step{Model: "m", TokensIn: 7, TokensOut: 5, USD: 0.25, USDKnown: true, Started: s.now()}, Park: true, Calls: []vault.Call{{
		Tool: "send", Args: `{"text":"hi"}`, Effect: "acts", Ask: &vault.Question{Text: "Send it?", Choices: []string{"approve", "deny", "always"}},
	}}}
	if _, err := s.vault.SaveStep(ctx, p.Run.ID, step); err != nil {
		t.Fatal(err)
	}
	want := `[{"id":1,"run":1,"call":1,"kind":"call","tool":"send","arguments":{"text":"hi"},"choices":["approve","deny","always"],"state":"open","asked":"2026-07-01T09:00:00+01:00","decided":null,"decided_by":null,"choice":null}]`
	if got := shown(t, s, viewApprovals, query{}); got != want {
		t.Errorf("the open question: %s", got)
	}
	status := shown(t, s, viewStatus, query{})
	for _, want := range []string{`"approvals":1`, `"state":"waiting"`, `"spent_today_usd":0.25`, `"outbox":{"waiting":1,`, `"running":false`} {
		if !strings.Contains(status, want) {
			t.Errorf("the status has no %s: %s", want, status)
		}
	}

	for _, wrong := range []struct {
		decision
		want string
	}{
		{decision{ID: 1, Choice: "maybe"}, "Question 1 takes one of: approve, deny, always."},
		{decision{ID: 1, Choice: "approve", As: "Ben"}, "Ben is a member: only an owner decides."},
		{decision{ID: 9, Choice: "approve"}, "There is no question 9; `hearth approvals` shows the open ones."},
	} {
		_, err := changeApprovalsDecide.do(s, ctx, wrong.decision)
		if _, sentence := explain(err); sentence != wrong.want {
			t.Errorf("%+v: %q", wrong.decision, sentence)
		}
	}
	done, err := changeApprovalsDecide.do(s, ctx, decision{ID: 1, Choice: "always"})
	if err != nil || done.Text != "Question 1: always. Run 1 goes on." {
		t.Errorf("decided: %q, %v", done.Text, err)
	}
	_, err = changeApprovalsDecide.do(s, ctx, decision{ID: 1, Choice: "deny"})
	if _, sentence := explain(err); sentence != "Question 1 is approved already; nothing was changed." {
		t.Errorf("decided twice: %q", sentence)
	}
	if got := shown(t, s, viewApprovals, query{All: true}); !strings.Contains(got, `"state":"approved","asked":"2026-07-01T09:00:00+01:00","decided":"2026-07-01T09:00:00+01:00","decided_by":"Ana","choice":"always"`) {
		t.Errorf("the decided question: %s", got)
	}
	if got := shown(t, s, viewRules, query{}); got != `[{"id":1,"tool":"send","person":"Ben","chat":"private","created":"2026-07-01T09:00:00+01:00","created_by":"Ana"}]` {
		t.Errorf("the rule: %s", got)
	}
	if _, err := changeRulesDrop.do(s, ctx, ruleOrder{1}); err != nil || shown(t, s, viewRules, query{}) != "[]" {
		t.Errorf("the rule is still there, %v", err)
	}

	if _, err := s.vault.Claim(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.vault.EndRun(ctx, 1, vault.Ending{State: vault.Failed, Reason: "step limit", Reply: "I stopped."}); err != nil {
		t.Fatal(err)
	}
	want = `[{"id":1,"conversation":1,"trigger":"message","state":"failed","reason":"step limit","steps":1,"calls":1,"tokens_in":7,"tokens_out":5,"usd":0.25,"model":"m","queued":"2026-07-01T17:00:00+09:00","started":"2026-07-01T17:00:00+09:00","ended":"2026-07-01T17:00:00+09:00"}]`
	if got := shown(t, s, viewRuns, query{Person: "Ben"}); got != want {
		t.Errorf("the run: %s", got)
	}

	parts, err := s.vault.Heads(ctx, "terminal")
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	refused := &gateways.SendError{Outcome: vault.Refused, Human: "the messenger refuses it"}
	if err := s.vault.Undelivered(ctx, parts[0], refused.Outcome, refused.Human, s.now()); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, s, viewOutbox, query{}); !strings.Contains(got, `"gateway":"terminal","class":"question","state":"failed","attempts":0,"ref":null,"text":"Question 1: Send it?`) || !strings.Contains(got, `"error":"the messenger refuses it"}`) {
		t.Errorf("the outbox: %s", got)
	}
	if checks := shown(t, s, viewHealth, query{}); !strings.Contains(checks, `"name":"outbox","state":"look","text":"1 message could not be delivered`) {
		t.Errorf("the doctor says %s", checks)
	}
	for _, c := range []struct {
		do   change[partOrder]
		want string
	}{{changeOutboxRetry, "Message 1 is sent again."}, {changeOutboxDrop, "Message 1 is given up."}} {
		if done, err := c.do.do(s, ctx, partOrder{parts[0].ID}); err != nil || done.Text != c.want {
			t.Errorf("%s: %q, %v", c.do.path, done.Text, err)
		}
	}
	if done, err := changeRunsResume.do(s, ctx, runOrder{1}); err != nil || done.Text != "Run 1 goes on from its step 2; what it has done is not done again." {
		t.Errorf("resumed: %q, %v", done.Text, err)
	}
}

func TestAForgottenArgumentIsAStringAndUSDOfUnknownPriceIsNull(t *testing.T) {
	b, err := marshal(struct {
		A document `json:"a"`
		U money    `json:"u"`
		V money    `json:"v"`
	}{"[forgotten]", dollars(0.5, false), dollars(0, true)})
	if err != nil || string(b) != `{"a":"[forgotten]","u":null,"v":0}` {
		t.Errorf("%s, %v", b, err)
	}
}
