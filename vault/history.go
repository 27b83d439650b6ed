package vault

import (
	"context"
	"encoding/json"
	"slices"
)

// Entry is one piece of a conversation's past: a run with all its steps, or a message that no run stands behind (a command
// and its answer, a spoken reminder).
type Entry struct {
	Run     *Progress // without Person and Conversation, which the caller knows
	Message *Message
	Pos     int64
}

// History gives what came before a run in its conversation, oldest first: at most limit entries, the newest ones. Runs
// that wait for an answer are part of it, runs that only queue are not.
func (v *Vault) History(ctx context.Context, c Conversation, before int64, limit int) ([]Entry, error) {
	runs, err := collect(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE conversation_id = ? AND pos > ? AND pos < ? AND state NOT IN ('queued','running') AND steps > 0 AND task = '' ORDER BY pos DESC LIMIT ? + 0`,
		c.ID, c.SincePos, before, limit)
	if err != nil {
		return nil, err
	}
	// What is older than the oldest run of a full list would be cut off below: it is not even looked for.
	since := c.SincePos
	if n := len(runs); n > 0 && n == limit {
		since = max(since, runs[n-1].Pos)
	}
	loose, err := collect(ctx, v.rdb, scanMessage, `SELECT `+messageColumns+` FROM message m WHERE conversation_id = ? AND pos > ? AND pos < ? AND kind != 'lookup'
		AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = m.run_id AND (r.steps > 0 OR r.state NOT IN ('done','failed','stopped'))) ORDER BY pos DESC LIMIT ? + 0`,
		c.ID, since, before, limit)
	if err != nil {
		return nil, err
	}
	out, err := v.past(ctx, runs)
	if err != nil {
		return nil, err
	}
	for _, m := range loose {
		out = append(out, Entry{Message: &m, Pos: m.Pos})
	}
	slices.SortFunc(out, func(a, b Entry) int { return int(a.Pos - b.Pos) })
	if len(out) > limit {
		out = out[len(out)-limit:]
	}
	return out, nil
}

// past loads what belongs to ended runs, with one query a kind: a conversation has hundreds of them. Who and where is known.
func (v *Vault) past(ctx context.Context, runs []Run) ([]Entry, error) {
	numbers := make([]int64, len(runs))
	entries := make([]Entry, len(runs))
	at := map[int64]*Progress{}
	for i, r := range runs {
		numbers[i] = r.ID
		entries[i] = Entry{Run: &Progress{Run: r}, Pos: r.Pos}
		at[r.ID] = entries[i].Run
	}
	list, err := json.Marshal(numbers)
	if err != nil {
		return nil, err
	}
	const among = ` WHERE run_id IN (SELECT value FROM json_each(?)) `
	messages, err := collect(ctx, v.rdb, scanMessage, `SELECT `+messageColumns+` FROM message`+among+`AND role = 'user' ORDER BY id`, string(list))
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		at[m.Run].Messages = append(at[m.Run].Messages, m)
	}
	steps, err := collect(ctx, v.rdb, scanStep, `SELECT `+stepColumns+` FROM step`+among+`ORDER BY run_id, n`, string(list))
	if err != nil {
		return nil, err
	}
	for _, st := range steps {
		at[st.Run].Steps = append(at[st.Run].Steps, st)
	}
	calls, err := collect(ctx, v.rdb, scanCall, `SELECT `+callColumns+` FROM call`+among+`ORDER BY run_id, step, i`, string(list))
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		at[c.Run].Calls = append(at[c.Run].Calls, c)
	}
	approvals, err := collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval`+among+`ORDER BY id`, string(list))
	for _, a := range approvals {
		at[a.Run].Approvals = append(at[a.Run].Approvals, a)
	}
	return entries, err
}

// Reply is what a run said at its end; "" when it said nothing.
func (v *Vault) Reply(ctx context.Context, run int64) (string, error) {
	return one(ctx, v.rdb, scanString, `SELECT coalesce(max(text), '') FROM message WHERE run_id = ? AND role = 'assistant'`, run)
}

// Conversations gives the numbers of all conversations a person has a part in: the own one and every group written in.
func (v *Vault) Conversations(ctx context.Context, person int64) ([]int64, error) {
	return collect(ctx, v.rdb, scanInt, `SELECT DISTINCT conversation_id FROM message WHERE person_id = ? ORDER BY 1`, person)
}

// ResultIn gives what a call returned that was made in a conversation since /new. ErrNotFound.
func (v *Vault) ResultIn(ctx context.Context, c Conversation, call int64) (string, error) {
	return one(ctx, v.rdb, scanString, `SELECT c.result FROM call c JOIN run r ON r.id = c.run_id WHERE c.id = ? AND r.conversation_id = ? AND (r.pos > ? OR r.pos = 0) AND c.state = 'done'`, call, c.ID, c.SincePos)
}
