package whatsapp

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"hearth/vault"
)

// These tests are named after reports of users of other programs: linking, staying linked, and the file of the session.

// Refused as outdated, people linked their account again and again, which changes nothing. Here what is told is to update,
// the session is kept, nothing is lost or sent, and it goes on as soon as the server takes the version.
func TestWacli279OutdatedKeepsTheSession(t *testing.T) {
	w := newWorld(t, Dedicated)
	w.gw.latest = func(context.Context) (*store.WAVersionContainer, error) {
		return nil, errors.New("it cannot be reached")
	}
	stop := w.receive()
	w.link()
	w.says(w.ann, "hello")
	w.inbound(1)
	w.server.RefuseLogins(405, nil)
	w.server.Cut(w.deviceOf())
	w.state(outdated.words)
	w.oneNotice("Update Hearth")
	if told := w.told()[0] + w.gw.Mend(); strings.Contains(told, "pair") {
		t.Errorf("it is told to link again: %q", told)
	}
	if e := w.fails(w.part(w.to(w.ann), "hello")); e.Outcome != vault.NotSent || e.Human != outdated.words {
		t.Errorf("%v", e)
	}
	w.says(w.ann, "still there?")
	if account, err := Linked(t.Context(), w.gw.opt.Path); err != nil || account != "+"+w.me.PN.User {
		t.Errorf("linked: %q, %v", account, err)
	}
	w.server.RefuseLogins(0, nil)
	stop() // as for the update
	w.gw = w.gateway(Dedicated)
	w.receive()
	w.up()
	w.comes("still there?")
}

// An account with a passkey could not be linked, and nobody said why. Here it is said, with what to do, and linking goes on
// once that is done.
func TestPasskeysAreTold(t *testing.T) {
	for report, evt := range map[string]any{
		"openmessage#79": &events.PairPasskeyRequest{},
		"OpenWA#560":     &events.PairPasskeyError{},
	} {
		t.Run(report, func(t *testing.T) {
			var client atomic.Pointer[whatsmeow.Client]
			w := newWorld(t, Dedicated)
			attach := w.gw.opt.Hook
			w.gw.opt.Hook = func(c *whatsmeow.Client) {
				attach(c)
				client.Store(c)
			}
			w.receive()
			_, err := w.gw.Link(t.Context(), "", func(Code) {
				client.Load().DangerousInternals().DispatchEvent(evt) //nolint:staticcheck // the server of the tests knows no passkeys
			})
			if !errors.Is(err, ErrPasskey) || !strings.Contains(err.Error(), "turn that off on the phone") {
				t.Errorf("%v", err)
			}
			w.state(unlinked.words)
			w.link()
			w.up()
		})
	}
}

// After the number was changed linking hung, because of what was left of the old one. Here another number can be linked, and
// what was meant for the old one is not sent from it.
func TestOpenclaw4686AnotherNumberCanBeLinked(t *testing.T) {
	w := linked(t, Dedicated)
	w.says(w.ann, "hello")
	w.inbound(1)
	old := w.to(w.ann)
	w.server.Kick(w.deviceOf(), "401", "device_removed")
	w.state(unlinked.words)
	w.me = w.server.AddAccount("Hearth", "15550000009")
	w.link()
	w.up()
	w.says(w.ann, "hello, new number")
	if in := w.inbound(2)[1]; in.Account != "+15550000009" || in.Sender != "+"+w.ann.PN.User {
		t.Errorf("%+v", in)
	}
	if e := w.fails(w.part(old, "from the old one")); e.Outcome != vault.Refused || !strings.Contains(e.Human, "another WhatsApp account") {
		t.Errorf("%v", e)
	}
	if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "hello Ann")); err != nil {
		t.Fatal(err)
	}
	w.hears(w.ann, "hello Ann")
}

// The library's file was locked against itself when several things were stored at once, and what could not be stored was
// lost. Here who comes second waits, also one that reads before it writes.
func TestTheSessionIsNotLocked(t *testing.T) {
	for report, second := range map[string]func(*session, func()) error{
		"whatsmeow#838": func(s *session, read func()) error { return s.count(t.Context(), read) },
		"whatsmeow#298": func(s *session, _ func()) error { // what a message brings, through another opening of the file
			hidden, number := types.NewJID("9", types.HiddenUserServer), types.NewJID("1555", types.DefaultUserServer)
			return s.container.LIDMap.PutLIDMapping(t.Context(), hidden, number)
		},
	} {
		t.Run(report, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "whatsapp.db")
			var opened [2]*session
			for i := range opened {
				var err error
				if opened[i], err = openSession(t.Context(), path, slog.New(slog.DiscardHandler)); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = opened[i].close() }()
			}
			if _, err := opened[0].db.ExecContext(t.Context(), `CREATE TABLE n(n INTEGER); INSERT INTO n VALUES(0)`); err != nil {
				t.Fatal(err)
			}
			reading, done := make(chan struct{}), make(chan error, 1)
			err := opened[0].count(t.Context(), func() {
				go func() { done <- second(opened[1], func() { close(reading) }) }()
				select { // it must not get so far while the first is at it
				case <-reading:
				case err := <-done:
					done <- err
				case <-time.After(300 * time.Millisecond):
				}
			})
			if err != nil {
				t.Errorf("the first: %v", err)
			}
			if err := <-done; err != nil {
				t.Errorf("the second: %v", err)
			}
		})
	}
}

// count adds one to a number, in a transaction that reads it first; between the two it calls read.
func (s *session) count(ctx context.Context, read func()) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after the commit
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT n FROM n`).Scan(&n); err != nil {
		return err
	}
	read()
	if _, err := tx.ExecContext(ctx, `UPDATE n SET n = ?`, n+1); err != nil {
		return err
	}
	return tx.Commit()
}
