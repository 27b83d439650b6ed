package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
)

// phone is Ana's: she talks to the real program through a Bot API server.
type phone struct {
	t   testing.TB
	api *tgfake.Server
	who tgfake.Person
	now func() time.Time // when she writes
}

func newPhone(t testing.TB) *phone {
	p := &phone{t: t, api: tgfake.New(t), who: tgfake.Person{ID: 4242, First: "Ana"}, now: time.Now}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the phone shows %q", p.texts())
		}
	})
	return p
}

// settings is a configuration in which Ana is the owner, known by her id.
func (p *phone) settings(more string) string {
	return fmt.Sprintf("timezone: Europe/Lisbon\npeople: [{name: Ana, role: owner, telegram: %d}]\ngateways: {burst: 0s, telegram: {token: %q, api_url: %q}}\n%s",
		p.who.ID, p.api.Token(), p.api.URL(), more)
}

// say writes to the bot and gives the message's id.
func (p *phone) say(words string, fields ...tgfake.Field) int {
	p.t.Helper()
	return p.api.Say(p.who, words, append([]tgfake.Field{tgfake.Set("date", p.now().Unix())}, fields...)...)
}

// shown is what the chat shows of the bot.
func (p *phone) shown() []tgfake.Shown { return p.api.Shown(p.who.ID) }

// hears waits until the chat shows a message with these words.
func (p *phone) hears(words string) tgfake.Shown {
	p.t.Helper()
	var found tgfake.Shown
	eventually(p.t, p.who.First+" reads "+words, func() bool {
		for _, m := range p.shown() {
			if strings.Contains(m.Text, words) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// ask writes, and gives the next message of the bot.
func (p *phone) ask(words string, fields ...tgfake.Field) tgfake.Shown {
	p.t.Helper()
	before := len(p.shown())
	p.say(words, fields...)
	eventually(p.t, p.who.First+" gets an answer to "+words, func() bool { return len(p.shown()) > before })
	return p.shown()[before]
}

// copies counts the messages with these words, and how many of them are marked as possible repeats.
func (p *phone) copies(words string) (all, marked int) {
	for _, text := range p.texts() {
		if strings.Contains(text, words) {
			all++
			if strings.HasPrefix(text, "↻") {
				marked++
			}
		}
	}
	return all, marked
}

func (p *phone) texts() []string {
	var out []string
	for _, m := range p.shown() {
		out = append(out, m.Text)
	}
	return out
}

// quiet waits until the daemon has nothing more to do and nothing more to say.
func (p *phone) quiet(h *home) {
	p.t.Helper()
	eventually(p.t, "nothing is left to do", func() bool {
		status := ask(h, viewStatus, query{})
		return len(p.api.Pending()) == 0 && status.Queue+len(status.Runs)+status.Outbox.Waiting == 0
	})
}
