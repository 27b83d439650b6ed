package skills

import (
	"strings"
	"testing"

	"hearth/vault"
)

func TestSendQueuesOnceForAKnownPerson(t *testing.T) {
	h := newHouse(t)
	call := Call{Key: "call:7", Person: h.ana, Now: h.now, Zone: h.now.Location()}
	for range 2 { // a call that was cut is run again with its key
		result, err := h.tools["send"].Run(t.Context(), call, []byte(`{"person":"ben","text":"dinner is at seven"}`))
		if err != nil || result.Receipt != "On its way to Ben: dinner is at seven" {
			t.Fatalf("receipt %q, %v", result.Receipt, err)
		}
	}
	parts, err := h.v.Parts(t.Context(), true, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 || parts[0].Class != vault.Letter || parts[0].To != (vault.Address{Gateway: "telegram", Chat: "2"}) || parts[0].Text != "From Ana: dinner is at seven" {
		t.Errorf("queued: %+v", parts)
	}
	c, err := h.v.PrivateConversation(t.Context(), h.ben.ID)
	if err != nil {
		t.Fatal(err)
	}
	history, err := h.v.History(t.Context(), c, 1<<40, 10)
	if err != nil || len(history) != 1 || history[0].Message.Text != parts[0].Text {
		t.Errorf("Ben's conversation knows %d messages, %v", len(history), err)
	}
}

func TestSendRefusals(t *testing.T) {
	h := newHouse(t)
	if err := h.v.SyncPeople(t.Context(), []vault.Person{{Name: "Ana", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}}, {Name: "Cleo", Role: vault.Member}}); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"person":"Mallory","text":"x"}`:                                    `nobody here is called "Mallory"; the people are: Ana, Cleo`,
		`{"person":"Cleo","text":"x"}`:                                       "Cleo has no messenger that reaches them",
		`{"person":"Ana","text":" "}`:                                        "there are no words to send",
		`{"person":"Ana","text":"` + strings.Repeat("x", maxLetter+1) + `"}`: "may have 4000; shorten it",
	} {
		_, err := h.tools["send"].Run(t.Context(), Call{Key: args[:20], Person: h.ana}, []byte(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", args, err)
		}
	}
	if parts, err := h.v.Parts(t.Context(), true, 10); err != nil || len(parts) != 0 {
		t.Errorf("queued all the same: %+v, %v", parts, err)
	}
}
