package main

import (
	"context"
	"errors"
	"fmt"

	"hearth/gateways/telegram"
)

// tokenVariable is where a token is taken from that shall not stand in the file.
const tokenVariable = "TELEGRAM_BOT_TOKEN"

// meet asks Telegram about a token.
func (s *setup) meet(ctx context.Context, token string) (telegram.Bot, *telegram.MeetError, error) {
	bot, err := telegram.Meet(ctx, telegram.Options{Token: token, APIURL: s.cfg.Gateways.Telegram.APIURL.Reveal()})
	var refused *telegram.MeetError
	if errors.As(err, &refused) {
		return bot, refused, nil
	}
	return bot, nil, err
}

func (s *setup) shownTelegram(ctx context.Context) (string, error) {
	token := s.cfg.Gateways.Telegram.Token.Reveal()
	if token == "" {
		return "", nil
	}
	bot, wrong, err := s.meet(ctx, token)
	switch {
	case err != nil:
		return "", err
	case wrong == nil:
		s.bot = bot.Username
		return botName(bot), nil
	case wrong.Refused:
		return "", say(s.out, "  %-10s the token does not work. %s", "Telegram", s.redact(wrong.Human))
	}
	return "a token is set, and could not be checked now. " + wrong.Human, nil
}

func botName(bot telegram.Bot) string {
	return fmt.Sprintf("%s (@%s)", clip(bot.Name, 60), bot.Username)
}

// askTelegram asks for the bot's token until there is one that works, or none is wanted.
func (s *setup) askTelegram(ctx context.Context) error {
	token, source := s.lookup(tokenVariable), "${"+tokenVariable+"}"
	if token != "" {
		if err := say(s.out, "Telegram: the token in %s is used, and not written down: what starts `hearth run` has to set it too.", tokenVariable); err != nil {
			return err
		}
	} else if err := say(s.out, "Telegram: write to @BotFather there, /newbot, and it gives you a token. Enter leaves Telegram out."); err != nil {
		return err
	}
	for {
		if token == "" {
			typed, err := s.ask.askSecret(ctx, s.tokenQuestion())
			switch {
			case errors.Is(err, errNoMore):
				return s.noToken()
			case err != nil:
				return err
			case typed == "":
				return say(s.out, "Telegram is left out; run `hearth init` again when you have a token.")
			}
			token, source = typed, typed
		}
		bot, wrong, err := s.meet(ctx, token)
		switch {
		case err != nil:
			return err
		case wrong == nil:
			s.bot = bot.Username
			s.set(source, "gateways", "telegram", "token")
			return say(s.out, "This is %s.", botName(bot))
		}
		if err := say(s.out, "%s", wrong.Human); err != nil {
			return err
		}
		if wrong.Refused {
			token = ""
			continue
		}
		again, err := s.ask.ask(ctx, "Enter tries the same token again, - leaves Telegram out.")
		switch {
		case errors.Is(err, errNoMore):
			return failed("The token could not be checked, so nothing was written. %s", wrong.Human)
		case err != nil:
			return err
		case again == "-":
			return say(s.out, "Telegram is left out; run `hearth init` again when it can be reached.")
		}
	}
}

func (s *setup) tokenQuestion() string {
	if s.ask.typist != nil {
		return "Bot token (what you type does not show):"
	}
	return "Bot token:"
}

// noToken says what is missing when nobody answers.
func (s *setup) noToken() error {
	return &failure{code: exitUsage, sentence: "The bot token is missing, so nothing was written: set " + tokenVariable +
		", or write the token on the first line of the input; an empty line leaves Telegram out."}
}
