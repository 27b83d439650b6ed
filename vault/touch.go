package vault

import (
	"context"
	"errors"
	"fmt"
)

// Touch goes the way of a read and of an event, and changes nothing: no page is written and nothing is flushed. While the
// vault is stuck it does not come back; it waits for the event in hand as every other does.
func (v *Vault) Touch(ctx context.Context) error {
	if _, err := v.Paused(ctx); err != nil {
		return fmt.Errorf("read vault: %w", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.writer == nil {
		return errors.New("vault is closed")
	}
	if err := v.disk.failed(); err != nil {
		return err
	}
	tx, err := v.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin an event: %w", err)
	}
	return tx.Rollback()
}
