package vault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// settingBeat is when the heartbeat last woke a run for a person, RFC 3339.
func settingBeat(person int64) string { return fmt.Sprintf("heartbeat:%d", person) }

// maxRules bounds how many rules a heartbeat looks at.
const maxRules = 50

// RulesOf gives the rules that a person wrote, in their own words and oldest first: the memories of kind rule, and those
// they pinned. What somebody else said is no rule.
func (v *Vault) RulesOf(ctx context.Context, person int64) ([]string, error) {
	return collect(ctx, v.rdb, scanString, `SELECT text FROM memory WHERE person_id = ? AND scope IN ('person','household') AND (kind = 'rule' OR pinned)
		AND origin = '' AND source != 'extracted' AND superseded_by IS NULL ORDER BY id LIMIT ? + 0`, person, maxRules)
}

// LastBeat is when the heartbeat last woke a run for a person, and whether that run failed; zero before the first time.
func (v *Vault) LastBeat(ctx context.Context, person int64) (at time.Time, failed bool, err error) {
	value, err := v.Setting(ctx, settingBeat(person))
	if err != nil || value == "" {
		return at, false, err
	}
	if at, err = time.Parse(time.RFC3339, value); err != nil {
		return time.Time{}, false, nil // as good as none: the rhythm begins anew
	}
	state, err := one(ctx, v.rdb, scanString, `SELECT state FROM run WHERE key = ?`, beatKey(person, at))
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return at, RunState(state) == Failed, err
}

func beatKey(person int64, at time.Time) string {
	return fmt.Sprintf("heartbeat:%d@%d", person, at.Unix())
}

// Beat commits that the heartbeat of a person has come: a run with these words, unless the last one has not ended; with no
// words only the instant is noted.
func (v *Vault) Beat(ctx context.Context, person int64, words string) error {
	return v.write(ctx, "heartbeat", durable, func(t *Tx) error {
		if err := t.Set(settingBeat(person), t.now.Format(time.RFC3339)); err != nil || words == "" {
			return err
		}
		c, err := t.privateConversation(person)
		if err != nil {
			return err
		}
		open, err := one(t.ctx, t.tx, scanInt, `SELECT count(*) FROM run WHERE conversation_id = ? AND trigger = 'system' AND task = '' AND state IN ('queued','running','waiting')`, c.ID)
		if err != nil || open != 0 {
			return err
		}
		to, err := t.v.privateAddress(t.ctx, t.tx, person)
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO run(conversation_id, person_id, trigger, key, gateway, account, chat, thread, input, state, priority, ready_at, queued)
			VALUES(?,?,'system',?,?,?,?,?,?,'queued',?,?,?) ON CONFLICT(key) DO NOTHING`,
			c.ID, person, beatKey(person, t.now), to.Gateway, to.Account, to.Chat, to.Thread, words, priorityIdle, t.now.UnixMilli(), t.now.UnixMilli())
		return err
	})
}
