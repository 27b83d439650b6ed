package skills

import (
	"context"
	"errors"
	"fmt"

	"hearth/vault"
)

type forgetArgs struct {
	ID int64 `json:"id"`
}

// forget names only the number: the receipt and the result are kept in the vault, which must not hold the words any more.
func (b builtin) forget(ctx context.Context, c Call, a forgetArgs) (Result, error) {
	if m, err := b.vault.Memory(ctx, c.Scope(), a.ID); err == nil && m.Kind == "rule" && !orderedToForget(c, a.ID) {
		return Result{}, fmt.Errorf("memory %d is a standing rule, which only the person ends: they write /forget %d", a.ID, a.ID)
	}
	f, err := b.vault.Forget(ctx, c.Scope(), a.ID)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return Result{}, fmt.Errorf("there is no memory %d to forget; recall gives the numbers", a.ID)
	case err != nil:
		return Result{}, fmt.Errorf("forget memory %d: %w", a.ID, err)
	}
	receipt := fmt.Sprintf("Forgotten: memory %d", f.ID)
	for _, n := range f.Also {
		receipt += fmt.Sprintf(", and %d that said the same", n)
	}
	receipt += "."
	if f.Again != 0 {
		receipt += fmt.Sprintf(" Memory %d, which it had replaced, holds again.", f.Again)
	}
	return confirm(receipt, ""), nil
}
