package main

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"hearth/vault"
)

// next says what comes now, with a pairing code when nobody writes from Telegram yet.
func (s *setup) next(ctx context.Context) (err error) {
	if s.cfg.Gateways.Telegram.Token.IsZero() {
		return say(s.out, "\nNext: `hearth chat` talks here; `hearth run` is the daemon.")
	}
	in := *s.invocation
	in.flags = map[string]string{"config": s.path}
	session, err := in.open(ctx)
	if err != nil {
		return s.noCode(err)
	}
	defer func() { err = errors.Join(err, session.close()) }()
	people, err := look(ctx, session.backend, viewPeople, query{})
	if err != nil {
		return s.noCode(err)
	}
	start := "`hearth run` starts the daemon (the README shows it as a service)."
	if session.remote != nil {
		start = "The daemon runs."
		if s.changed("gateways", "telegram", "token") {
			start = "Restart the daemon that runs: it reads the token when it starts."
		}
	}
	if slices.ContainsFunc(people, onTelegram) {
		return say(s.out, "\nNext: %s\nPeople are known on Telegram already; `hearth pair` makes a code for another one.", start)
	}
	code, err := alter(ctx, session.backend, changePair, personOrder{Name: ownerOf(people), Role: string(vault.Owner)})
	if err != nil {
		return s.noCode(err)
	}
	link := "Send /pair " + code.Code + " to the bot"
	if s.bot != "" {
		link = "Open https://t.me/" + url.PathEscape(s.bot) + "?start=" + url.QueryEscape(code.Code) + " on your phone and tap Start"
	}
	return say(s.out, "\nNext:\n  1. %s\n  2. %s.\n     The code lives for ten minutes, until %s, and works once; `hearth pair` makes another.", start, link, code.Until)
}

// noCode says that all is well but for the code.
func (s *setup) noCode(err error) error {
	code, sentence := explain(err)
	return &failure{code: code, cause: err, sentence: "The settings are in place, and there is no pairing code yet: `hearth pair` makes one later. " + sentence}
}

// changed reports whether a key is set anew.
func (s *setup) changed(key ...string) bool {
	for _, c := range s.changes {
		if slices.Equal(c.Key, key) {
			return true
		}
	}
	return false
}

func onTelegram(p personRow) bool {
	return slices.ContainsFunc(p.Identities, func(known string) bool { return strings.HasPrefix(known, "telegram:") })
}

// ownerOf is whom the code is for: the owner who is known from the terminal or the file; "" when it makes the first one.
func ownerOf(people []personRow) string {
	for _, p := range people {
		if p.Role == string(vault.Owner) {
			return p.Name
		}
	}
	return ""
}
