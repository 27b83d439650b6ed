package whatsapp

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"hearth/gateways/whatsapp/wafake"
	"hearth/vault"
)

// stays holds that something stays so for a second.
func (w *world) stays(what string, is func() bool) {
	w.t.Helper()
	end, tick := time.After(time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if !is() {
				w.t.Fatalf("not any more: %s; log:\n%s", what, w.log)
			}
		case <-end:
			return
		}
	}
}

func (w *world) oneNotice(parts ...string) {
	w.t.Helper()
	w.eventually("the owner is told", func() bool { return len(w.told()) > 0 })
	told := w.told()
	if len(told) != 1 {
		w.t.Fatalf("the owner was told %q", told)
	}
	for _, part := range append(parts, "telegram: ") {
		if !strings.Contains(told[0], part) {
			w.t.Errorf("%q does not say %q", told[0], part)
		}
	}
}

// A session that ended is told on the other messenger, with what to do, and can be linked again at once.
func TestOpenclaw1260LoggedOutIsToldAndLinkedAgain(t *testing.T) {
	w := linked(t, Dedicated)
	w.server.Kick(w.deviceOf(), "401", "device_removed")
	w.state(unlinked.words)
	w.oneNotice("has logged +15550000001 out", "`hearth whatsapp pair`")
	if e := w.fails(w.part(w.to(w.ann), "hello")); e.Outcome != vault.NotSent || e.Human != unlinked.words {
		t.Errorf("%v", e)
	}
	w.link()
	w.says(w.ann, "hello")
	w.inbound(1)
	w.oneNotice("has logged")
}

// The library tells of a logout before it has deleted the session. Until then nothing may go on with it, so what was linked is
// gone as soon as that is told, whatever the library does.
func TestALogoutEndsTheSessionBeforeTheLibraryDoes(t *testing.T) {
	var client atomic.Pointer[whatsmeow.Client]
	w := linked(t, Dedicated, func(g *Gateway) {
		attach := g.opt.Hook
		g.opt.Hook = func(c *whatsmeow.Client) {
			attach(c)
			client.Store(c)
		}
	})
	client.Load().DangerousInternals().DispatchEvent(&events.LoggedOut{Reason: events.ConnectFailureLoggedOut}) //nolint:staticcheck // the library tells so only while it deletes
	w.state(unlinked.words)
	w.stays("it stays so", func() bool { words, _ := w.gw.State(); return words == unlinked.words })
	if account, err := Linked(t.Context(), w.gw.opt.Path); account != "" || err != nil {
		t.Errorf("still linked: %s, %v", account, err)
	}
}

// Each way of refusing a login has words of its own.
func TestRefusedLoginsAreTold(t *testing.T) {
	for _, c := range []struct {
		reason int
		want   string
		notice []string
	}{
		{401, unlinked.words, []string{"removed on the phone", "`hearth whatsapp pair`"}},
		{403, unlinked.words, []string{"locked", "Open WhatsApp on its phone"}},
		{406, unlinked.words, []string{"locked", "Open WhatsApp on its phone"}},
		{402, "", []string{"banned this number for a while", "too many messages to people who do not know the number", "I send nothing until then"}},
		{409, "", []string{"refuses the login (code 409)"}},
	} {
		t.Run(strconv.Itoa(c.reason), func(t *testing.T) {
			w := linked(t, Dedicated)
			w.server.RefuseLogins(c.reason, map[string]any{"code": 101, "expire": 3600})
			w.server.Cut(w.deviceOf())
			w.oneNotice(c.notice...)
			if c.want != "" {
				w.state(c.want)
				return
			}
			words, ok := w.gw.State()
			if ok || w.gw.Mend() == "" {
				t.Errorf("state %q, mend %q", words, w.gw.Mend())
			}
			w.server.RefuseLogins(0, nil)
			w.stays("it stays away", func() bool { return !w.server.Online(w.deviceOf()) })
			if e := w.fails(w.part(w.to(w.ann), "hello")); e.Outcome != vault.NotSent {
				t.Errorf("%v", e)
			}
		})
	}
}

// Two programs with one session do not take turns with each other.
func TestOpenclaw25591ReplacedDoesNotLoop(t *testing.T) {
	w := linked(t, Dedicated)
	w.server.Kick(w.deviceOf(), "", "replaced")
	w.state(replaced.words)
	w.stays("it stays away", func() bool { return !w.server.Online(w.deviceOf()) })
	w.oneNotice("another program uses the same WhatsApp session", "copy of whatsapp.db")
}

// An outdated version is replaced by the one that WhatsApp's own client has; only when that does not help is it told.
func TestWhatsmeow1040Outdated(t *testing.T) {
	was := store.GetWAVersion()
	defer store.SetWAVersion(was)
	newer := was
	newer[2] += 5
	for _, helps := range []bool{true, false} {
		var asked atomic.Int32
		w := newWorld(t, Dedicated)
		w.gw.latest = func(context.Context) (*store.WAVersionContainer, error) {
			if asked.Add(1); !helps {
				return nil, errors.New("it cannot be reached")
			}
			w.server.RefuseLogins(0, nil)
			return &newer, nil
		}
		store.SetWAVersion(was)
		w.receive()
		w.link()
		w.server.RefuseLogins(405, nil)
		w.server.Cut(w.deviceOf())
		if !helps {
			w.state(outdated.words)
			w.oneNotice("Update Hearth")
			w.stays("it waits", func() bool { return asked.Load() == 1 })
			continue
		}
		w.eventually("it is connected with the newer version", func() bool {
			return w.server.Online(w.deviceOf()) && w.server.Payload(w.deviceOf()).GetUserAgent().GetAppVersion().GetTertiary() == newer[2]
		})
		w.up()
		if told := w.told(); len(told) != 0 {
			t.Errorf("told %q", told)
		}
	}
}

// A line that went dead without a word is noticed and begun anew; what was sent meanwhile arrives.
func TestFrozenLineIsBegunAnew(t *testing.T) {
	w := linked(t, Dedicated)
	w.server.Freeze(w.deviceOf())
	w.says(w.ann, "still there?")
	if in := w.inbound(1); in[0].Text != "still there?" {
		t.Errorf("%+v", in)
	}
	w.up()
}

// A quiet line is left alone.
func TestOpenclaw62258SilenceIsNoReasonToReconnect(t *testing.T) {
	w := linked(t, Dedicated)
	payload := w.server.Payload(w.deviceOf())
	w.stays("the same connection", func() bool { return w.server.Payload(w.deviceOf()) == payload })
}

// A line that is cut comes back by itself, and the outbox is woken.
func TestReconnectAfterACut(t *testing.T) {
	w := newWorld(t, Dedicated)
	var nudged atomic.Int32
	w.gw.opt.Nudge = func() { nudged.Add(1) }
	w.receive()
	w.link()
	w.eventually("nudged", func() bool { return nudged.Load() == 1 })
	began := time.Now()
	w.server.Cut(w.deviceOf())
	w.eventually("nudged again", func() bool { return nudged.Load() == 2 })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	w.server.Kick(w.deviceOf(), "503", "")
	w.eventually("nudged again", func() bool { return nudged.Load() == 3 })
	w.server.Kick(w.deviceOf(), "599", "")
	w.eventually("nudged again", func() bool { return nudged.Load() == 4 })
	if told := w.told(); len(told) != 0 {
		t.Errorf("told %q", told)
	}
}

// A line that stays away is told after a while, once, and comes back by itself.
func TestLongOutageIsTold(t *testing.T) {
	w := linked(t, Dedicated, func(g *Gateway) { g.limits.outage = 200 * time.Millisecond })
	w.server.Down(true)
	w.server.Cut(w.deviceOf())
	w.oneNotice("out of reach")
	w.server.Down(false)
	w.up()
	w.oneNotice("out of reach")
}

// A panic in handling does not acknowledge the message: it comes again. One that always breaks is put aside.
func TestPanicIsNotHandled(t *testing.T) {
	w := linked(t, Dedicated)
	var tries atomic.Int32
	w.accepting(func(in vault.Inbound) error {
		if tries.Add(1) == 1 {
			panic("a bug")
		}
		return nil
	})
	w.says(w.ann, "survives")
	if in := w.inbound(1); in[0].Text != "survives" || tries.Load() != 2 {
		t.Errorf("%+v after %d tries", in, tries.Load())
	}
	w.accepting(func(in vault.Inbound) error {
		if in.Text == "poison" {
			panic("a bug")
		}
		return nil
	})
	w.says(w.ann, "poison")
	w.says(w.ann, "behind it")
	if in := w.inbound(2); in[1].Text != "behind it" {
		t.Errorf("%+v", in)
	}
	w.eventually("all is acknowledged", func() bool { return w.server.Waiting(w.deviceOf()) == 0 })
}

// While the vault takes nothing, nothing is acknowledged, and the order is kept over new connections.
func TestNothingIsAcknowledgedThatIsNotStored(t *testing.T) {
	w := linked(t, Dedicated, func(g *Gateway) { g.limits.patience = 100 * time.Millisecond })
	w.accepting(func(vault.Inbound) error { return errFull })
	w.says(w.ann, "one")
	w.says(w.ann, "two")
	w.state(unstored.words)
	if n := w.server.Waiting(w.deviceOf()); n < 2 {
		t.Fatalf("%d stanzas wait", n)
	}
	w.accepting(nil)
	if in := w.inbound(2); in[0].Text != "one" || in[1].Text != "two" {
		t.Errorf("%+v", in)
	}
	w.eventually("all is acknowledged", func() bool { return w.server.Waiting(w.deviceOf()) == 0 })
}

// The session file is nobody else's to read.
func TestSessionFileIsPrivate(t *testing.T) {
	w := linked(t, Dedicated)
	for _, name := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(w.gw.opt.Path + name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("whatsapp.db%s has mode %o", name, mode)
		}
	}
	account, err := Linked(t.Context(), w.gw.opt.Path)
	if err != nil || account != "+"+w.me.PN.User {
		t.Errorf("%q, %v", account, err)
	}
	if account, err := Linked(t.Context(), w.gw.opt.Path+".none"); err != nil || account != "" {
		t.Errorf("%q, %v", account, err)
	}
}

// Nothing is lost or doubled when the answer of the server is lost and the line with it.
func TestCutAfterASendSendsItOnce(t *testing.T) {
	w := linked(t, Dedicated)
	w.phone(w.ann)
	var n atomic.Int32
	w.server.OnSend(func(types.JID, string) wafake.Fate {
		if n.Add(1) == 1 {
			return wafake.Fate{NoAck: true, Cut: true}
		}
		return wafake.Fate{}
	})
	p := w.part(w.to(w.ann), "once")
	ref, err := w.gw.Send(t.Context(), p)
	if err != nil || ref != p.Stable {
		t.Fatalf("%q, %v", ref, err)
	}
	m, text, err := w.phone(w.ann).Hear(5 * time.Second)
	if err != nil || text != "once" || m.Info.ID != p.Stable {
		t.Errorf("%q under %q, %v", text, m.Info.ID, err)
	}
}
