package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"

	"hearth/vault"
)

// lived gives a vault in which a member asked for something, an owner was asked and said yes, it was done, and the answer
// went out twice. Its clock is handed out to be moved.
func lived(t *testing.T, words string) (*service, func(time.Duration)) {
	t.Helper()
	s := bench(t)
	ctx := t.Context()
	clock := s.now()
	s.now = func() time.Time { return clock }
	if err := s.vault.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(ctx, s.vault.Dir(), vault.Options{Now: s.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	s.vault = v
	pass := func(d time.Duration) { clock = clock.Add(d) }
	ben, err := v.PersonNamed(ctx, "Ben")
	if err != nil {
		t.Fatal(err)
	}
	in := vault.Inbound{Gateway: "telegram", Account: "bot", Chat: "2", ChatKind: vault.Private, Sender: "2", ID: "m1", Kind: "text", Text: words, Sent: clock}
	if _, err := v.Accept(ctx, in, ben, 0); err != nil {
		t.Fatal(err)
	}
	pass(2 * time.Second)
	p, err := v.Claim(ctx)
	if err != nil {
		t.Fatal(err)
	}
	began := clock
	pass(1500 * time.Millisecond)
	step := vault.StepDone{
		Step: vault.Step{Text: "I will send it.", Model: "home", TokensIn: 700, TokensOut: 50, USD: 0.25, USDKnown: true, Started: began}, Seen: 1, Park: true,
		Calls: []vault.Call{{Tool: "send", Args: `{"person":"Ana","text":"hi"}`, Effect: "acts", Ask: &vault.Question{Text: "Send this to Ana?", Choices: []string{"approve", "deny", "always"}}}},
	}
	if _, err := v.SaveStep(ctx, p.Run.ID, step); err != nil {
		t.Fatal(err)
	}
	pass(time.Hour)
	if _, err := changeApprovalsDecide.do(s, ctx, decision{ID: 1, Choice: "approve"}); err != nil {
		t.Fatal(err)
	}
	if p, err = v.Claim(ctx); err != nil {
		t.Fatal(err)
	}
	call := p.Calls[0]
	if err := v.StartCall(ctx, call); err != nil {
		t.Fatal(err)
	}
	pass(250 * time.Millisecond)
	call.State, call.Result, call.Receipt = vault.Finished, "Sent to Ana.", "I sent Ana: hi"
	if err := v.FinishCall(ctx, call); err != nil {
		t.Fatal(err)
	}
	end := vault.StepDone{Step: vault.Step{N: 1, Text: "It is sent.", Model: "home", TokensIn: 800, TokensOut: 4, USD: 0.25, USDKnown: true, Started: clock}, End: &vault.Ending{State: vault.Done, Reply: "It is sent."}}
	if _, err := v.SaveStep(ctx, p.Run.ID, end); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		parts, err := v.Heads(ctx, "telegram")
		if err != nil || len(parts) != 1 {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		if err := v.Sending(ctx, parts[0]); err != nil {
			t.Fatal(err)
		}
		if parts[0].Marked {
			err = v.Delivered(ctx, parts[0], "991")
		} else {
			err = v.Undelivered(ctx, parts[0], vault.MayHaveSent, "the line broke", clock)
		}
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
	}
	return s, pass
}

func TestTheStoryOfARunIsToldWhole(t *testing.T) {
	s, _ := lived(t, "send hi to Ana")
	story, err := viewRunsShow.do(s, t.Context(), query{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := `Run 1 for Ben, begun by a message, done
Queued Wed 1 Jul, 17:00, started Wed 1 Jul, 17:00:02, ended Wed 1 Jul, 18:00:03
(Asia/Tokyo)
2 steps, 1 call, 1500 tokens in, 54 out, cost $0.5000, model home, at work for
1.75s

Ben, Wed 1 Jul, 17:00:
  send hi to Ana

Step 1, Wed 1 Jul, 17:00:03, took 1.5s: home, 700 tokens in, 50 out, $0.2500
  I will send it.
  Call 1: send (acts): done, Wed 1 Jul, 18:00:03, took 250ms
    {"person":"Ana","text":"hi"}
    Question 1 (call) to Ana, asked Wed 1 Jul, 09:00:03: Send this to Ana?
      approved Wed 1 Jul, 10:00:03 by Ana: approve
    Result:
      Sent to Ana.
    Receipt:
      I sent Ana: hi

Step 2, Wed 1 Jul, 18:00:03, took 0s: home, 800 tokens in, 4 out, $0.2500
  It is sent.

Message 1: question to terminal, sending, queued Wed 1 Jul, 17:00:03, 0 attempts
  Question 1: Send this to Ana?
  Answer with /approve 1 or /deny 1, or /answer 1 always.

Message 2: answer to telegram, sent, Wed 1 Jul, 18:01:03, 2 attempts, its id
there is 991, marked as a possible repeat
  It is sent.
`
	if diff := cmp.Diff(want, tellRun(story, s.now())); diff != "" {
		t.Errorf("-want +told:\n%s", diff)
	}
	b, err := marshal(story)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"worked_ms":1750`, `"step":0,"person":"Ben"`, `"question":"Send this to Ana?","asked_of":"Ana","expires":null`, `"decided":"2026-07-01T10:00:03+01:00","decided_by":"Ana","choice":"approve"`,
		`"attempts":2,"ref":"991","text":"It is sent.","error":null,"approval":null,"marked":true,`, `"started":"2026-07-01T18:00:03+09:00","ended":"2026-07-01T18:00:03+09:00","took_ms":250}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the JSON has no %s: %s", want, b)
		}
	}
	var back runStory
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tellRun(story, s.now()), tellRun(back, s.now())); diff != "" {
		t.Errorf("through the socket it is told otherwise (-here +socket):\n%s", diff)
	}
}

// Whatever people and models write: 80 columns, nothing that drives the terminal, and nothing without an end.
func TestTheStoryOfARunFitsATerminal(t *testing.T) {
	long := strings.Repeat("word ", 3000) + strings.Repeat("漢字", 100) + strings.Repeat("x", 300) + "\x1b[2J%d%s\n\n\n" + strings.Repeat("line\n", 100)
	s, _ := lived(t, long)
	story, err := viewRunsShow.do(s, t.Context(), query{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	story.Reason, story.Input, story.Model = text(long), text(long), text(strings.Repeat("m", 100))
	story.Calls[0].Arguments, story.Calls[0].Result = document(`{"text":"`+strings.Repeat("a", 5000)+`"}`), text(long)
	story.Approvals[0].Question, story.Sends[0].Error = text(strings.Repeat("q", 200)), text(long)
	told := tellRun(story, s.now())
	for line := range strings.Lines(told) {
		if w := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); w > 80 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	if strings.ContainsRune(told, 0x1b) || !strings.Contains(told, "more lines: --json shows them") || strings.Contains(told, "%!") {
		t.Errorf("it is told as %.2000s", told)
	}
	if n := strings.Count(told, "a"); n < 5000 {
		t.Errorf("the arguments are cut: %d of their letters are shown", n)
	}
}
