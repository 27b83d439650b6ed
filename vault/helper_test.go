package vault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets the test binary be the other process that holds a vault.
func TestMain(m *testing.M) {
	if dir := os.Getenv("VAULT_TEST_HOLD"); dir != "" {
		os.Exit(holdVault(dir))
	}
	os.Exit(m.Run())
}

// holdVault opens a vault, says so, and keeps it until its standard input ends.
func holdVault(dir string) int {
	v, err := Open(context.Background(), dir, Options{Holder: "hearth run"})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, bufio.NewReader(os.Stdin))
	if err := v.Close(); err != nil {
		return 1
	}
	return 0
}

// clock is set by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// home is a vault with three people: ann owns it, bob and cem are members.
type home struct {
	*Vault
	t             testing.TB
	clock         *clock
	folder        string
	opt           Options
	ann, bob, cem Person
	last          int // message ids given out
}

var household = []Person{
	{Name: "Ann", Role: Owner, Zone: "Europe/Lisbon", Identities: []Identity{{"telegram", "1"}, {"whatsapp", "+351"}}},
	{Name: "Bob", Role: Member, Identities: []Identity{{"telegram", "2"}}},
	{Name: "Cem", Role: Member, Identities: []Identity{{"telegram", "3"}}},
}

// lived is the file of a household that nothing has happened in yet: to make the tables takes longer than most tests.
var lived = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "vault")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	v, err := Open(context.Background(), dir, Options{Now: func() time.Time { return monday }})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(v.SyncPeople(context.Background(), household), v.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(v.Path())
})

var monday = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func newHome(t testing.TB) *home {
	t.Helper()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "vault.db"), must(lived())(t), 0o600))
	h := newIn(t, dir, Options{})
	h.meet()
	return h
}

// newEmpty is a vault that knows nobody yet. It is Monday, 09:00 in UTC.
func newEmpty(t testing.TB, opt Options) *home {
	t.Helper()
	return newIn(t, t.TempDir(), opt)
}

func newIn(t testing.TB, dir string, opt Options) *home {
	t.Helper()
	c := &clock{t: monday}
	opt.Now = c.now
	h := &home{t: t, clock: c, folder: dir, opt: opt}
	h.open()
	t.Cleanup(func() {
		if h.Vault != nil {
			_ = h.Close()
		}
	})
	return h
}

func (h *home) open() {
	h.t.Helper()
	v, err := Open(context.WithoutCancel(h.t.Context()), h.folder, h.opt)
	check(h.t, err)
	h.Vault = v
}

// reopen ends this life of the vault and begins the next.
func (h *home) reopen() {
	h.t.Helper()
	check(h.t, h.Close())
	h.open()
}

func (h *home) meet() {
	h.t.Helper()
	for name, p := range map[string]*Person{"Ann": &h.ann, "Bob": &h.bob, "Cem": &h.cem} {
		*p = must(h.PersonNamed(h.t.Context(), name))(h.t)
	}
}

// says makes an inbound text of a person in their private Telegram chat, with an id of its own.
func (h *home) says(p Person, words string) Inbound {
	h.last++
	sender := strconv.FormatInt(p.ID, 10)
	return Inbound{
		Gateway: "telegram", Account: "bot", Chat: sender, ChatKind: Private, Sender: sender, SenderName: p.Name,
		ID: strconv.Itoa(h.last), Kind: "text", Text: words, Sent: h.clock.now(),
	}
}

// saysIn is says in a group.
func (h *home) saysIn(group string, p Person, words string) Inbound {
	in := h.says(p, words)
	in.Chat, in.ChatKind = group, Group
	return in
}

// accept stores a message that is no part of a burst and gives its run.
func (h *home) accept(p Person, words string) int64 {
	h.t.Helper()
	return must(h.Accept(h.t.Context(), h.says(p, words), p, 0))(h.t).Run
}

func (h *home) claim() Progress {
	h.t.Helper()
	return must(h.Claim(h.t.Context()))(h.t)
}

// claimed accepts a message and takes up its run, which must be the next.
func (h *home) claimed(p Person, words string) Progress {
	h.t.Helper()
	run := h.accept(p, words)
	got := h.claim()
	if got.Run.ID != run {
		h.t.Fatalf("claimed run %d, want %d", got.Run.ID, run)
	}
	return got
}

// step commits a model step of a run.
func (h *home) step(p Progress, d StepDone) []int64 {
	h.t.Helper()
	return must(h.SaveStep(h.t.Context(), p.Run.ID, stepOf(p, d)))(h.t)
}

// stepOf fills in what follows from the progress: the next number, and that every message was seen.
func stepOf(p Progress, d StepDone) StepDone {
	d.Step.N = len(p.Steps)
	if d.Step.Started.IsZero() {
		d.Step.Started = p.Run.Claimed
	}
	for _, m := range p.Messages {
		d.Seen = max(d.Seen, m.ID)
	}
	return d
}

func (h *home) progress(run int64) Progress {
	h.t.Helper()
	return must(h.Progress(h.t.Context(), run))(h.t)
}

// do runs changes as one event.
func (h *home) do(f func(*Tx) error) {
	h.t.Helper()
	check(h.t, h.Do(h.t.Context(), "test", f))
}

// count asks the database itself.
func (h *home) count(query string, args ...any) int {
	h.t.Helper()
	return int(must(one(h.t.Context(), h.rdb, scanInt, query, args...))(h.t))
}

// str is count for a text.
func (h *home) str(query string, args ...any) string {
	h.t.Helper()
	return must(one(h.t.Context(), h.rdb, scanString, query, args...))(h.t)
}

// parts gives the outbox, oldest first.
func (h *home) parts() []Part {
	h.t.Helper()
	return must(collect(h.t.Context(), h.rdb, scanPart, `SELECT `+partColumns+` FROM outbox ORDER BY id`))(h.t)
}

// send hands the head of each lane of telegram to the messenger, which takes it.
func (h *home) send() []Part {
	h.t.Helper()
	heads := must(h.Heads(h.t.Context(), "telegram"))(h.t)
	for _, p := range heads {
		check(h.t, h.Sending(h.t.Context(), p))
		check(h.t, h.Delivered(h.t.Context(), p, fmt.Sprintf("ref%d", p.ID)))
	}
	return heads
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// closing is check for what a test leaves behind.
func closing(t testing.TB, c io.Closer) {
	t.Helper()
	check(t, c.Close())
}

func must[T any](got T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return got
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func contains(t testing.TB, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s lacks %q: %q", what, w, text)
		}
	}
}
