package main

import (
	"context"
	"path/filepath"
	"time"

	"hearth/gateways/whatsapp"
	"hearth/vault"
)

// sweepElsewhere clears the files beside the vault of forgotten words.
func sweepElsewhere(ctx context.Context, v *vault.Vault) error {
	return v.Elsewhere(ctx, func(ctx context.Context) error {
		return whatsapp.Scrub(ctx, filepath.Join(v.Dir(), whatsappFile))
	})
}

// elsewhere does so whenever something is forgotten, and when it could not be done before.
func (a *agent) elsewhere(ctx context.Context) error {
	woken, cancel := a.vault.SubscribeLater(vault.SettingsChanged)
	defer cancel()
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		if err := sweepElsewhere(ctx, a.vault); err != nil && ctx.Err() == nil {
			a.log.Warn("cannot sweep forgotten words out of the files beside the vault; I try again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-tick.C:
		}
	}
}
