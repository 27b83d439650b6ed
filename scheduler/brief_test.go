package scheduler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

// The brief is written from rows and wakes no model; a day with nothing in it costs no word.
func TestTheDailyBriefIsWrittenFromRows(t *testing.T) {
	inBubble(t, "2026-03-10T07:00:00Z", func(w *world) {
		w.start()
		brief := w.add(vault.Say, "my brief", "cron 0 8 * * *", "UTC", "2026-03-10T08:00:00Z")
		if brief.Kind != vault.Do || !brief.IsBrief() {
			t.Fatalf("stored as %s: %q", brief.Kind, brief.Text)
		}
		w.until("2026-03-10T08:00:01Z")
		if got := w.deliver(); len(got) != 0 {
			t.Errorf("with nothing to tell: %q", got)
		}
		if j := w.job(brief.ID); j.LastResult != "nothing to tell" || !j.Next.Equal(at(t, "2026-03-11T08:00:00Z")) {
			t.Errorf("it is %q, next %s", j.LastResult, j.Next)
		}
		w.add(vault.Say, "dentist\nbring the card", "", "UTC", "2026-03-11T15:30:00Z")
		w.add(vault.Do, "look at the weather", "", "UTC", "2026-03-11T09:00:00Z")
		w.add(vault.Say, "not today", "", "UTC", "2026-03-12T00:00:00Z")
		w.add(vault.Say, "lost", "", "UTC", "2026-03-11T07:59:00Z")
		w.until("2026-03-11T07:59:01Z")
		heads, err := w.vault.Heads(w.t.Context(), "telegram")
		w.must(err)
		w.must(w.vault.Sending(w.t.Context(), heads[0]))
		w.must(w.vault.Undelivered(w.t.Context(), heads[0], vault.Refused, "the chat is gone", time.Time{}))
		w.until("2026-03-11T08:00:01Z")
		want := "Your brief for Wed 11 Mar 2026.\nDue today:\n- 09:00: look at the weather (follow-up 3)\n- 15:30: dentist bring the card (reminder 2)\n" +
			"Blocked:\n- lost (reminder 5): not delivered: the chat is gone\n- not delivered: Reminder 5: lost (`hearth outbox retry 1` tries again, `hearth outbox drop 1` gives it up)"
		if diff := cmp.Diff([]string{want}, w.deliver()); diff != "" {
			t.Error(diff)
		}
		if _, err := w.vault.Claim(w.t.Context()); err == nil {
			t.Error("a model is asked for it")
		}
		if j := w.job(brief.ID); j.LastResult != "delivered" {
			t.Errorf("the brief is %q", j.LastResult)
		}
	})
}

// What waits for an owner is in the brief of that owner, and in nobody else's.
func TestTheBriefShowsQuestionsToTheirOwner(t *testing.T) {
	inBubble(t, "2026-03-10T07:00:00Z", func(w *world) {
		w.must(w.vault.SyncPeople(w.t.Context(), []vault.Person{
			{Name: "Me", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}},
			{Name: "Kid", Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: "2"}}},
		}))
		kid, err := w.vault.PersonNamed(w.t.Context(), "Kid")
		w.must(err)
		talk, err := w.vault.PrivateConversation(w.t.Context(), kid.ID)
		w.must(err)
		w.start()
		w.add(vault.Do, "write to Bob", "", "UTC", "2026-03-10T07:30:00Z")
		w.until("2026-03-10T07:30:01Z")
		p, err := w.vault.Claim(w.t.Context())
		w.must(err)
		_, err = w.vault.SaveStep(w.t.Context(), p.Run.ID, vault.StepDone{Park: true, Calls: []vault.Call{{
			Tool: "send", Args: `{}`, Effect: "acts",
			Ask: &vault.Question{Text: "May I write to Bob?", Choices: []string{vault.ChooseApprove, vault.ChooseDeny}, Expires: w.now().Add(24 * time.Hour)},
		}}})
		w.must(err)
		w.deliver()
		w.add(vault.Say, "brief", "cron 0 8 * * *", "UTC", "2026-03-10T08:00:00Z")
		theirs, err := w.vault.AddJob(w.t.Context(), vault.Job{
			Kind: vault.Say, Text: "what is due and waiting for me?", Spec: "cron 0 8 * * *", Zone: "UTC", Next: at(t, "2026-03-10T08:00:00Z"), Person: kid.ID, Conversation: talk.ID,
			To: vault.Address{Gateway: "telegram", Account: "bot", Chat: "2"},
		})
		w.must(err)
		w.until("2026-03-10T08:00:01Z")
		if diff := cmp.Diff([]string{"Your brief for Tue 10 Mar 2026.\nWaiting for you:\n- May I write to Bob? (/answer 1 CHOICE)"}, w.deliver()); diff != "" {
			t.Error(diff)
		}
		if j := w.job(theirs.ID); j.LastResult != "nothing to tell" {
			t.Errorf("the member's brief: %q", j.LastResult)
		}
	})
}

// A brief that is due in the quiet hours comes at their end, with what else waited.
func TestTheBriefWaitsForTheMorning(t *testing.T) {
	inBubble(t, "2026-03-10T23:30:00Z", func(w *world) {
		w.quietNights()
		w.start()
		w.add(vault.Say, "brief", "cron 0 7 * * *", "UTC", "2026-03-11T07:00:00Z")
		w.add(vault.Say, "train", "", "UTC", "2026-03-11T09:00:00Z")
		w.must(w.vault.TellLater(w.t.Context(), "backup", "The backup failed."))
		w.until("2026-03-11T07:00:01Z")
		if diff := cmp.Diff([]string{"The backup failed.\n\nYour brief for Wed 11 Mar 2026.\nDue today:\n- 09:00: train (reminder 2)"}, w.deliver()); diff != "" {
			t.Error(diff)
		}
	})
}
