package activity

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/gateways"
	"hearth/vault"
)

// asked begins a run that a person began in their private chat.
func (h *house) asked(words string) vault.Progress {
	h.t.Helper()
	h.ids++
	in := vault.Inbound{Gateway: "one", Account: "bot", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: fmt.Sprint(h.ids), Kind: "text", Text: words, Sent: time.Now()}
	_, err := h.Accept(h.t.Context(), in, h.ann, 0)
	h.must(err)
	p, err := h.Claim(h.t.Context())
	h.must(err)
	return p
}

// lined has Ann ask something that takes so long that it has its line.
func (h *house) lined(words string) vault.Progress {
	h.t.Helper()
	p := h.asked(words)
	time.Sleep(9 * time.Second)
	h.deliver()
	return p
}

// deliver hands over what waits, and gives the texts.
func (h *house) deliver() (out []string) {
	h.t.Helper()
	for {
		heads, err := h.Heads(h.t.Context(), "one")
		h.must(err)
		if len(heads) == 0 {
			synctest.Wait()
			return out
		}
		for _, p := range heads {
			h.must(h.Sending(h.t.Context(), p))
			h.must(h.Delivered(h.t.Context(), p, fmt.Sprint("ref", p.ID)))
			out = append(out, string(p.Class)+": "+p.Text)
		}
	}
}

// step has the model of a run propose a call.
func (h *house) step(run int64, tool string) vault.Call {
	h.t.Helper()
	p, err := h.Progress(h.t.Context(), run)
	h.must(err)
	call := vault.Call{Tool: tool, Args: `{}`, Hash: vault.CallHash(tool, `{}`), Effect: "reads"}
	_, err = h.SaveStep(h.t.Context(), run, vault.StepDone{Step: vault.Step{N: len(p.Steps), Started: time.Now()}, Calls: []vault.Call{call}})
	h.must(err)
	p, err = h.Progress(h.t.Context(), run)
	h.must(err)
	return p.Calls[len(p.Calls)-1]
}

func (h *house) finishCall(c vault.Call) {
	h.t.Helper()
	c.State = vault.Finished
	h.must(h.FinishCall(h.t.Context(), c))
}

// TestLOOP22ALongRunIsOneLineThatIsEdited: after eight seconds, in the program's words, at most once in three seconds, and
// its last words come when the answer, another message, has been delivered.
func TestLOOP22ALongRunIsOneLineThatIsEdited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.asked("read it all")
		time.Sleep(7900 * time.Millisecond)
		if got := h.deliver(); len(got) != 0 {
			t.Errorf("before eight seconds are over: %q", got)
		}
		time.Sleep(200 * time.Millisecond)
		if diff := cmp.Diff([]string{"progress: ⏳ Thinking"}, h.deliver()); diff != "" {
			t.Errorf("the line: %s", diff)
		}
		for range 12 { // steps that follow each other fast
			call := h.step(p.Run.ID, "web_fetch")
			time.Sleep(700 * time.Millisecond)
			h.finishCall(call)
			time.Sleep(300 * time.Millisecond)
		}
		h.step(p.Run.ID, "write_file")
		time.Sleep(45 * time.Second)
		edits := h.one.edited()
		if len(edits) < 5 {
			t.Errorf("edits: %v", edits)
		}
		for i, e := range edits {
			if e.ref != edits[0].ref || i > 0 && e.at-edits[i-1].at < lineEvery {
				t.Errorf("edit %d: %v after %v", i, e, edits[max(0, i-1)])
			}
		}
		if got := edits[len(edits)-1].text; got != "⏳ Writing a file, step 13 (1 min)" {
			t.Errorf("it says %q", got)
		}

		h.end(p, vault.Done)
		time.Sleep(20 * time.Second)
		if edits := h.one.edited(); len(edits) != 0 {
			t.Errorf("before the answer is there: %v", edits)
		}
		if diff := cmp.Diff([]string{"answer: done"}, h.deliver()); diff != "" {
			t.Error(diff)
		}
		time.Sleep(10 * time.Minute)
		edits = h.one.edited()
		if len(edits) != 1 || edits[0].text != "✓ Done in 1 min 5 s, 13 steps" {
			t.Errorf("in the end: %v", edits)
		}
		if lines, err := h.Lines(t.Context(), "one"); err != nil || len(lines) != 0 {
			t.Errorf("left: %v, %v", lines, err)
		}
		if other := h.two.edited(); len(other) != 0 {
			t.Errorf("on the other messenger: %v", other)
		}
	})
}

// TestWhoGetsNoLine: a group, a run that nobody waits for, and one that is answered soon.
func TestWhoGetsNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		group := h.run("one", "-1")
		time.Sleep(time.Minute)
		h.end(group, vault.Done)
		c, err := h.PrivateConversation(t.Context(), h.ann.ID)
		h.must(err)
		h.must(h.Do(t.Context(), "job", func(tx *vault.Tx) error {
			_, err := tx.AddJob(vault.Job{Kind: vault.Do, Person: h.ann.ID, Conversation: c.ID, To: vault.Address{Gateway: "one", Account: "bot", Chat: "1"}, Text: "look", Zone: "UTC", Next: time.Now()})
			return err
		}))
		due, err := h.DueJobs(t.Context(), 1)
		h.must(err)
		h.must(h.Fire(t.Context(), due[0], vault.Firing{Due: due[0].Next, Words: "look"}))
		job, err := h.Claim(t.Context())
		h.must(err)
		time.Sleep(time.Minute)
		h.end(job, vault.Done)
		quick := h.asked("quick")
		time.Sleep(7 * time.Second)
		h.end(quick, vault.Done)
		time.Sleep(time.Minute)
		for _, got := range h.deliver() {
			if strings.HasPrefix(got, "progress") {
				t.Errorf("it says %q", got)
			}
		}
	})
}

// TestAnotherLifeEditsTheSameLine, and shows how a run has ended meanwhile; what may have arrived is not sent again.
func TestAnotherLifeEditsTheSameLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.lined("read it all")
		h.stop()
		h.step(p.Run.ID, "web_search")
		h.start()
		time.Sleep(20 * time.Second)
		if edits := h.one.edited(); len(edits) != 1 || edits[0].text != "⏳ Searching the web" {
			t.Errorf("the next life: %v", edits)
		}
		h.stop()
		h.end(p, vault.Failed)
		h.deliver()
		h.start()
		time.Sleep(time.Minute)
		if edits := h.one.edited(); len(edits) != 1 || edits[0].text != "✗ Given up after 29 s" {
			t.Errorf("the line of a dead run: %v", edits)
		}

		p = h.asked("and again")
		time.Sleep(9 * time.Second)
		heads, err := h.Heads(t.Context(), "one")
		h.must(err)
		h.must(h.Sending(t.Context(), heads[0]))
		h.must(h.Undelivered(t.Context(), heads[0], vault.MayHaveSent, "no answer", time.Now()))
		time.Sleep(time.Minute)
		h.stop()
		h.start()
		time.Sleep(time.Minute)
		if got := h.deliver(); len(got) != 0 {
			t.Errorf("though one may have arrived: %q", got)
		}
		h.end(p, vault.Done)
	})
}

// TestTheMessengersWishesAreObeyed: silence as long as it asks for, and no more of a line that is gone.
func TestTheMessengersWishesAreObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.lined("read it all")
		h.one.set(false, &gateways.SendError{Outcome: vault.NotSent, Wait: 40 * time.Second})
		h.step(p.Run.ID, "web_search")
		time.Sleep(70 * time.Second)
		edits := h.one.edited()
		if len(edits) != 2 || edits[1].at-edits[0].at < 40*time.Second {
			t.Errorf("edits: %v", edits)
		}
		h.one.set(false, errors.New("the line is down"))
		time.Sleep(3 * time.Minute)
		if edits := h.one.edited(); len(edits) < 3 || len(edits) > 10 {
			t.Errorf("while it is down: %v", edits)
		}
		h.one.set(false, nil)
		time.Sleep(time.Minute)
		if edits := h.one.edited(); len(edits) == 0 || edits[0].text != "⏳ Searching the web (4 min)" {
			t.Errorf("when it is up: %v", edits)
		}
		h.one.set(false, &gateways.SendError{Outcome: vault.Refused, Human: "message to edit not found"})
		time.Sleep(5 * time.Minute)
		if edits := h.one.edited(); len(edits) != 1 {
			t.Errorf("of one that is gone: %v", edits)
		}
		h.end(p, vault.Done)
		h.deliver()
		time.Sleep(time.Minute)
		if edits := h.one.edited(); len(edits) != 0 {
			t.Errorf("of one that is gone, at the end: %v", edits)
		}
	})
}

// TestALineThatIsBoundToNoRun says what it is given, with secrets hidden, and no more after its last words.
func TestALineThatIsBoundToNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		show := func(percent int) {
			_, err := h.ShowLine(t.Context(), vault.Part{Key: "pull:7", To: vault.Address{Gateway: "one", Account: "bot", Chat: "1"}, Text: fmt.Sprintf("pulling canary %d %%", percent)})
			h.must(err)
		}
		show(0)
		if got := h.deliver(); len(got) != 1 {
			t.Errorf("first %q", got)
		}
		for percent := range 20 {
			show(percent)
			time.Sleep(500 * time.Millisecond)
		}
		h.must(h.EndLine(t.Context(), "pull:7", "canary is here"))
		show(99)
		time.Sleep(time.Minute)
		edits := h.one.edited()
		if len(edits) < 3 || len(edits) > 5 || edits[len(edits)-1].text != "canary is here" {
			t.Errorf("edits: %v", edits)
		}
		if got := h.deliver(); len(got) != 0 {
			t.Errorf("more messages: %q", got)
		}
		show(0)
		if got := h.deliver(); len(got) != 0 {
			t.Errorf("after its end: %q", got)
		}
	})
}

// What is written meanwhile is acknowledged in the line until the run has taken it up.
func TestLOOP11TheLineSaysThatMoreWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.lined("read it all")
		h.ids++
		_, err := h.Accept(t.Context(), vault.Inbound{Gateway: "one", Account: "bot", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: fmt.Sprint(h.ids), Kind: "text", Text: "and that", Sent: time.Now()}, h.ann, 0)
		h.must(err)
		time.Sleep(5 * time.Second)
		h.step(p.Run.ID, "web_search")
		time.Sleep(5 * time.Second)
		var said []string
		for _, e := range h.one.edited() {
			said = append(said, e.text)
		}
		if diff := cmp.Diff([]string{"⏳ Thinking; what you have just written comes next", "⏳ Searching the web"}, said); diff != "" {
			t.Error(diff)
		}
		h.end(p, vault.Done)
	})
}

// TestWordsOfALine for every state of a run.
func TestWordsOfALine(t *testing.T) {
	for _, c := range []struct {
		line   vault.Line
		worked time.Duration
		want   string
	}{
		{vault.Line{Of: vault.Run{State: vault.Running}}, 9 * time.Second, "⏳ Thinking"},
		{vault.Line{Of: vault.Run{State: vault.Running, Steps: 2}}, 31 * time.Second, "⏳ Thinking, step 3 (30 s)"},
		{vault.Line{Of: vault.Run{State: vault.Running, Steps: 3}, Tool: "mcp_whatever"}, 125 * time.Second, "⏳ Using a tool, step 3 (2 min)"},
		{vault.Line{Of: vault.Run{State: vault.Running}, More: true}, 31 * time.Second, "⏳ Thinking (30 s); what you have just written comes next"},
		{vault.Line{Of: vault.Run{State: vault.Queued, Waits: "You are second in line."}}, 0, "⏳ You are second in line."},
		{vault.Line{Of: vault.Run{State: vault.Running, Waits: "You are second in line."}}, 0, "⏳ You are second in line."},
		{vault.Line{Of: vault.Run{State: vault.Waiting}, Asked: 3}, 0, "⏸ Waiting for an answer to question 3"},
		{vault.Line{Of: vault.Run{State: vault.Waiting}}, 0, "⏸ Waiting for an answer"},
		{vault.Line{Of: vault.Run{State: vault.Queued}}, 0, "⏳ I go on with this in a moment"},
	} {
		if got := working(c.line, c.worked, false); got != c.want {
			t.Errorf("%+v: %q, want %q", c.line.Of, got, c.want)
		}
	}
	for want, r := range map[string]vault.Run{
		"✓ Done in 1 s":                                  {State: vault.Done, Steps: 1, Worked: time.Millisecond},
		"✓ Done in 2 h 3 min":                            {State: vault.Done, Worked: 2*time.Hour + 3*time.Minute},
		"■ Stopped after 1 min 5 s":                      {State: vault.Stopped, Worked: 65 * time.Second},
		"✓ Taken up together with what you wrote before": {State: vault.Done, Reason: "joined run 3"},
	} {
		if got := ended(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
