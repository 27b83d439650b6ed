package when

import (
	"errors"
	"testing"
	"time"
)

func TestSplit(t *testing.T) {
	now := time.Date(2026, time.January, 12, 15, 5, 0, 0, zone(t, "Europe/Berlin"))
	for _, tt := range []struct{ sentence, at, rest string }{
		{"in 1 minute to stretch", "2026-01-12T15:06:00+01:00", "stretch"},
		{"to stretch in 1 minute", "2026-01-12T15:06:00+01:00", "stretch"},
		{"in 5 seconds, still here", "2026-01-12T15:05:05+01:00", "still here"},
		{"in 1 hour, water the fern", "2026-01-12T16:05:00+01:00", "water the fern"},
		{"tomorrow at 9 call mum", "2026-01-13T09:00:00+01:00", "call mum"},
		{"call mum tomorrow at 9", "2026-01-13T09:00:00+01:00", "call mum"},
		{"every weekday at 8 take pills", "2026-01-13T08:00:00+01:00", "take pills"},
		{"tomorrow at 9, newest reminder of all", "2026-01-13T09:00:00+01:00", "newest reminder of all"},
		{"tomorrow at 12:13, item-3-3", "2026-01-13T12:13:00+01:00", "item-3-3"},
		{"in 12 seconds, tick 10", "2026-01-12T15:05:12+01:00", "tick 10"},
		{"remind me at six to feed the cat", "2026-01-12T18:00:00+01:00", "feed the cat"},
		{"remind me to feed the cat at six", "2026-01-12T18:00:00+01:00", "feed the cat"},
		{"Please remind me tomorrow to Call Mum!", "2026-01-13T09:00:00+01:00", "Call Mum!"},
		{"tomorrow call mum at 9", "2026-01-13T09:00:00+01:00", "call mum"},
		{"at 9 tomorrow that the oven is on", "2026-01-13T09:00:00+01:00", "the oven is on"},
		{"every monday, wednesday and friday at 8, gym", "2026-01-14T08:00:00+01:00", "gym"},
		{"tomorrow, 3 eggs", "2026-01-13T09:00:00+01:00", "3 eggs"},
		{"every day at 8 and 12 pills", "2026-01-13T08:00:00+01:00", "12 pills"},
		{"tomorrow about dinner", "2026-01-13T09:00:00+01:00", "dinner"},
		{"tomorrow, prepare for friday", "2026-01-13T09:00:00+01:00", "prepare for friday"},
		{"tomorrow prepare for friday at 10", "2026-01-13T09:00:00+01:00", "prepare for friday at 10"},
		{"tomorrow book a table for 8pm", "2026-01-13T09:00:00+01:00", "book a table for 8pm"},
		{"tomorrow at 9 prepare friday", "2026-01-13T09:00:00+01:00", "prepare friday"},
		{"in 2 hours ask Bob about tomorrow", "2026-01-12T17:05:00+01:00", "ask Bob about tomorrow"},
		{"wake me up for 8pm", "2026-01-12T20:00:00+01:00", "wake me up"},
		{"call mum tomorrow at 9 please.", "2026-01-13T09:00:00+01:00", "call mum"},
		{"every monday take the pills at 8", "2026-01-19T08:00:00+01:00", "take the pills"},
		{"do 9 pushups tomorrow", "2026-01-13T09:00:00+01:00", "do 9 pushups"},
		{"enjoy the sun in 2 hours", "2026-01-12T17:05:00+01:00", "enjoy the sun"},
		{"pay the rent on the 31st of every month", "2026-01-31T09:00:00+01:00", "pay the rent"},
		{"20 minutes stretch", "2026-01-12T15:25:00+01:00", "stretch"},
		{"0 9 * * 1-5 stand up", "2026-01-13T09:00:00+01:00", "stand up"},
		{"0 0 9 * * 1-5, stand up", "2026-01-13T09:00:00+01:00", "stand up"},
		{"@daily, stand up", "2026-01-13T00:00:00+01:00", "stand up"},
		{"tomorrow at 9", "2026-01-13T09:00:00+01:00", ""},
		{"tomorrow at 9, (call) mum.", "2026-01-13T09:00:00+01:00", "call) mum."},
		{"morgen um 9 Mama anrufen", "2026-01-13T09:00:00+01:00", "Mama anrufen"},
		{"erinnere mich in 2 Stunden bitte zu lüften", "2026-01-12T17:05:00+01:00", "lüften"},
		{"rappelle-moi demain à 9h d'appeler maman", "2026-01-13T09:00:00+01:00", "d'appeler maman"},
		{"mañana a las 9 llamar a mamá", "2026-01-13T09:00:00+01:00", "llamar a mamá"},
		{"amanhã às 9 ligar à mãe", "2026-01-13T09:00:00+01:00", "ligar à mãe"},
		{"domani alle 9 chiamare mamma", "2026-01-13T09:00:00+01:00", "chiamare mamma"},
		{"ligar ao dentista amanhã às 9", "2026-01-13T09:00:00+01:00", "ligar ao dentista"},
	} {
		res, rest, err := Split(tt.sentence, now)
		if err != nil {
			t.Errorf("Split(%q): %v", tt.sentence, err)
			continue
		}
		if at := res.At.Format(time.RFC3339); at != tt.at || rest != tt.rest {
			t.Errorf("Split(%q) = %s, %q; want %s, %q", tt.sentence, at, rest, tt.at, tt.rest)
		}
	}
}

func TestSplitAsks(t *testing.T) {
	now := time.Date(2026, time.January, 12, 15, 5, 0, 0, zone(t, "Europe/Berlin"))
	for _, sentence := range []string{
		"", "call mum", "call May", "enjoy the sun", "buy 9", "read chapter the second", "boil the eggs 10 minutes", "7ish call mum", "tomorrow around 7 call mum", "pay on 3/2",
		"31 feb pay", "tomorrow at 25 go", "every third thursday clean", "friday buy the tickets tomorrow at 8", "in 10 minutes check the oven at 9", "do 9, then rest", "tomorrow at 9 or at 10 call mum", "TZ=Europe/Berlin stand up",
		"CRON_TZ=Europe/Berlin 0, broken", "0 9 * * 9 stand up", "buy presents before christmas", "do 9 pushups", "@reboot, hello",
	} {
		res, rest, err := Split(sentence, now)
		var question *AskError
		if !errors.As(err, &question) || question.Question == "" {
			t.Errorf("Split(%q) = %s, %q, %v; want a question", sentence, res.At, rest, err)
		}
	}
	var past *PastError
	if _, _, err := Split("today at 8am call mum", now); !errors.As(err, &past) {
		t.Errorf("a time that is over today gives %v; want a PastError", err)
	}
}
