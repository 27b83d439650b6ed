package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/config"
	"hearth/gateways/terminal"
	"hearth/vault"
)

// Whatever comes at the same moment: what is to be printed comes before the word that it was all.
func TestPartsComeBeforeTheWordThatTheyWereAll(t *testing.T) {
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		screen := terminal.New(terminal.Options{})
		tk := &talk{client: screen.Attach(1), settled: make(chan settlement, 1)}
		sent := make(chan error, 2)
		for n := range 2 {
			go func() {
				_, err := screen.Send(ctx, vault.Part{ID: int64(n + 1), To: vault.TerminalAddress(1), Text: "words"})
				sent <- err
			}()
		}
		eventually(t, "both parts are offered", func() bool { return len(tk.client.Parts()) == 2 })
		tk.settled <- settlement{ID: "m"}
		var order []string
		err := tk.run(ctx, func(e event) error {
			switch {
			case e.Part != nil:
				order = append(order, e.Part.Text)
				tk.client.Ack(e.Part.ID)
			case e.Settled != nil:
				order = append(order, "settled")
				cancel()
			}
			return nil
		})
		if diff := cmp.Diff([]string{"words", "words", "settled"}, order); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
		cancel()
	}
}

func TestAChatThatDoesNotReadIsTold(t *testing.T) {
	screen := terminal.New(terminal.Options{})
	tk := &talk{client: screen.Attach(1), settled: make(chan settlement)}
	tk.client.Close()
	if _, sentence := explain(tk.run(t.Context(), func(event) error { return nil })); !strings.HasPrefix(sentence, "This chat did not read for too long") {
		t.Errorf("it says %q", sentence)
	}
}

// scripted is a line that plays events and notes what was on the screen when a part was acknowledged.
type scripted struct {
	events []event
	screen *bytes.Buffer
	acks   []string
}

func (s *scripted) next() (event, error) {
	if len(s.events) == 0 {
		return event{}, io.EOF
	}
	e := s.events[0]
	s.events = s.events[1:]
	return e, nil
}

func (s *scripted) ack(context.Context, int64) error {
	s.acks = append(s.acks, s.screen.String())
	return nil
}
func (s *scripted) say(context.Context, string, string) error { return nil }
func (s *scripted) close()                                    {}

func TestAPartIsAcknowledgedOnlyWhenItIsOnTheScreen(t *testing.T) {
	screen := &bytes.Buffer{}
	l := &scripted{screen: screen, events: []event{{Part: &chatPart{ID: 1, Text: "one\x1b[2J"}}, {Part: &chatPart{ID: 2, Text: "two"}}}}
	c := &conversation{in: &invocation{console: &console{out: screen}}, line: l, waiting: map[string]bool{}}
	if err := c.once(t.Context(), "hello"); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"one\n", "one\ntwo\n"}, l.acks); diff != "" {
		t.Error(diff)
	}
}

func TestGreetingNamesTheModel(t *testing.T) {
	if said := greeting(statusRow{Model: modelRow{InUse: config.Offline}}); !strings.Contains(said, "No language model is connected") || !strings.Contains(said, "/help") {
		t.Errorf("it says %q", said)
	}
	said := greeting(statusRow{Model: modelRow{InUse: "home", Note: "It is the fallback."}})
	if !strings.Contains(said, "The model in use is home.\nIt is the fallback.") {
		t.Errorf("it says %q", said)
	}
}

// A daemon that is just starting has the vault and does not answer yet: the command waits for it to answer.
func TestACommandWaitsForADaemonThatIsComingUp(t *testing.T) {
	dir := t.TempDir()
	release, err := vault.Hold(t.Context(), dir, vault.Options{Holder: "hearth run"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = release() })
	cfg, err := config.Load("", []string{"HOME=" + dir, "HEARTH_VAULT__DIR=" + dir}, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	clock, err := newClock("")
	if err != nil {
		t.Fatal(err)
	}
	in := &invocation{console: &console{}, command: command{name: "jobs list"}}
	type got struct {
		v   *vault.Vault
		err error
	}
	opened := make(chan got, 1)
	socket := filepath.Join(dir, "s")
	go func() {
		v, err := in.openVault(t.Context(), cfg, clock, socket)
		opened <- got{v, err}
	}()
	l, err := listen(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	if g := <-opened; g.v != nil || g.err != nil {
		t.Errorf("it gives %v, %v", g.v, g.err)
	}
}

func TestSocketPathOfALongFolder(t *testing.T) {
	short, long := "/v", "/"+strings.Repeat("d", 100)
	if got := socketPath(short, "/run/user/1"); got != "/v/hearth.sock" {
		t.Errorf("a short one: %s", got)
	}
	a, b := socketPath(long, "/run/user/1"), socketPath(long+"x", "/run/user/1")
	if !strings.HasPrefix(a, "/run/user/1/hearth-") || len(a) > longestSocket || a == b {
		t.Errorf("long ones: %s, %s", a, b)
	}
	if _, err := listen(t.Context(), socketPath(long, "")); err == nil || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Errorf("without a runtime folder: %v", err)
	}
}

func TestListenReplacesADeadSocketAndIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
