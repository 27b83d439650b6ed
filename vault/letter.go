package vault

import (
	"context"
	"fmt"
)

// Letter queues a message from one known person to another, in the private chat where the other is reached, and puts it
// into the history there. The same key sends once. The address says where it goes.
func (v *Vault) Letter(ctx context.Context, key string, run int64, from, to Person, words string) (where Address, err error) {
	err = v.write(ctx, "letter", durable, func(t *Tx) error {
		if where, err = v.privateAddress(t.ctx, t.tx, to.ID); err != nil {
			return err
		}
		c, err := t.privateConversation(to.ID)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("From %s: %s", from.Name, words)
		number, err := t.Post(Part{Key: key, Run: run, Conversation: c.ID, To: where, Class: Letter, Text: text})
		if err != nil || number == 0 {
			return err
		}
		return t.said(c.ID, 0, where, text)
	})
	return where, err
}
