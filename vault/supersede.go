package vault

import (
	"context"
	"errors"
)

// ErrNotReplaceable says that there is no memory that the new one could take the place of: none of that number in the scope,
// or one whose place was taken already, or which only its person's own words can replace.
var ErrNotReplaceable = errors.New("there is no such memory whose place this could take")

// replaceable gives the memory that a new one is to supersede; the zero value when it names none. Only what the scope reaches
// can be superseded, of the household's only what the same person told, and nothing by words that are not the person's own. A
// standing rule stays until its person has it forgotten.
func (t *Tx) replaceable(in Scope, m Memory) (old Memory, err error) {
	if m.Replaces == 0 {
		return old, nil
	}
	old, err = memoryIn(t.ctx, t.tx, in, m.Replaces)
	switch {
	case errors.Is(err, ErrNotFound):
		return old, ErrNotReplaceable
	case err != nil:
		return old, err
	case old.SupersededBy != 0 && m.Key != "":
		by, err := memoryIn(t.ctx, t.tx, in, old.SupersededBy)
		switch {
		case err == nil && by.Key == m.Key:
			return Memory{}, nil // by this very call, before a crash
		case err == nil, errors.Is(err, ErrNotFound):
			return old, ErrNotReplaceable
		}
		return old, err
	case old.SupersededBy != 0, m.Origin != "", old.Scope == "household" && old.Person != in.Person, old.Kind == "rule":
		return old, ErrNotReplaceable
	}
	return old, nil
}

// supersede puts a memory in the place of another one, which stays as history. What stood in every prompt still does, in its
// new words.
func (t *Tx) supersede(old Memory, by *Memory) error {
	if old.ID == 0 || old.ID == by.ID {
		return nil
	}
	_, err := t.exec(`UPDATE memory SET superseded_by = ? WHERE id = ?`, by.ID, old.ID)
	if err == nil && old.Pinned {
		by.Pinned = true
		_, err = t.exec(`UPDATE memory SET pinned = 1 WHERE id = ?`, by.ID)
	}
	return err
}

// Before gives what a memory took the place of, the latest first: one line of history. It holds no more than twenty.
func (v *Vault) Before(ctx context.Context, in Scope, number int64) ([]Memory, error) {
	where, args := in.where()
	return collect(ctx, v.rdb, scanMemory, `WITH RECURSIVE chain(id, far) AS (SELECT ?, 0 UNION SELECT o.id, far + 1 FROM chain JOIN memory o ON o.superseded_by = chain.id WHERE far < 20)
		SELECT `+prefixed(memoryColumns)+` FROM chain JOIN memory m ON m.id = chain.id WHERE chain.far > 0 AND `+where+` ORDER BY chain.far, m.id DESC LIMIT 20`, append([]any{number}, args...)...)
}
