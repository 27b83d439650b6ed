package vault

import (
	"context"
	"fmt"
	"time"
)

// pressLife is how long a press of a button outlives our absence: Telegram drops one that is not fetched within 150 s
// (measured). The clock in the vault is noted to the minute, so a bit more is allowed for.
const pressLife = 3 * time.Minute

// mentionAgain is how long a question that was mentioned is left alone.
const mentionAgain = 24 * time.Hour

// MentionOpen puts each open question into the outbox once more, with its buttons, for whoever is asked: after an absence in
// which an answer may have been lost. Each is mentioned at most once a day. It reports how many were.
func (v *Vault) MentionOpen(ctx context.Context) (mentioned int, err error) {
	err = v.write(ctx, "mention", durable, func(t *Tx) error {
		mentioned, err = t.mentionOpen()
		return err
	})
	return mentioned, err
}

func (t *Tx) mentionOpen() (int, error) {
	now := t.now.UnixMilli()
	open, err := collect(t.ctx, t.tx, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE state = 'open' AND (expires IS NULL OR expires > ?1)
		AND asked <= ?1 - ?2 AND (mentioned IS NULL OR mentioned <= ?1 - ?3) ORDER BY id`, now, pressLife.Milliseconds(), mentionAgain.Milliseconds())
	if err != nil {
		return 0, err
	}
	for _, a := range open {
		if _, err := t.exec(`UPDATE approval SET mentioned = ? WHERE id = ?`, now, a.ID); err != nil {
			return 0, err
		}
		to, err := t.v.privateAddress(t.ctx, t.tx, a.Person)
		if err != nil {
			return 0, err
		}
		c, err := t.privateConversation(a.Person)
		if err != nil {
			return 0, err
		}
		if _, err := t.Post(Part{
			Key: fmt.Sprintf("ask:%d@%d", a.ID, now), Run: a.Run, Approval: a.ID, Conversation: c.ID, To: to, Class: Asks, Buttons: buttons(a.ID, a.Choices),
			Text: fmt.Sprintf("Still open since I was away. Question %d: %s\n%s", a.ID, a.Question, howToAnswer(a.ID, a)),
		}); err != nil {
			return 0, err
		}
	}
	return len(open), nil
}
