// Package activity shows in a chat that the agent is at work and with what, and takes the buttons from questions that are
// decided. What it does may fail or be lost: nothing depends on it.
//
// typing.go shows who is at work, line.go what a long run is doing (in words.go's words, with preview.go's piece of the
// answer), settle.go settles questions. Each gateway has goroutines of its own, so that one that hangs holds up no other.
package activity

import (
	"context"
	"log/slog"
	"sync"

	"hearth/gateways"
	"hearth/vault"
)

// Options are what it needs.
type Options struct {
	Vault    *vault.Vault
	Gateways []gateways.Gateway
	Log      *slog.Logger        // nil = nothing is logged
	Mask     func(string) string // hides known secrets in what is shown, as the outbox does; nil = nothing is hidden
	MaskPart func(string) string // Mask for an answer whose end is still to come; nil = its whole words, by Mask
}

// Run shows until ctx ends.
func Run(ctx context.Context, opt Options) error {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Mask == nil {
		opt.Mask = func(s string) string { return s }
	}
	if opt.MaskPart == nil {
		opt.MaskPart = unfinished(opt.Mask)
	}
	var all sync.WaitGroup
	for _, g := range opt.Gateways {
		if typer, ok := g.(gateways.Typer); ok {
			all.Go(func() { newTypist(opt, g.Name(), typer).run(ctx) })
		}
		if editor, ok := g.(gateways.Editor); ok {
			all.Go(func() { newLiner(opt, g.Name(), editor).run(ctx) })
		}
		if asker, ok := g.(gateways.Asker); ok {
			all.Go(func() { newSettler(opt, g.Name(), asker).run(ctx) })
		}
	}
	<-ctx.Done()
	all.Wait()
	return nil
}
