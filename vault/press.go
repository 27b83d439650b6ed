package vault

import (
	"fmt"
	"time"
)

// FiringKey is the key of a job's run for a due instant, and of the part that says it.
func FiringKey(job int64, due time.Time) string {
	return fmt.Sprintf("job:%d@%d", job, due.UnixMilli())
}

// partsOfKey are a part and the pieces that Split made of it. '0' follows '/'.
const partsOfKey = `(key = ?1 OR key > ?1 || '/' AND key < ?1 || '0')`

// Asked gives the part of a key, with what its buttons have come to. ErrNotFound.
func (t *Tx) Asked(key string) (Part, error) {
	return one(t.ctx, t.tx, scanPart, `SELECT `+partColumns+` FROM outbox WHERE key = ?`, key)
}

// Answer notes what the buttons of a part have come to, in words of the program. The gateway takes the buttons away and shows
// the words instead. The first answer counts: fresh says whether this is it.
func (t *Tx) Answer(key, outcome string) (fresh bool, err error) {
	n, err := t.exec(`UPDATE outbox SET outcome = ?2 WHERE `+partsOfKey+` AND outcome = ''`, key, outcome)
	return n > 0, err
}

// AnswerAll answers all parts whose keys begin like this and that nobody has answered.
func (t *Tx) AnswerAll(prefix, outcome string) error {
	_, err := t.exec(`UPDATE outbox SET outcome = ?3 WHERE key >= ?1 AND key < ?2 AND outcome = ''`, prefix, prefix+"\U0010FFFF", outcome)
	return err
}

// JobHeeded notes that a person has done what a job said at a due instant.
func (t *Tx) JobHeeded(job int64, due time.Time) error {
	_, err := t.exec(`UPDATE job SET last_result = 'done' WHERE id = ? AND last_due = ? AND state != 'cancelled'`, job, due.UnixMilli())
	return err
}
