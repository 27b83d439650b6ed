package vault

import (
	"context"
	"slices"
)

// Entry is one piece of a conversation's past: a run with all its steps, or a message that no run stands behind (a command
// and its answer, a spoken reminder).
type Entry struct {
	Run     *Progress
	Message *Message
	Pos     int64
}

// History gives what came before a run in its conversation, oldest first: at most limit entries, the newest ones. Runs
// that wait for an answer are part of it, runs that only queue are not.
func (v *Vault) History(ctx context.Context, c Conversation, before int64, limit int) ([]Entry, error) {
	runs, err := collect(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE conversation_id = ? AND pos > ? AND pos < ? AND state NOT IN ('queued','running') AND steps > 0 ORDER BY pos DESC LIMIT ?`,
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
		AND (run_id IS NULL OR (SELECT r.steps FROM run r WHERE r.id = m.run_id) = 0 AND (SELECT r.state FROM run r WHERE r.id = m.run_id) IN ('done','failed','stopped')) ORDER BY pos DESC LIMIT ?`,
		c.ID, since, before, limit)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, r := range runs {
		p, err := v.Progress(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, Entry{Run: &p, Pos: r.Pos})
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

// Reply is what a run said at its end; "" when it said nothing.
func (v *Vault) Reply(ctx context.Context, run int64) (string, error) {
	return one(ctx, v.rdb, scanString, `SELECT coalesce(max(text), '') FROM message WHERE run_id = ? AND role = 'assistant'`, run)
}

// Conversations gives the numbers of all conversations a person has a part in: the own one and every group written in.
func (v *Vault) Conversations(ctx context.Context, person int64) ([]int64, error) {
	return collect(ctx, v.rdb, scanInt, `SELECT DISTINCT conversation_id FROM message WHERE person_id = ? ORDER BY 1`, person)
}
