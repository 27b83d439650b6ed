package skills

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// wokenBy fires a job and gives a call of its run.
func (h *house) wokenBy(c Call, j vault.Job) Call {
	h.t.Helper()
	ctx := context.Background()
	h.now = j.Next
	if err := h.v.Fire(ctx, j, vault.Firing{Due: j.Next}); err != nil {
		h.t.Fatal(err)
	}
	p, err := h.v.Claim(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	c.Now, c.Said = h.now, h.now
	c.Key, c.Run, c.Job, c.Unasked, c.Chain = fmt.Sprintf("call:%d", p.Run.ID), p.Run.ID, j.ID, true, j.Chain
	return c
}

// ends lets a run end with words, a second later than all before it.
func (h *house) ends(run int64, words string) {
	h.t.Helper()
	if err := h.v.EndRun(context.Background(), run, vault.Ending{State: vault.Done, Reply: words}); err != nil {
		h.t.Fatal(err)
	}
	h.now = h.now.Add(time.Second)
}

func TestAWakeUpMayStaySilent(t *testing.T) {
	h := newHouse(t)
	c := h.call(h.ana)
	contains(t, h.refuse(c, "follow_up", `{"when":"never","goal":"nothing","silent":true}`), "waits for an answer", "nothing is stored")
	c.Unasked = true
	if res := h.do(c, "follow_up", `{"when":"never","goal":"nothing is new","silent":true}`); !res.Silent || res.Receipt != "" {
		t.Errorf("%+v", res)
	}
	if len(h.open()) != 0 {
		t.Error("a silence stored a job")
	}
	if res := h.do(c, "follow_up", `{"when":"tomorrow at 8","goal":"look again","silent":true}`); !res.Silent || res.Receipt != "" || len(h.open()) != 1 {
		t.Errorf("with a next time: %+v, %d jobs", res, len(h.open()))
	}
	c = h.call(h.ana)
	c.Unasked = true
	if res := h.do(c, "follow_up", `{"when":"tomorrow at 9","goal":"look again","silent":false}`); res.Silent || res.Receipt == "" {
		t.Errorf("not silent: %+v", res)
	}
	contains(t, h.refuse(c, "follow_up", `{"when":"every day at 9","goal":"look"}`), "no rhythm", "nothing is stored")
}

// Three wake-ups of a chain speak, and nobody answers: the third says that it is the last, and plans none.
func TestUnansweredFollowUpsEnd(t *testing.T) {
	for _, answers := range []bool{false, true} {
		t.Run(fmt.Sprint("answered ", answers), func(t *testing.T) {
			h := newHouse(t)
			asked := h.call(h.ana)
			first := h.do(asked, "follow_up", `{"when":"in 1 hour","goal":"ask about the parcel"}`)
			contains(t, first.Receipt, "Follow-up 1")
			for n := 1; n <= 2; n++ {
				c := h.wokenBy(asked, h.open()[0])
				contains(t, h.do(c, "follow_up", `{"when":"in 1 hour","goal":"ask again"}`).Receipt, "Follow-up ")
				h.ends(c.Run, "Has it come?")
			}
			if answers {
				in := vault.Inbound{Gateway: "telegram", Account: "bot", Chat: h.ana.Name, ChatKind: vault.Private, Sender: "1", ID: "77", Kind: "text", Text: "not yet", Sent: h.now}
				if _, err := h.v.Accept(context.Background(), in, h.ana, 0); err != nil {
					t.Fatal(err)
				}
				p, err := h.v.Claim(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				h.ends(p.Run.ID, "All right.")
			}
			c := h.wokenBy(asked, h.open()[0])
			res := h.do(c, "follow_up", `{"when":"in 1 hour","goal":"ask again"}`)
			if answers {
				contains(t, res.Receipt, "Follow-up 4")
				return
			}
			contains(t, res.Receipt, "time 3 without an answer")
			for _, j := range h.open() {
				if j.State == vault.JobWaiting {
					t.Errorf("job %d is still planned", j.ID)
				}
			}
			if strings.Contains(res.Text, Done) {
				t.Errorf("the model is told %q", res.Text)
			}
			silent := h.do(c, "follow_up", `{"when":"in 1 hour","goal":"watch","silent":true}`)
			if !silent.Silent {
				t.Error("watching on in silence is refused")
			}
		})
	}
}
