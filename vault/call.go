package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// CallState is where a call stands.
type CallState string

// The states of a call.
const (
	Proposed CallState = "proposed" // the model wants it
	Asking   CallState = "waiting"  // a person is asked
	Approved CallState = "approved"
	Started  CallState = "started" // it may have had its effect
	Finished CallState = "done"
	Broken   CallState = "failed" // it answered with an error
	Denied   CallState = "denied"
	Unknown  CallState = "unknown" // nobody knows whether it had its effect; a person is asked
	Given    CallState = "dropped" // a person gave it up, or stopped its run
)

// Ended reports whether nothing more happens to the call.
func (s CallState) Ended() bool {
	return s == Finished || s == Broken || s == Denied || s == Given
}

// Call is one tool use.
type Call struct {
	ID, Run        int64
	Step, I        int
	Tool           string
	Args           string // canonical JSON
	Hash           string // CallHash of tool and args
	Effect         string // reads, sets or acts
	State          CallState
	Result         string // what the model is told
	Receipt        string // what a person is told: the program's own words about what it stored or did
	Silent         bool   // the run was to end with it, without a word
	Started, Ended time.Time
	Ask            *Question // on SaveStep: the question that this call raises
}

// Question is what a person is asked before a call may run.
type Question struct {
	Text    string
	Choices []string
	About   string    // which uses of the tool an answer of always covers, e.g. "message to Bob"; "" = every one
	Expires time.Time // zero = never
}

// CallHash binds an approval to exactly these arguments.
func CallHash(tool, args string) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + args))
	return hex.EncodeToString(sum[:])
}

const callColumns = `id, run_id, step, i, tool, args, hash, effect, state, result, receipt, silent, started, ended`

func scanCall(s scanner) (c Call, err error) {
	err = s.Scan(&c.ID, &c.Run, &c.Step, &c.I, &c.Tool, &c.Args, &c.Hash, &c.Effect, &c.State, &c.Result, &c.Receipt, &c.Silent, instant{&c.Started}, instant{&c.Ended})
	return c, err
}

// insertCall stores a proposed call. One that comes with a result has ended already: it was refused by the policy or
// could not be understood.
func (t *Tx) insertCall(r Run, step, i int, c Call) error {
	state, ended := c.State, any(nil)
	if state == "" {
		state = Proposed
	}
	if c.Ask != nil {
		state = Asking
	}
	if state.Ended() {
		ended = t.now.UnixMilli()
	}
	number, err := t.insert(`INSERT INTO call(run_id, step, i, tool, args, hash, effect, state, result, receipt, ended) VALUES(?,?,?,?,?,?,?,?,?,?,?)`,
		r.ID, step, i, c.Tool, c.Args, CallHash(c.Tool, c.Args), c.Effect, state, c.Result, c.Receipt, ended)
	if err != nil || c.Ask == nil {
		return err
	}
	_, err = t.ask(Approval{Run: r.ID, Call: number, Kind: "call", Tool: c.Tool, Arguments: c.Args, Hash: CallHash(c.Tool, c.Args), Choices: c.Ask.Choices, About: c.Ask.About, Question: c.Ask.Text, Expires: c.Ask.Expires}, r)
	return err
}

// StartCall commits the intent to run a call, before it runs. Only an Acts call must be flushed: the others may repeat.
// Errors: ErrNotRunning when a person stopped the run, ErrMustNotBegin.
func (v *Vault) StartCall(ctx context.Context, c Call) error {
	return v.write(ctx, "start-call", durableIf(c.Effect == "acts"), func(t *Tx) error {
		if _, err := t.running(c.Run); err != nil {
			return err
		}
		n, err := t.exec(`UPDATE call SET state = 'started', started = ? WHERE id = ? AND hash = ? AND (state IN ('proposed','approved') OR state = 'started' AND effect != 'acts')`,
			t.now.UnixMilli(), c.ID, CallHash(c.Tool, c.Args))
		if err == nil && n == 0 {
			err = ErrMustNotBegin
		}
		return err
	})
}

// ErrMustNotBegin says that a call has begun before and may have had its effect, that it has ended or waits for an answer,
// or that its arguments are not those that were stored and approved.
var ErrMustNotBegin = errors.New("the call must not begin")

// FinishCall commits a call's result. State is Finished or Broken. For an Acts call it is flushed; the result of the
// others becomes durable with the step that reads it, and repeating them is harmless.
// ErrNotRunning: the run was stopped while the call ran; the result is kept all the same.
func (v *Vault) FinishCall(ctx context.Context, c Call) error {
	var stopped error
	err := v.write(ctx, "finish-call", durableIf(c.Effect == "acts"), func(t *Tx) error {
		if _, err := t.running(c.Run); err != nil {
			stopped = err
		}
		_, err := t.exec(`UPDATE call SET state = ?, result = ?, receipt = ?, silent = ?, ended = ? WHERE id = ? AND ended IS NULL OR id = ? AND state = 'unknown'`,
			c.State, c.Result, c.Receipt, c.Silent, t.now.UnixMilli(), c.ID, c.ID)
		return err
	})
	if err == nil {
		err = stopped
	}
	return err
}

// AskUnknown records that nobody knows whether a started Acts call had its effect, asks the owner, and parks the run.
func (v *Vault) AskUnknown(ctx context.Context, c Call, q Question) error {
	return v.write(ctx, "ask-unknown", durable, func(t *Tx) error {
		r, err := t.running(c.Run)
		if err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE call SET state = 'unknown' WHERE id = ?`, c.ID); err != nil {
			return err
		}
		if _, err := t.ask(Approval{Run: r.ID, Call: c.ID, Kind: "unknown", Tool: c.Tool, Arguments: c.Args, Hash: c.Hash, Choices: q.Choices, Question: q.Text, Expires: q.Expires}, r); err != nil {
			return err
		}
		return t.park(r.ID)
	})
}
