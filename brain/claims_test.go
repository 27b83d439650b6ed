package brain

import (
	"strings"
	"testing"

	"hearth/vault"
)

func finished(tool, receipt string) vault.Call {
	return vault.Call{Tool: tool, State: vault.Finished, Result: "Done. " + receipt, Receipt: receipt}
}

func TestSCH34Claims(t *testing.T) {
	reminded := []vault.Call{finished("remind", "Reminder 7: Fri 4 Dec 2026, 09:00 (Europe/Lisbon): call the plumber")}
	for _, tt := range []struct {
		words string
		calls []vault.Call
		want  string // part of the correction; "" = none
	}{
		{"Done, I'll remind you at six.", nil, "No reminder"},
		{"I will remind you tomorrow.", nil, "No reminder"},
		{"I've set a reminder for 9.", nil, "No reminder"},
		{"Your reminder has been scheduled.", nil, "No reminder"},
		{"Reminder set!", nil, "No reminder"},
		{"Ich erinnere dich um sechs.", nil, "No reminder"},
		{"Te recordaré mañana.", nil, "No reminder"},
		{"Je te rappellerai demain.", nil, "No reminder"},
		{"Reminder 8: Fri 4 Dec 2026, 09:00 (Europe/Lisbon): call the plumber", nil, "Reminder 8 was not stored"},
		{"All set:\n- Follow-up 3: every Monday: look", nil, "Follow-up 3 was not stored"},
		{"I've noted that.", nil, "Nothing was stored in the memory"},
		{"I'll remember that for you.", nil, "Nothing was stored in the memory"},
		{"I've written it to a file.", nil, "No file"},
		{"I've cancelled the reminder.", nil, "No reminder was cancelled"},
		{"Reminder 3 has been cancelled.", nil, "No reminder was cancelled"},

		{"Done, I'll remind you at six.", reminded, ""},
		{"I've set a reminder.", reminded, ""},
		{"Reminder 7: on Friday at nine.", reminded, ""},
		{"Reminder 8: on Friday at nine.", reminded, "Reminder 8 was not stored"},
		{"Reminder 4: the fourth of December.", reminded, "Reminder 4 was not stored"},
		{"Reminder 70: on Friday.", reminded, "Reminder 70 was not stored"},
		{"Reminder 7: on Friday.", []vault.Call{{Tool: "jobs", State: vault.Finished, Result: "Reminder 7: Fri 4 Dec 2026: plumber\nReminder 9: …"}}, ""},
		{"Reminder 7: on Friday.", []vault.Call{{Tool: "remind", State: vault.Broken, Result: "Reminder 7 is gone"}}, "Reminder 7 was not stored"},
		{"I've set a reminder.", []vault.Call{{Tool: "remind", State: vault.Broken, Result: "no such time"}}, "No reminder"},
		{"I've set a reminder.", []vault.Call{{Tool: "remind", State: vault.Asking}}, "No reminder"},
		{"I've set a reminder.", []vault.Call{finished("recall", "")}, "No reminder"},
		{"I've noted that.", []vault.Call{finished("remember", "")}, ""},
		{"I've written it to a file.", []vault.Call{finished("write_file", "")}, ""},

		{"When shall I remind you?", nil, ""},
		{"You asked me about reminders; what about them?", nil, ""},
		{"The plumber comes on Friday.", nil, ""},
		{"A reminder: tomorrow is Friday.", nil, ""},
		{"Your sister is allergic to nuts.", nil, ""},
	} {
		got := unsupported(tt.words, tt.calls)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%q with %d calls is corrected with %q, want %q", tt.words, len(tt.calls), got, tt.want)
		}
	}
}

// SCH-34: a claim without a deed is sent back once, and contradicted when it is repeated.
func TestSCH34ClaimWithoutADeed(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("Done, I'll remind you at six.")))
		w.use(m)
		w.start()
		got := w.answer(w.say("remind me at six to feed the cat"))
		if !strings.Contains(got, "No reminder was stored by this") {
			t.Errorf("the person reads %q", got)
		}
		if m.count() != 2 {
			t.Errorf("%d requests, want 2", m.count())
		}
	})
}

func TestSCH34ClaimIsMended(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(steps(say("Done, I'll remind you at six."), want("remind", `{"text":"cat"}`), say("Done, I'll remind you at six.")))
		w.start()
		got := w.answer(w.say("remind me at six to feed the cat"))
		if want := "Done, I'll remind you at six.\n\nReminder 1: Fri 4 Dec 2026, 09:00 (UTC): cat"; got != want {
			t.Errorf("the person reads %q, want %q", got, want)
		}
	})
}

// SCH-34: after a real deed nothing is doubted and nothing said twice.
func TestSCH34NoFalseAlarm(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("remind", `{"text":"cat"}`), say("I've set the reminder.\nReminder 1: Fri 4 Dec 2026, 09:00 (UTC): cat")))
		w.use(m)
		w.start()
		got := w.answer(w.say("remind me at six to feed the cat"))
		if got != "I've set the reminder.\nReminder 1: Fri 4 Dec 2026, 09:00 (UTC): cat" || m.count() != 2 {
			t.Errorf("the person reads %q after %d requests", got, m.count())
		}
	})
}
