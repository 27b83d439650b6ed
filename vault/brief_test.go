package vault

import "testing"

func TestAsksForBrief(t *testing.T) {
	for words, want := range map[string]bool{
		"brief": true, "Daily brief": true, "my morning brief.": true, "give me the brief": true,
		"what is due, blocked, or waiting for me": true, "What's due and waiting": true, "tell me what is due today, blocked or waiting for me": true,
		"": false, "brief Bob": false, "the brief for court": false, "debrief": false, "what is due": false, "rent is due": false, "what is waiting for me": false, "give me my": false,
	} {
		if got := AsksForBrief(words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}

func FuzzAsksForBrief(f *testing.F) {
	f.Add("my brief")
	f.Add("what's due, blocked; waiting\x00")
	f.Fuzz(func(t *testing.T, words string) {
		if AsksForBrief(words) && AsksForBrief(words+" x") {
			t.Errorf("%q with a further word is a brief too", words)
		}
	})
}
