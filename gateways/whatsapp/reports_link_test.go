package whatsapp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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
	if in := w.inbound(2); in[len(in)-1].Text != "still there?" {
		t.Errorf("%+v", in)
	}
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

// The library's file was locked against itself when several things were stored at once, and what it could not store was lost.
func TestTheSessionIsNotLocked(t *testing.T) {
	open := func(t *testing.T) func() *session {
		path := filepath.Join(t.TempDir(), "whatsapp.db")
		return func() *session {
			s, err := openSession(t.Context(), path, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.close() })
			return s
		}
	}
	t.Run("whatsmeow#838", func(t *testing.T) { // transactions that read before they write
		s := open(t)()
		if _, err := s.db.ExecContext(t.Context(), `CREATE TABLE n(n INTEGER); INSERT INTO n VALUES(0)`); err != nil {
			t.Fatal(err)
		}
		const writers, times = 8, 20
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range times {
					if err := s.count(t.Context()); err != nil {
						t.Errorf("a transaction: %v", err)
					}
				}
			})
		}
		all.Wait()
		var n int
		if err := s.db.QueryRowContext(t.Context(), `SELECT n FROM n`).Scan(&n); err != nil || n != writers*times {
			t.Errorf("%d, %v, want %d", n, err, writers*times)
		}
	})
	t.Run("whatsmeow#298", func(t *testing.T) { // names that are noted while another opens the file, as doctor does
		again := open(t)
		s := again()
		lids := s.container.LIDMap
		var all sync.WaitGroup
		for writer := range 4 {
			all.Go(func() {
				for n := range 20 {
					number := fmt.Sprint(1_555_000_0000 + 100*writer + n)
					err := lids.PutLIDMapping(t.Context(), types.NewJID("9"+number, types.HiddenUserServer), types.NewJID(number, types.DefaultUserServer))
					if err != nil {
						t.Errorf("store a name: %v", err)
					}
				}
			})
		}
		for range 3 {
			if _, err := again().container.GetFirstDevice(t.Context()); err != nil {
				t.Errorf("look into it: %v", err)
			}
		}
		all.Wait()
	})
}

// count adds one to a number, reading it first.
func (s *session) count(ctx context.Context) (err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var n int
	if err = tx.QueryRowContext(ctx, `SELECT n FROM n`).Scan(&n); err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, `UPDATE n SET n = ?`, n+1); err != nil {
		return err
	}
	return tx.Commit()
}
