package scheduler

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"hearth/vault"
)

// BenchmarkPass is one look at a vault with 100,000 jobs that are not due, and one at which one of them is.
func BenchmarkPass(b *testing.B) {
	ctx := b.Context()
	now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	v, err := vault.Open(ctx, b.TempDir(), vault.Options{Now: func() time.Time { return now }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := v.Close(); err != nil {
			b.Error(err)
		}
	})
	me, err := v.TerminalOwner(ctx)
	if err != nil {
		b.Fatal(err)
	}
	talk, err := v.PrivateConversation(ctx, me.ID)
	if err != nil {
		b.Fatal(err)
	}
	job := vault.Job{Kind: vault.Say, Conversation: talk.ID, To: vault.Address{Gateway: "telegram", Chat: "1"}, Spec: "cron 0 9 * * *", Zone: "UTC"}
	err = v.Do(ctx, "add", func(tx *vault.Tx) error {
		for i := range 100_000 {
			job.Text, job.Next = fmt.Sprint("thing ", i), now.Add(time.Hour+time.Duration(i)*time.Second)
			if _, err := tx.AddJob(job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	s := New(Options{Vault: v, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
	b.Run("nothing due", func(b *testing.B) {
		for b.Loop() {
			if next, err := s.pass(ctx); err != nil || !next.Equal(now.Add(time.Hour)) {
				b.Fatal(next, err)
			}
		}
	})
	b.Run("one due", func(b *testing.B) {
		now = now.Add(time.Hour)
		for b.Loop() {
			if _, err := s.pass(ctx); err != nil {
				b.Fatal(err)
			}
			now = now.Add(time.Second)
		}
	})
}
