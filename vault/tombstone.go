package vault

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// What was forgotten leaves a mark of what it was about: a keyed hash, from which nobody reads the words back. Without it the
// next reading of an old talk would bring the fact up again. The key is made with the first mark and stands in no export.

// ErrForgotten says that a fact is not stored because its person had it forgotten, and has not told it again since.
var ErrForgotten = errors.New("this was forgotten and has not been told again since")

// settingTombKey is the key of the marks, 32 bytes in hexadecimal.
const settingTombKey = "tombstone_key"

// mark gives the mark of a fact where it is kept; nil when nothing was ever forgotten and make is not set.
func (t *Tx) mark(m Memory, teller string, make bool) ([]byte, error) {
	written, err := t.Setting(settingTombKey)
	if err != nil || written == "" && !make {
		return nil, err
	}
	key, err := hex.DecodeString(written)
	if err != nil {
		return nil, fmt.Errorf("read the key of what was forgotten: %w", err)
	}
	if len(key) == 0 {
		key = []byte(rand.Text() + rand.Text())
		if err := t.Set(settingTombKey, hex.EncodeToString(key)); err != nil {
			return nil, err
		}
	}
	hash := hmac.New(sha256.New, key)
	where := fmt.Sprintf("person %d", m.Person)
	if m.Scope == "conversation" {
		where = fmt.Sprintf("conversation %d", m.Conversation)
	}
	fmt.Fprintf(hash, "%s\x00%s", where, gist(m.Text, teller))
	return hash.Sum(nil), nil
}

// bury leaves a mark of a fact that is forgotten.
func (t *Tx) bury(m Memory) error {
	teller, err := t.tellerOf(m)
	if err != nil {
		return err
	}
	mark, err := t.mark(m, teller, true)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO tombstone(mark, upto, made) VALUES(?, coalesce((SELECT max(id) FROM message), 0), ?)
		ON CONFLICT DO UPDATE SET upto = excluded.upto, made = excluded.made`, mark, t.now.UnixMilli())
	return err
}

// unbury lets a fact be kept that was forgotten, if its person wants it: by command, or when they have said it again since. A
// tool call alone is no such wish, nor is what was found in an old talk. ErrForgotten.
func (t *Tx) unbury(m Memory, teller string) error {
	mark, err := t.mark(m, teller, false)
	if err != nil || mark == nil {
		return err
	}
	upTo, err := one(t.ctx, t.tx, scanInt, `SELECT upto FROM tombstone WHERE mark = ?`, mark)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	switch m.Source {
	case "command":
	case "message":
		again, err := t.saidSince(m, teller, upTo)
		if err != nil {
			return err
		}
		if !again {
			return ErrForgotten
		}
	default:
		return ErrForgotten
	}
	_, err = t.exec(`DELETE FROM tombstone WHERE mark = ?`, mark)
	return err
}

// saidSince reports whether the person of a fact has said it, in their own words and in the talk of the run it comes from,
// behind message upTo.
func (t *Tx) saidSince(m Memory, teller string, upTo int64) (bool, error) {
	const lately = 30
	said, err := collect(t.ctx, t.tx, scanString, `SELECT text FROM message WHERE conversation_id = (SELECT conversation_id FROM run WHERE id = ?) AND id > ?
		AND person_id = ? AND role = 'user' AND kind = 'text' AND forwarded = '' ORDER BY pos DESC LIMIT ?`, m.SourceRun, upTo, m.Person, lately)
	for _, words := range said {
		if backs(words, m.Text, teller) {
			return true, err
		}
	}
	return false, err
}

// tellerOf is the name that counts as "I" in a fact; a group's facts have none, since everybody there tells them.
func (t *Tx) tellerOf(m Memory) (string, error) {
	if m.Scope == "conversation" || m.Person == 0 {
		return "", nil
	}
	return one(t.ctx, t.tx, scanString, `SELECT name FROM person WHERE id = ?`, m.Person)
}
