package tgfake

import (
	"context"
	"net/http"
	"strings"
	"testing"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// TestAClientThatIsNotOurs drives the server with a library's own client. It gets along, and sends what is not of today's
// Bot API.
func TestAClientThatIsNotOurs(t *testing.T) {
	s := New(t)
	bot, err := tg.NewBotAPIWithClient(s.Token(), s.URL()+"/bot%s/%s", s.Client())
	if err != nil || bot.Self.UserName != Username || bot.Self.ID != Bot {
		t.Fatalf("%+v, %v", bot, err)
	}
	s.Say(ann, "/start@"+Username+" code 😀 @somebody")
	updates, err := bot.GetUpdates(tg.NewUpdate(0))
	if err != nil || len(updates) != 1 || updates[0].Message.CommandWithAt() != "start@"+Username || updates[0].Message.CommandArguments() != "code 😀 @somebody" || len(updates[0].Message.Entities) != 2 {
		t.Fatalf("%+v, %v", updates, err)
	}
	c := tg.NewMessage(7, "hello")
	c.ReplyMarkup = tg.NewInlineKeyboardMarkup(tg.NewInlineKeyboardRow(tg.NewInlineKeyboardButtonData("a", "b")))
	sent, err := bot.Send(c)
	if err != nil || sent.Text != "hello" || sent.Chat.ID != 7 || sent.Chat.Type != "private" || sent.ReplyMarkup == nil || *sent.ReplyMarkup.InlineKeyboard[0][0].CallbackData != "b" {
		t.Fatalf("%+v, %v", sent, err)
	}
	press := s.Press(7, ann, sent.MessageID, "b")
	if updates, err = bot.GetUpdates(tg.NewUpdate(updates[0].UpdateID + 1)); err != nil || len(updates) != 1 || updates[0].CallbackData() != "b" {
		t.Fatalf("%+v, %v", updates, err)
	}
	if _, err := bot.Request(tg.NewCallback(press, "")); err != nil || !s.Answered(press) {
		t.Error(err)
	}
	if _, err := bot.Send(tg.NewEditMessageText(7, sent.MessageID, "bye")); err != nil || s.Shown(7)[0].Text != "bye" {
		t.Error(err)
	}
	if _, err := bot.Request(tg.NewSetMyCommands(tg.BotCommand{Command: "Start", Description: "x"})); err == nil {
		t.Error("a command in capitals was taken")
	}
	if got := strings.Join(s.Violations(), "\n"); !strings.Contains(got, "sendMessage.entities is no JSON") || !strings.Contains(got, "getUpdates.allowed_updates is no JSON") {
		t.Errorf("violations: %s", got)
	}
}

// TestJSONRequests have their parameters in a body, as other clients write them.
func TestJSONRequests(t *testing.T) {
	s := New(t)
	s.Open(ann.Private())
	for body, want := range map[string]int{
		`{"chat_id":7,"text":"hello","entities":[{"type":"bold","offset":0,"length":5}],"protect_content":true}`: 200, `{"chat_id":7,`: 400,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/bot"+s.Token()+"/sendMessage", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d", body, resp.StatusCode)
		}
	}
	if got := s.Shown(7); len(got) != 1 || len(got[0].Entities) != 1 || len(s.Violations()) == 0 {
		t.Errorf("shown: %+v", got)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/bot1:wrong/getMe", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", resp.StatusCode)
	}
}

// TestMendAndDown: a fault without an end ends with Mend, and a server that is down is out of reach.
func TestMendAndDown(t *testing.T) {
	for _, make := range []func(testing.TB) *Server{New, NewInMemory} {
		s := make(t)
		s.Fault("", -1, ServerError())
		for range 3 {
			if a := must(t, s, "getMe", nil); a.Code != 500 {
				t.Errorf("%+v", a)
			}
		}
		s.Mend()
		if a := must(t, s, "getMe", nil); !a.OK {
			t.Errorf("%+v", a)
		}
		s.Down()
		s.Client().CloseIdleConnections()
		if _, err := ask(t.Context(), s, "getMe", nil); err == nil {
			t.Error("a server that is down answers")
		}
		s.Up()
		if a := must(t, s, "getMe", nil); !a.OK {
			t.Errorf("%+v", a)
		}
	}
}

// TestFaults: each happens as often as it was asked for, with or without an effect.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault  Fault
		status int // 0 = no answer
		shown  int
	}{
		"429": {TooMany(7), 429, 0}, "403": {Blocked(), 403, 0}, "401": {Unauthorized(), 401, 0}, "409": {Conflict(), 409, 0}, "500": {ServerError(), 500, 0},
		"502": {BadGateway(), 502, 0}, "slow down": {SlowDown(7), 429, 0}, "moved": {Migrated(-5), 400, 0}, "reset": {ResetBefore(), 0, 0}, "drop": {DropAfter(), 0, 1}, "hang": {HangBefore(), 0, 0}, "hang after": {HangAfter(), 0, 1},
	} {
		s := New(t)
		s.Open(ann.Private())
		s.Fault("sendMessage", 1, c.fault)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			s.WaitFor("the fault", func() bool {
				calls := s.Calls("")
				return len(calls) == 1 && (len(s.Shown(7)) == c.shown || !c.fault.hang)
			})
			if c.fault.hang {
				cancel()
			}
		}()
		a, err := ask(ctx, s, "sendMessage", words("x"))
		cancel()
		if (err == nil) != (c.status != 0) || a.status != c.status {
			t.Errorf("%s: status %d, %v", name, a.status, err)
		}
		if a := must(t, s, "sendMessage", words("y")); !a.OK {
			t.Errorf("%s: the next one: %+v", name, a)
		}
		if len(s.Shown(7)) != c.shown+1 {
			t.Errorf("%s: shown %v", name, s.Shown(7))
		}
		if calls := s.Calls("sendMessage"); len(calls) != 2 || calls[0].Fault != c.fault.name || calls[1].Fault != "" || calls[0].Code != c.status || calls[1].Code != 200 {
			t.Errorf("%s: calls %+v", name, calls)
		}
	}
}
