package inbox

import (
	"fmt"
	"testing"
	"time"

	"hearth/vault"
)

// BenchmarkJobs100k is /jobs of an owner with 500 reminders, in a vault with 100,000.
func BenchmarkJobs100k(b *testing.B) {
	ctx, now := b.Context(), time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)
	v, err := vault.Open(ctx, b.TempDir(), vault.Options{Now: func() time.Time { return now }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := v.Close(); err != nil {
			b.Error(err)
		}
	})
	if err := v.SyncPeople(ctx, []vault.Person{{Name: "Ana", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: ana}}}}); err != nil {
		b.Fatal(err)
	}
	owner, err := v.FirstOwner(ctx)
	if err != nil {
		b.Fatal(err)
	}
	talk, err := v.PrivateConversation(ctx, owner.ID)
	if err != nil {
		b.Fatal(err)
	}
	err = v.Do(ctx, "add", func(tx *vault.Tx) error {
		for i := range 100_000 {
			j := vault.Job{Kind: vault.Say, Conversation: talk.ID, Text: fmt.Sprint("thing ", i), Spec: "cron 0 9 * * *", Zone: "Europe/Lisbon", Next: now.Add(time.Duration(i+1) * time.Second)}
			if i%200 == 0 {
				j.Person = owner.ID
			}
			if _, err := tx.AddJob(j); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	box, number := New(Options{Vault: v, Now: func() time.Time { return now }}), 0
	for b.Loop() {
		number++
		in := vault.Inbound{Gateway: "telegram", Account: "bot", Chat: ana, ChatKind: vault.Private, Sender: ana, ID: fmt.Sprint(number), Kind: "text", Text: "/jobs", Sent: now}
		if err := box.Accept(ctx, in); err != nil {
			b.Fatal(err)
		}
	}
}
