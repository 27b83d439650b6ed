package vault

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Step is one model reply, or a note that the program gave the model.
type Step struct {
	Run                 int64
	N                   int
	Kind                string // model or note
	Text, Model         string
	TokensIn, TokensOut int
	USD                 float64
	USDKnown            bool
	Started, Ended      time.Time
}

const stepColumns = `run_id, n, kind, text, model, tokens_in, tokens_out, usd, started, ended`

func scanStep(s scanner) (st Step, err error) {
	var usd sql.NullFloat64
	err = s.Scan(&st.Run, &st.N, &st.Kind, &st.Text, &st.Model, &st.TokensIn, &st.TokensOut, &usd, instant{&st.Started}, instant{&st.Ended})
	st.USD, st.USDKnown = usd.Float64, usd.Valid
	return st, err
}

// StepDone is what a step commits.
type StepDone struct {
	Step  Step   // N is the next number; Started is when the model was asked
	Seen  int64  // the newest message the model was shown
	Calls []Call // what it wants done; those that ask a person carry Ask
	Park  bool   // nothing can go on before a person has answered
	End   *Ending
	Note  string // a further step of kind note, for the model

	// Spend is the row of the ledger that Reserve gave for the request; 0 = there is none yet. CacheRead and CacheWrote are
	// parts of Step.TokensIn, as in Usage.
	Spend                 int64
	CacheRead, CacheWrote int
}

// SaveStep is the checkpoint: the model's words, their cost, the calls they propose with the questions these raise, and
// either the end of the run with its reply on the way, or the messages of the same sender that came meanwhile, which
// join here and only here. One commit. It returns the run numbers whose messages have joined.
// ErrNotRunning: a person stopped the run; nothing is kept.
func (v *Vault) SaveStep(ctx context.Context, run int64, d StepDone) (joined []int64, err error) {
	err = v.write(ctx, "step", durable, func(t *Tx) error {
		r, err := t.running(run)
		if err != nil {
			return err
		}
		if err := t.insertStep(run, d.Step); err != nil {
			return err
		}
		if err := t.bookStep(r, d); err != nil {
			return err
		}
		if d.Note != "" {
			note := Step{N: d.Step.N + 1, Kind: "note", Text: d.Note, Started: t.now}
			if err := t.insertStep(run, note); err != nil {
				return err
			}
		}
		if _, err := t.exec(`UPDATE message SET step = ? WHERE run_id = ? AND role = 'user' AND step IS NULL AND id <= ?`, d.Step.N, run, d.Seen); err != nil {
			return err
		}
		if err := t.countStep(run, d.Step, len(d.Calls)); err != nil {
			return err
		}
		for i, c := range d.Calls {
			if err := t.insertCall(r, d.Step.N, i, c); err != nil {
				return err
			}
		}
		switch {
		case d.End != nil:
			return t.endRun(r, *d.End)
		case d.Park:
			return t.park(run)
		}
		joined, err = t.joinQueued(r)
		return err
	})
	return joined, err
}

// countStep books a step on its run. One step of unknown price makes the run's price unknown.
func (t *Tx) countStep(run int64, s Step, calls int) error {
	var usd any
	if s.USDKnown {
		usd = s.USD
	}
	_, err := t.exec(`UPDATE run SET retries = 0, waits = '', steps = steps + 1, calls = calls + ?, tokens_in = tokens_in + ?, tokens_out = tokens_out + ?,
		usd = CASE WHEN steps = 0 THEN ? ELSE usd + ? END, model = ? WHERE id = ?`, calls, s.TokensIn, s.TokensOut, usd, usd, s.Model, run)
	return err
}

func (t *Tx) insertStep(run int64, s Step) error {
	var usd any
	if s.USDKnown {
		usd = s.USD
	}
	kind := s.Kind
	if kind == "" {
		kind = "model"
	}
	_, err := t.exec(`INSERT INTO step(run_id, n, kind, text, model, tokens_in, tokens_out, usd, started, ended) VALUES(?,?,?,?,?,?,?,?,?,?)`,
		run, s.N, kind, s.Text, s.Model, s.TokensIn, s.TokensOut, usd, s.Started.UnixMilli(), t.now.UnixMilli())
	return err
}

// bookStep settles the request that a step answers. A step that nobody reserved for is entered here, unless it took nothing.
func (t *Tx) bookStep(r Run, d StepDone) error {
	e := Spending{
		ID: d.Spend, Run: r.ID, Person: r.Person, Job: r.Job, Purpose: "step", Model: d.Step.Model, State: "settled", At: t.now, USD: d.Step.USD, USDKnown: d.Step.USDKnown,
		Usage: Usage{In: d.Step.TokensIn, Out: d.Step.TokensOut, CacheRead: d.CacheRead, CacheWrote: d.CacheWrote}, Took: max(0, t.now.Sub(d.Step.Started)),
	}
	if d.Step.Started.IsZero() {
		e.Took = 0
	}
	if e.ID != 0 {
		return t.settle(e)
	}
	if e.In+e.Out == 0 && e.free() {
		return nil
	}
	_, err := t.enter(e)
	return err
}

// park queues the run again when the answer came before it: nobody would wake it.
func (t *Tx) park(run int64) error {
	_, err := t.exec(`UPDATE run SET state = CASE WHEN EXISTS (SELECT 1 FROM approval WHERE run_id = run.id AND state = 'open') THEN 'waiting' ELSE 'queued' END,
		ready_at = ?, worked = worked + max(0, ? - coalesce(claimed, ?)), claimed = NULL WHERE id = ?`, t.now.UnixMilli(), t.now.UnixMilli(), t.now.UnixMilli(), run)
	return err
}

// Park sets a run aside until a person has answered; one whose questions are all answered is ready again at once.
// ErrNotRunning.
func (v *Vault) Park(ctx context.Context, run int64) error {
	return v.write(ctx, "park", durable, func(t *Tx) error {
		if _, err := t.running(run); err != nil {
			return err
		}
		return t.park(run)
	})
}

// joins says that a queued run q is more words of the sender of the run r, in the same chat.
const joins = `r.trigger = 'message' AND q.trigger = 'message' AND q.claimed IS NULL AND q.steps = 0 AND q.id > r.id
	AND q.gateway = r.gateway AND q.account = r.account AND q.chat = r.chat AND q.thread = r.thread AND q.sender = r.sender`

// joinQueued moves what the same sender wrote in the same chat meanwhile into the running run. Their own runs end as
// joined. Only here can that happen, so no message is added to a run that has just decided to end.
func (t *Tx) joinQueued(r Run) ([]int64, error) {
	others, err := collect(t.ctx, t.tx, scanInt, `SELECT q.id FROM run r JOIN run q ON q.conversation_id = r.conversation_id AND q.state = 'queued' WHERE r.id = ? AND `+joins+` ORDER BY q.id`, r.ID)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if _, err := t.exec(`UPDATE message SET run_id = ? WHERE run_id = ?`, r.ID, other); err != nil {
			return nil, err
		}
		if _, err := t.exec(`UPDATE run SET state = 'done', reason = ?, ended = ? WHERE id = ?`, fmt.Sprintf("joined run %d", r.ID), t.now.UnixMilli(), other); err != nil {
			return nil, err
		}
	}
	return others, nil
}
