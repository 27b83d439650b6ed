package vault

import (
	"context"
	"slices"
)

// Opening is what a prompt begins with, before its history.
type Opening struct {
	Head     string // the setting that was asked for; see Note
	Summary  Summary
	Standing []Memory // the standing rules and what is pinned, oldest first
}

// maxStanding is more than any prompt takes.
const maxStanding = 400

// Opening reads all of it in one statement, since it stands before each request to a model. The summary is that of the
// scope's conversation which reaches furthest, and beyond the place since.
func (v *Vault) Opening(ctx context.Context, in Scope, since int64, setting string) (o Opening, err error) {
	where, reach := in.where()
	args := append([]any{setting, in.Conversation, since}, reach...)
	_, err = collect(ctx, v.rdb, func(s scanner) (_ struct{}, err error) {
		var part int
		m, err := scanMemory(behind{s, &part})
		switch part {
		case 0:
			o.Head = m.Text
		case 1:
			o.Summary = Summary{ID: m.ID, Conversation: m.Conversation, From: m.SourceMessage, To: m.SourceRun, Text: m.Text, Model: m.Origin, Created: m.Created}
		default:
			o.Standing = append(o.Standing, m)
		}
		return struct{}{}, err
	}, `SELECT 0, 0, '', NULL, NULL, '', '', value, 0, '', NULL, NULL, '', NULL, 0, 0 FROM setting WHERE name = ?
		UNION ALL SELECT * FROM (SELECT 1, id, '', NULL, conversation_id, '', '', text, 0, '', from_pos, to_pos, model, NULL, created, created FROM summary WHERE conversation_id = ? AND to_pos > ? ORDER BY to_pos DESC, id DESC LIMIT 1)
		UNION ALL SELECT * FROM (SELECT 2, `+prefixed(memoryColumns)+` FROM memory m WHERE m.id IN (SELECT id FROM memory WHERE pinned UNION SELECT id FROM memory WHERE kind = 'rule')
			AND m.superseded_by IS NULL AND `+where+` ORDER BY m.id DESC LIMIT ? + 0)`, append(args, maxStanding)...)
	slices.Reverse(o.Standing)
	return o, err
}

// behind scans a row of which the first column says what it is.
type behind struct {
	s    scanner
	part *int
}

func (b behind) Scan(dest ...any) error { return b.s.Scan(append([]any{b.part}, dest...)...) }

// Note stores a setting that may be made again: it is not flushed. "" removes it.
func (v *Vault) Note(ctx context.Context, name, value string) error {
	return v.write(ctx, "note", relaxed, func(t *Tx) error { return t.Set(name, value) })
}

// OpenJobs gives the open jobs that a conversation may be told of, the next one first: in private those of its person, in
// a group its own.
func (v *Vault) OpenJobs(ctx context.Context, c Conversation, limit int) ([]Job, error) {
	if c.Kind == Group {
		return collect(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE conversation_id = ? AND state IN ('waiting','firing','paused') ORDER BY next IS NULL, next, id LIMIT ?`, c.ID, limit)
	}
	return v.Jobs(ctx, c.Person, true, limit)
}

// OpenQuestions gives the questions that runs of a conversation wait for, oldest first.
func (v *Vault) OpenQuestions(ctx context.Context, conversation int64, limit int) ([]Approval, error) {
	return collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE state = 'open' AND run_id IN (SELECT id FROM run WHERE conversation_id = ? AND state IN ('waiting','running','queued')) ORDER BY id LIMIT ?`, conversation, limit)
}
