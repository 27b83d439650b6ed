package vault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// world is all that outlives a crash beside the vault: the messenger, what the tools did, and the people.
type world struct {
	h         *home
	inbox     []Inbound // not yet acknowledged upstream
	sent      map[string]int
	repeats   int            // deliveries that said they may be repeats
	acts      map[int64]int  // by call
	decided   map[int64]bool // questions the owner has answered
	thoughts  int            // the model was asked
	restarted int
}

const price = 0.25

// life does whatever is to be done, as the parts of the program do, until nothing is left or the power goes.
func (w *world) life(t *testing.T) error {
	for {
		busy := false
		for _, part := range []func(*testing.T) (bool, error){w.receive, w.schedule, w.deliver, w.think, w.answer} {
			did, err := part(t)
			if err != nil {
				return err
			}
			busy = busy || did
		}
		if busy {
			continue
		}
		due, err := w.h.NextDue(t.Context())
		if err != nil || due.IsZero() {
			return err
		}
		w.h.clock.add(due.Sub(w.h.clock.now()))
	}
}

func (w *world) receive(t *testing.T) (bool, error) {
	if len(w.inbox) == 0 {
		return false, nil
	}
	_, err := w.h.Accept(t.Context(), w.inbox[0], w.h.ann, 0)
	if err != nil && !errors.Is(err, ErrRepeat) {
		return false, err
	}
	w.inbox = w.inbox[1:] // acknowledged
	return true, nil
}

func (w *world) schedule(t *testing.T) (bool, error) {
	due, err := w.h.DueJobs(t.Context(), 10)
	for _, j := range due {
		if err == nil {
			err = w.h.Fire(t.Context(), j, Firing{Due: j.Next, Words: j.Text})
		}
	}
	return len(due) > 0, err
}

func (w *world) deliver(t *testing.T) (bool, error) {
	heads, err := w.h.Heads(t.Context(), "telegram")
	if err != nil {
		return false, err
	}
	for _, p := range heads {
		if err := w.h.Sending(t.Context(), p); err != nil {
			return false, err
		}
		if p.Marked {
			w.repeats++
		} else {
			w.sent[p.Text]++
		}
		if err := w.h.Delivered(t.Context(), p, "m"); err != nil {
			return false, err
		}
	}
	return len(heads) > 0, nil
}

// answer is the owner, who answers each question that has reached them, by a command that is delivered until it is
// acknowledged.
func (w *world) answer(t *testing.T) (bool, error) {
	open, err := w.h.Approvals(t.Context(), true, 10)
	if err != nil {
		return false, err
	}
	for _, a := range open {
		choice := ChooseApprove
		if a.Kind == "unknown" {
			if choice = ChooseAgain; w.acts[a.Call] > 0 {
				choice = ChooseWorked
			}
		}
		in := Inbound{Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: Private, Sender: "1", ID: fmt.Sprint("answer ", a.ID), Kind: "command", Text: choice}
		err := w.h.Command(t.Context(), in, w.h.ann, func(tx *Tx, _ Conversation) ([]Part, error) {
			_, err := tx.Decide(a.ID, w.h.ann, choice)
			return []Part{{Text: fmt.Sprint("Noted ", a.ID)}}, err
		})
		if err != nil && !errors.Is(err, ErrRepeat) {
			return false, err
		}
		w.decided[a.ID] = true
	}
	return len(open) > 0, nil
}

// think is the brain with a scripted model: first a reminder and a letter that must be approved, then an answer.
func (w *world) think(t *testing.T) (bool, error) {
	p, err := w.h.Claim(t.Context())
	if errors.Is(err, ErrIdle) {
		return false, nil
	}
	for err == nil && p.Run.State == Running {
		if err = w.move(t, p); err == nil {
			p, err = w.h.Progress(t.Context(), p.Run.ID)
		}
	}
	return true, err
}

func (w *world) move(t *testing.T, p Progress) error {
	ctx := t.Context()
	waits := false
	for _, c := range p.Calls {
		switch {
		case c.State == Started && c.Effect == "acts":
			return w.h.AskUnknown(ctx, c, Question{Text: "Did it happen?", Choices: []string{ChooseAgain, ChooseWorked, ChooseDrop}})
		case c.State == Proposed || c.State == Approved || c.State == Started:
			return w.call(t, p, c)
		case c.State == Asking || c.State == Unknown:
			waits = true
		}
	}
	if waits {
		return w.h.Park(ctx, p.Run.ID)
	}
	w.thoughts++
	step := Step{Text: fmt.Sprint("thought ", len(p.Steps)), Model: "m", TokensIn: 10, TokensOut: 1, USD: price, USDKnown: true}
	if _, err := w.h.SaveContext(ctx, p.Run.ID, "context"); err != nil {
		return err
	}
	d := StepDone{Step: step, Calls: []Call{
		{Tool: "remind", Args: `{"text":"stretch"}`, Effect: "sets"},
		{Tool: "send", Args: `{"person":"Bob"}`, Effect: "acts", Ask: &Question{Text: "Send it?", Choices: yesNo}},
	}}
	if len(p.Steps) > 0 || p.Messages[0].Text != "begin" {
		d = StepDone{Step: step, End: &Ending{State: Done, Reply: fmt.Sprint("answer to ", p.Messages[0].Text)}}
	} else {
		w.inbox = append(w.inbox, Inbound{Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: Private, Sender: "1", ID: "2", Kind: "text", Text: "more", Sent: w.h.clock.now()})
	}
	_, err := w.h.SaveStep(ctx, p.Run.ID, stepOf(p, d))
	return err
}

func (w *world) call(t *testing.T, p Progress, c Call) error {
	ctx := t.Context()
	if err := w.h.StartCall(ctx, c); err != nil {
		return err
	}
	if c.Tool == "send" {
		w.acts[c.ID]++
	} else if _, err := w.h.AddJob(ctx, Job{Key: fmt.Sprint("call:", c.ID), Kind: Say, Person: p.Run.Person, Conversation: p.Run.Conversation, To: p.Run.To, Zone: "UTC", Text: "stretch", Next: p.Run.Queued.Add(time.Minute)}); err != nil {
		return err
	}
	c.State, c.Result = Finished, "done"
	return w.h.FinishCall(ctx, c)
}

// play drives a vault through all lives to the end. hooks are those of the life with that number, from 0.
func play(t *testing.T, hooks func(life int) Hooks) *world {
	t.Helper()
	h := newHome(t)
	w := &world{h: h, sent: map[string]int{}, acts: map[int64]int{}, decided: map[int64]bool{}}
	w.inbox = []Inbound{{Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: Private, Sender: "1", ID: "1", Kind: "text", Text: "begin", Sent: h.clock.now(), Raw: []byte("raw")}}
	h.hooks = hooks(0)
	for {
		err := w.life(t)
		if err == nil {
			return w
		}
		for errors.Is(err, errPowerCut) { // also while it starts again
			w.restarted++
			if h.Vault != nil {
				check(t, h.Close())
			}
			h.opt.Hooks = hooks(w.restarted)
			h.Vault, err = Open(t.Context(), h.folder, h.opt)
		}
		check(t, err)
	}
}

// verify holds the end of a play against what was promised.
func (w *world) verify(t *testing.T) {
	t.Helper()
	h := w.h
	joined := h.count(`SELECT count(*) FROM run WHERE reason LIKE 'joined run%'`) // the second message came before the first step was saved
	for _, text := range []string{"answer to begin", "answer to more", "stretch", "Noted 1"} {
		if joined > 0 && text == "answer to more" {
			continue
		}
		if w.sent[text] > 1 || w.sent[text]+w.repeats == 0 {
			t.Errorf("%q was sent %d times unmarked", text, w.sent[text])
		}
	}
	questions := 0
	for text, n := range w.sent {
		if n > 1 {
			t.Errorf("%q was sent %d times unmarked", text, n)
		}
		if strings.HasPrefix(text, "Question") {
			questions++
		}
	}
	if questions > h.count(`SELECT count(*) FROM approval`) {
		t.Errorf("%d questions were put", questions)
	}
	equal(t, "questions whether to send", h.count(`SELECT count(*) FROM approval WHERE kind = 'call'`), 1)
	equal(t, "letters", len(w.acts), 1)
	for _, n := range w.acts {
		equal(t, "times the letter went", n, 1)
	}
	equal(t, "runs not done", h.count(`SELECT count(*) FROM run WHERE state != 'done' OR ended IS NULL OR claimed IS NOT NULL`), 0)
	equal(t, "messages", h.count(`SELECT count(*) FROM message WHERE role = 'user' AND kind = 'text'`), 2)
	equal(t, "messages without an answer", h.count(`SELECT count(*) FROM message m WHERE kind = 'text' AND role = 'user' AND NOT EXISTS (SELECT 1 FROM message a WHERE a.run_id = m.run_id AND a.role = 'assistant')`), 0)
	equal(t, "raw bytes", h.count(`SELECT count(*) FROM message WHERE raw IS NOT NULL`), 0)
	equal(t, "parts not sent", h.count(`SELECT count(*) FROM outbox WHERE state != 'sent'`), 0)
	equal(t, "parts of a key", h.count(`SELECT count(*) - count(DISTINCT text) FROM outbox`), 0)
	equal(t, "open calls", h.count(`SELECT count(*) FROM call WHERE state != 'done' OR ended IS NULL`), 0)
	equal(t, "calls", h.count(`SELECT count(*) FROM call`), 2)
	equal(t, "jobs done", h.count(`SELECT count(*) FROM job WHERE state = 'done' AND fired = 1 AND last_result = 'delivered' AND next IS NULL`), 1)
	equal(t, "jobs", h.count(`SELECT count(*) FROM job`), 1)
	equal(t, "fires", h.count(`SELECT count(*) FROM fire`), 1)
	steps := h.count(`SELECT count(*) FROM step`)
	equal(t, "steps", steps, 3-joined)
	equal(t, "spent", must(h.Spent(t.Context(), time.Time{}))(t), price*float64(steps))
	equal(t, "cents booked on runs", h.count(`SELECT CAST(100 * sum(usd) AS INTEGER) FROM run`), 25*steps)
	if lost := w.thoughts - steps; lost < 0 || lost > w.restarted {
		t.Errorf("the model was asked %d times for %d steps in %d lives", w.thoughts, steps, w.restarted+1)
	}
	if w.repeats > w.restarted {
		t.Errorf("%d marked repeats after %d restarts", w.repeats, w.restarted)
	}
	check(t, h.Check(t.Context()))
}

func TestCrashAtEveryCommit(t *testing.T) {
	var events []string
	whole := play(t, func(int) Hooks {
		return Hooks{Before: func(event string) error { events = append(events, event); return nil }}
	})
	whole.verify(t)
	equal(t, "restarts", whole.restarted, 0)
	if len(events) < 25 {
		t.Fatalf("the play has only %d commits: %v", len(events), events)
	}
	for k := range events {
		for _, when := range []string{"before", "after"} {
			t.Run(fmt.Sprintf("%s commit %d %s", when, k, events[k]), func(t *testing.T) {
				seen := 0
				cut := func(string) error {
					if seen++; seen == k+1 {
						return errPowerCut
					}
					return nil
				}
				w := play(t, func(life int) Hooks {
					switch {
					case life > 0:
						return Hooks{}
					case when == "before":
						return Hooks{Before: cut}
					default:
						return Hooks{After: cut}
					}
				})
				equal(t, "restarts", w.restarted, 1)
				w.verify(t)
			})
		}
	}
}

func TestCrashAgainAndAgain(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			cut := func(string) error {
				if r.IntN(6) == 0 {
					return errPowerCut
				}
				return nil
			}
			play(t, func(int) Hooks { return Hooks{Before: cut, After: cut} }).verify(t)
		})
	}
}
