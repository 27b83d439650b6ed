package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
)

var phoneOwner = tgfake.Person{ID: 4242, First: "Ana"}

// phoneConfig is a household whose owner has a phone.
func phoneConfig(telegram, brain string) string {
	return fmt.Sprintf("people: [{name: Ana, role: owner, telegram: %d}]\ngateways:\n  burst: 0s\n%s%s", phoneOwner.ID, telegram, brain)
}

func telegramSection(api *tgfake.Server) string {
	return fmt.Sprintf("  telegram: {token: %q, api_url: %q}\n", api.Token(), api.URL())
}

func slowBrain(m *thinker) string {
	return fmt.Sprintf("brain: {model: home, models: {home: {provider: ollama, url: %q, model: slow}}}\n", m.URL)
}

// shownTo gives what the bot shows in the owner's chat and has the words in it.
func shownTo(api *tgfake.Server, words string) (out []tgfake.Shown) {
	for _, m := range api.Shown(phoneOwner.ID) {
		if strings.Contains(m.Text, words) {
			out = append(out, m)
		}
	}
	return out
}

// TestLOOP22OneLineTellsWhatALongRunDoes, through the whole daemon: it is edited, obeys a 429, goes on over a kill -9, and
// the answer is a message of its own behind it, for which the phone rings.
func TestLOOP22OneLineTellsWhatALongRunDoes(t *testing.T) {
	t.Parallel()
	api, model := tgfake.New(t), newThinker(t)
	h := newHome(t, "", phoneConfig(telegramSection(api), slowBrain(model)))
	daemon := h.daemon()
	api.Say(phoneOwner, "a long task")
	<-model.asked
	api.WaitFor("the line", func() bool { return len(shownTo(api, "⏳ Thinking")) == 1 })
	line := shownTo(api, "⏳")[0]
	api.Fault("editMessageText", 1, tgfake.TooMany(4))
	model.reply <- thinking{tool: "write_file", args: `{"path":"a.txt","content":"x"}`}
	<-model.asked
	api.WaitFor("the next step", func() bool { return len(shownTo(api, "⏳ Thinking, step 2")) == 1 })
	edits := api.Calls("editMessageText")
	if len(edits) != 2 || edits[0].Code != 429 || edits[1].At.Sub(edits[0].At) < 4*time.Second {
		t.Errorf("edits with a 429: %v", edits)
	}

	daemon.kill()
	h.daemon()
	<-model.asked // the step that was in hand, and no other
	model.reply <- thinking{tool: "list_files", args: `{"path":""}`}
	<-model.asked
	api.WaitFor("the same line", func() bool { return len(shownTo(api, "⏳ Thinking, step 3")) == 1 })
	model.reply <- thinking{words: "All of it is done."}
	api.WaitFor("the end", func() bool { return len(shownTo(api, "✓ Done in")) == 1 })

	shown := api.Shown(phoneOwner.ID)
	if len(shown) != 2 || shown[0].ID != line.ID || !strings.HasSuffix(shown[0].Text, ", 3 steps") || !strings.Contains(shown[1].Text, "All of it is done.") || shown[1].Edits != 0 {
		t.Errorf("the chat shows %+v", shown)
	}
	sent := api.Calls("sendMessage")
	if len(sent) != 2 || sent[0].Params["disable_notification"] != "true" || sent[1].Params["disable_notification"] != "" {
		t.Errorf("sent: %v", sent)
	}
	edits = api.Calls("editMessageText")
	for i, e := range edits[1:] {
		if gap := e.At.Sub(edits[i].At); gap < 2*time.Second {
			t.Errorf("an edit %v after the one before", gap)
		}
	}
	if last := edits[len(edits)-1]; !last.At.After(sent[1].At) {
		t.Error("the line is settled before the answer")
	}
	if out := h.ok("outbox", "list", "--all"); strings.Count(out, "progress") != 1 {
		t.Errorf("the outbox:\n%s", out)
	}
}

// TestLOOP22ALineThatMayHaveArrivedIsNotSentAgain: the daemon dies while it is being sent.
func TestLOOP22ALineThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	api, model := tgfake.New(t), newThinker(t)
	h := newHome(t, "", phoneConfig(telegramSection(api), slowBrain(model)))
	daemon := h.daemon()
	api.Fault("sendMessage", 1, tgfake.HangAfter())
	api.Say(phoneOwner, "a long task")
	<-model.asked
	api.WaitFor("the line", func() bool { return len(shownTo(api, "⏳ Thinking")) == 1 })
	daemon.kill()
	h.daemon()
	<-model.asked
	began := time.Now()
	eventually(t, "the run is long again", func() bool { return time.Since(began) > 10*time.Second })
	model.reply <- thinking{words: "Done at last."}
	api.WaitFor("the answer", func() bool { return len(shownTo(api, "Done at last.")) == 1 })
	if n := len(api.Shown(phoneOwner.ID)); n != 2 {
		t.Errorf("%d messages: %v", n, api.Shown(phoneOwner.ID))
	}
}

// TestANewTokenOfTheSameBotKeepsWhatIsToBeSent: it is taken up while everything runs.
func TestANewTokenOfTheSameBotKeepsWhatIsToBeSent(t *testing.T) {
	t.Parallel()
	api := tgfake.New(t)
	h := newHome(t, "", phoneConfig(telegramSection(api), ""))
	h.daemon()
	api.Say(phoneOwner, "/remember the bins are out on friday")
	api.WaitFor("an answer", func() bool { return len(api.Shown(phoneOwner.ID)) == 1 })
	old := api.Token()
	token := api.Reissue(tgfake.Bot)
	ana := h.open("Ana")
	eventually(t, "the poll that waits is over", func() bool { // what is said now comes with the old token's last poll
		api.Say(phoneOwner, "/status")
		return strings.Contains(string(statusOf(h, "telegram").Error), "does not accept the token")
	})
	ana.hears("does not accept the token")
	sent := len(api.Shown(phoneOwner.ID))
	h.edit(old, token)
	began := time.Now()
	eventually(t, "it is connected again", func() bool { return strings.Contains(statusOf(h, "telegram").State, "connected as") })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	api.WaitFor("what waited is sent", func() bool { return len(api.Shown(phoneOwner.ID)) > sent })
	for _, part := range ask(h, viewOutbox, query{}) {
		if part.State == "failed" {
			t.Errorf("failed: %+v", part)
		}
	}
	if n, _ := ana.copies("restart"); n != 0 {
		t.Errorf("a restart is asked for: %q", ana.all())
	}
}

// TestAnotherBotFailsWhatTheOldOneOwes and tells it once; reminders go on by the new one.
func TestAnotherBotFailsWhatTheOldOneOwes(t *testing.T) {
	t.Parallel()
	api, other := tgfake.New(t), tgfake.New(t)
	other.Reissue(777000)
	other.Open(phoneOwner.Private())
	h := newHome(t, "", phoneConfig(telegramSection(api), "")).clocked(time.Now().UTC().Format(time.RFC3339))
	daemon := h.daemon()
	ana := h.open("Ana")
	api.Say(phoneOwner, "/remind in 2 hours, water the plants")
	api.WaitFor("an answer", func() bool { return len(api.Shown(phoneOwner.ID)) == 1 })
	api.Fault("sendMessage", -1, tgfake.TooMany(600))
	api.Say(phoneOwner, "/jobs")
	api.Say(phoneOwner, "/memory")
	eventually(t, "two answers wait", func() bool { return len(ask(h, viewOutbox, query{})) == 2 })
	polls := len(api.Calls("getUpdates"))
	h.edit(strings.TrimSpace(telegramSection(api)), strings.TrimSpace(telegramSection(other)))
	other.WaitFor("the new bot polls", func() bool { return len(other.Calls("getUpdates")) > 0 })
	told := ana.hears("Another account is used now, and 2 messages")
	if !strings.Contains(told, "hearth outbox") {
		t.Errorf("told %q", told)
	}
	h.setClock(time.Now().UTC().Add(3 * time.Hour).Format(time.RFC3339))
	other.WaitFor("the reminder", func() bool { return len(shownTo(other, "water the plants")) == 1 })
	if n, _ := ana.copies("account"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if n := len(api.Calls("getUpdates")); n > polls+1 {
		t.Errorf("the old bot polls on: %d after %d", n, polls)
	}
	if strings.Contains(daemon.log.String(), "CANARY") {
		t.Error("a token is in the log")
	}
}

// TestTelegramComesAndGoesWithItsSection, in a daemon that was started without it, too.
func TestTelegramComesAndGoesWithItsSection(t *testing.T) {
	t.Parallel()
	api := tgfake.New(t)
	h := newHome(t, "", phoneConfig("", ""))
	h.daemon()
	if row := statusOf(h, "telegram"); row.Name != "" {
		t.Errorf("without a section: %+v", row)
	}
	h.edit("  burst: 0s\n", "  burst: 0s\n"+telegramSection(api))
	eventually(t, "Telegram is on", func() bool { return strings.Contains(statusOf(h, "telegram").State, "connected as") })
	api.Say(phoneOwner, "/status")
	api.WaitFor("an answer", func() bool { return len(api.Shown(phoneOwner.ID)) == 1 })
	h.edit(telegramSection(api), "")
	eventually(t, "Telegram is off", func() bool { return statusOf(h, "telegram").Name == "" })
	polls := len(api.Calls("getUpdates"))
	api.Say(phoneOwner, "/jobs")
	h.edit("  burst: 0s\n", "  burst: 0s\n"+telegramSection(api)) // it was stored at Telegram meanwhile
	api.WaitFor("the answer to what was said meanwhile", func() bool { return len(api.Shown(phoneOwner.ID)) == 2 })
	if first := api.Calls("getUpdates")[polls]; first.Params["offset"] != "" {
		t.Errorf("the first poll of the new life: %v", first)
	}
}

// TestAWrongTokenIsToldAndTheOldOneIsNotTakenAgain.
func TestAWrongTokenIsToldAndTheOldOneIsNotTakenAgain(t *testing.T) {
	t.Parallel()
	api := tgfake.New(t)
	h := newHome(t, "", phoneConfig(telegramSection(api), ""))
	h.daemon()
	ana := h.open("Ana")
	api.Say(phoneOwner, "/status")
	api.WaitFor("an answer", func() bool { return len(api.Shown(phoneOwner.ID)) == 1 })
	h.edit(api.Token(), "123456:WRONG-token-0123456789abcdefghij")
	ana.hears("does not accept the token")
	if row := statusOf(h, "telegram"); row.State != "not connected" || !strings.Contains(string(row.Error), "BotFather") {
		t.Errorf("the status: %+v", row)
	}
	if _, out, _ := h.run("doctor"); !strings.Contains(out, "does not accept the token") {
		t.Errorf("doctor says:\n%s", out)
	}
	polls := len(api.Calls("getUpdates"))
	ana.ask("hello", "h1")
	if n := len(api.Calls("getUpdates")); n != polls {
		t.Errorf("the old token is used: %d polls after %d", n, polls)
	}
	h.edit("123456:WRONG-token-0123456789abcdefghij", "nonsense")
	ana.hears("mistakes")
	h.edit("nonsense", api.Token())
	eventually(t, "the right token is taken up", func() bool { return strings.Contains(statusOf(h, "telegram").State, "connected as") })
}

// statusOf gives how a gateway is; its name is empty when there is none.
func statusOf(h *home, name string) gatewayRow {
	h.t.Helper()
	for _, g := range ask(h, viewStatus, query{}).Gateways {
		if g.Name == name {
			return g
		}
	}
	return gatewayRow{}
}
