package whatsapp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"hearth/vault"
)

const hearLimit = 10 * time.Second

// asks has a run of Ann's ask a question, and the gateway send it.
func (w *world) asks(text string) (ref string, number int64) {
	w.t.Helper()
	ctx := w.t.Context()
	p, err := w.vault.Claim(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	call := vault.Call{Tool: "send", Args: `{}`, Hash: vault.CallHash("send", text), Effect: "acts", Ask: &vault.Question{Text: text, Choices: []string{vault.ChooseApprove, vault.ChooseDeny, vault.ChooseAlways}}}
	if _, err := w.vault.SaveStep(ctx, p.Run.ID, vault.StepDone{Step: vault.Step{Started: time.Now()}, Calls: []vault.Call{call}, Park: true}); err != nil {
		w.t.Fatal(err)
	}
	heads, err := w.vault.Heads(ctx, Name)
	if err != nil || len(heads) != 1 || heads[0].Approval == 0 {
		w.t.Fatalf("%+v, %v", heads, err)
	}
	part := heads[0]
	part.Stable = w.gw.NewID()
	if err := w.vault.Sending(ctx, part); err != nil {
		w.t.Fatal(err)
	}
	if ref, err = w.gw.Send(ctx, part); err != nil {
		w.t.Fatal(err)
	}
	if err := w.vault.Delivered(ctx, part, ref); err != nil {
		w.t.Fatal(err)
	}
	return ref, part.Approval
}

// A question is answered by 👍 or 👎 on it, by a number that answers it, or by a lone number right behind it; nothing else is
// taken for an answer.
func TestThumbsAndNumbersDecideAQuestion(t *testing.T) {
	w := linked(t, Dedicated, inGroups(groupsAll))
	group := w.server.AddGroup("Family", true, w.me, w.ann)
	begin := func(n int) (ref string, number int64) {
		t.Helper()
		w.says(w.ann, "do it")
		in := w.inbound(n)
		if err := w.vaultTakes(in[n-1]); err != nil {
			t.Fatal(err)
		}
		return w.asks("may I?")
	}
	ref, number := begin(1)
	m, text, err := w.phone(w.ann).Hear(hearLimit)
	if err != nil || !strings.HasPrefix(text, "Question ") || !strings.Contains(text, "1. Approve") {
		t.Fatalf("%q, %v", text, err)
	}
	p := w.phone(w.ann)
	react := func(to types.JID, id, emoji string) {
		w.sends(w.ann, to, p.BuildReaction(to, w.me.LID, id, emoji))
	}
	reply := func(id, text string) *waE2E.Message {
		return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &text, ContextInfo: &waE2E.ContextInfo{
			StanzaID: &id, Participant: proto.String(w.me.LID.String()), QuotedMessage: words("Question"),
		}}}
	}
	press := func(n int, choice string) vault.Inbound {
		t.Helper()
		in := w.inbound(n)[n-1]
		want := fmt.Sprintf("a:%d:%s", number, choice)
		if in.Kind != "press" || in.Text != want || in.PressedOn != ref || in.Sender != "+"+w.ann.PN.User || in.ID == "" {
			t.Fatalf("want %s, got %+v", want, in)
		}
		return in
	}
	react(w.me.PN, m.Info.ID, "❤️")  // says nothing
	react(w.me.PN, m.Info.ID, "")    // a reaction taken back
	react(w.me.PN, "SOMEOTHER", "👍") // on something else
	react(group, m.Info.ID, "👍")     // in another chat
	react(w.me.PN, m.Info.ID, "👍🏽")  // yes
	first := press(2, vault.ChooseApprove)
	react(w.me.PN, m.Info.ID, "👎")
	if second := press(3, vault.ChooseDeny); second.ID == first.ID {
		t.Error("two reactions came under one id")
	}
	w.sends(w.ann, w.me.PN, reply(ref, "3"))
	press(4, vault.ChooseAlways)
	w.sends(w.ann, w.me.PN, reply(ref, "deny"))
	press(5, vault.ChooseDeny)
	w.says(w.ann, "2")
	press(6, vault.ChooseDeny)
	for n, text := range []string{"9", "2 eggs", "approve"} {
		w.says(w.ann, text)
		if in := w.inbound(7 + n)[6+n]; in.Kind != "text" || in.Text != text {
			t.Errorf("%q came as %+v", text, in)
		}
	}
	w.sends(w.ann, w.me.PN, reply(ref, "why?"))
	if in := w.inbound(10)[9]; in.Kind != "text" || in.Text != "why?" || in.Quoted != "Question" {
		t.Errorf("%+v", in)
	}
	// Once something else was said, a lone number is a word like others.
	after := vault.Part{To: w.to(w.ann), Class: vault.Answer, Text: "something else"}
	id, err := w.vault.Post(t.Context(), after)
	if err != nil {
		t.Fatal(err)
	}
	after.ID = id
	if err := w.vault.Sending(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	w.says(w.ann, "1")
	if in := w.inbound(11)[10]; in.Kind != "text" {
		t.Errorf("%+v", in)
	}
}

// Numbers, words and thumbs stand for the buttons that there are none of.
func TestAnswersWithoutButtons(t *testing.T) {
	buttons := []vault.Button{{Label: "Approve", Data: "a:7:approve"}, {Label: "Deny", Data: "a:7:deny"}, {Label: "Always", Data: "a:7:always"}}
	for text, want := range map[string]string{
		"1": "a:7:approve", " 2 ": "a:7:deny", "3": "a:7:always", "4": "", "0": "", "12": "", "deny": "a:7:deny", "ALWAYS": "a:7:always", "no": "", "1.": "", "": "", "①": "",
	} {
		if got := chosen(buttons, text); got != want {
			t.Errorf("%q chose %q", text, got)
		}
	}
	for reaction, want := range map[string]string{"👍": "a:7:approve", "👍🏿": "a:7:approve", "👎": "a:7:deny", "👎🏻": "a:7:deny", "❤️": "", "": "", "x👍": ""} {
		if got := thumb(buttons, reaction); got != want {
			t.Errorf("%q chose %q", reaction, got)
		}
	}
	below := choices(buttons)
	if !strings.Contains(below, "1. Approve\n2. Deny\n3. Always") || !strings.Contains(below, "👍 or 👎") {
		t.Errorf("%q", below)
	}
	if below := choices([]vault.Button{{Label: "Again", Data: "a:7:again"}}); strings.Contains(below, "👍") {
		t.Errorf("%q", below)
	}
	if thumb([]vault.Button{{Label: "Again", Data: "a:7:again"}}, "👍") != "" {
		t.Error("a thumb is taken for something else than yes")
	}
}
