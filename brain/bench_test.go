package brain

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"hearth/skills"
	"hearth/vault"
)

// BenchmarkRun is all that a plain answer costs beside its model: from the message on its way in to the answer in the
// outbox, with a history behind it.
func BenchmarkRun(b *testing.B) {
	for _, past := range []int{0, 100} {
		b.Run(fmt.Sprint("history ", past), func(b *testing.B) {
			ctx, br, me := living(b, Backend{Name: "home", Model: steps(say("ok")), Context: 32_768})
			v := br.vault
			woken, unsubscribe := v.Subscribe()
			defer unsubscribe()
			n := 0
			turn := func() {
				n++
				in := vault.Inbound{Gateway: "terminal", Account: "local", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: fmt.Sprint(n), Kind: "text", Text: "hello there", Sent: time.Now()}
				acc, err := v.Accept(ctx, in, me, 0)
				if err != nil {
					b.Fatal(err)
				}
				for {
					words, err := v.Reply(ctx, acc.Run) // one small query: what looks must not be what is measured
					if err != nil {
						b.Fatal(err)
					}
					if words != "" {
						return
					}
					<-woken
				}
			}
			for range past {
				turn()
			}
			for b.Loop() {
				turn()
			}
		})
	}
}

// living gives a brain at work on a vault of its own, until the benchmark ends, and the vault's owner.
func living(b *testing.B, model Backend) (context.Context, *Brain, vault.Person) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	v, err := vault.Open(ctx, b.TempDir(), vault.Options{})
	if err != nil {
		b.Fatal(err)
	}
	me, err := v.TerminalOwner(ctx)
	if err != nil {
		b.Fatal(err)
	}
	set, err := skills.NewSet((&toolbox{}).all()...)
	if err != nil {
		b.Fatal(err)
	}
	brain := New(Options{Vault: v, Tools: set, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, Settings{Model: model.Name, Backends: map[string]Backend{model.Name: model}})
	done := make(chan error, 1)
	go func() { done <- brain.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		if err := v.Close(); err != nil {
			b.Error(err)
		}
	})
	return ctx, brain, me
}
