package telegram

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hearth/gateways/telegram/tgfake"
)

func TestMeet(t *testing.T) {
	api := tgfake.New(t)
	bot, err := Meet(t.Context(), Options{Token: api.Token(), APIURL: api.URL() + "/"})
	if err != nil || bot.Username != tgfake.Username || bot.Name == "" {
		t.Errorf("met %+v, %v", bot, err)
	}
}

// Each way in which it goes wrong is told apart, and none shows the token.
func TestSEC05MeetingTellsWhatIsWrongWithoutTheToken(t *testing.T) {
	api := tgfake.New(t)
	for _, c := range []struct {
		name    string
		token   string
		fault   *tgfake.Fault
		refused bool
		human   string
	}{
		{name: "no token", token: "hello", refused: true, human: "That has not the form of a bot token"},
		{name: "another token", token: "123456:WRONG-of-the-tests_0123456789abcd", refused: true, human: "Telegram does not know this token"},
		{name: "a revoked one", fault: new(tgfake.Unauthorized()), refused: true, human: "Telegram does not know this token"},
		{name: "too many", fault: new(tgfake.TooMany(7)), human: "Telegram asks to wait for 7 s."},
		{name: "its own error", fault: new(tgfake.ServerError()), human: "Telegram answers with an error: 500 "},
		{name: "a proxy", fault: new(tgfake.BadGateway()), human: "What answers is not Telegram (status 502)"},
		{name: "a line that breaks", fault: new(tgfake.ResetBefore()), human: "Telegram cannot be reached ("},
	} {
		token := c.token
		if token == "" {
			token = api.Token()
		}
		if c.fault != nil {
			api.Fault("getMe", 1, *c.fault)
		}
		_, err := Meet(t.Context(), Options{Token: token, APIURL: api.URL()})
		var told *MeetError
		if !errors.As(err, &told) || told.Refused != c.refused || !strings.HasPrefix(told.Human, c.human) {
			t.Errorf("%s: %v, %+v", c.name, err, told)
			continue
		}
		if _, secret, _ := strings.Cut(token, ":"); secret != "" && strings.Contains(err.Error()+told.Human, secret) {
			t.Errorf("%s shows the token: %v, %s", c.name, err, told.Human)
		}
	}
	api.Down()
	var told *MeetError
	if _, err := Meet(t.Context(), Options{Token: api.Token(), APIURL: api.URL()}); !errors.As(err, &told) || told.Refused || !strings.HasPrefix(told.Human, "Telegram cannot be reached (") {
		t.Errorf("with nobody there: %v", err)
	}
	api.Up()
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Meet(ended, Options{Token: api.Token(), APIURL: api.URL()}); !errors.Is(err, context.Canceled) || errors.As(err, &told) {
		t.Errorf("a person who gives up: %v", err)
	}
}
