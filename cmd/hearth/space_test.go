package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
	"hearth/vault"
)

var onPhone = tgfake.Person{ID: 7, First: "Ana"}

// phoned is a home whose owner, Ana, writes from Telegram.
func phoned(t *testing.T) (*home, *tgfake.Server) {
	t.Helper()
	tg := tgfake.New(t)
	h := newHome(t, "", fmt.Sprintf("timezone: Europe/Lisbon\npeople: [{name: Ana, role: owner, telegram: %d}]\ngateways: {burst: 0s, telegram: {token: %q, api_url: %q}}\n", onPhone.ID, tg.Token(), tg.URL()))
	return h, tg
}

// onScreen counts the messages on Ana's phone that hold words.
func onScreen(tg *tgfake.Server, words string) (n int) {
	for _, m := range tg.Shown(onPhone.ID) {
		n += strings.Count(m.Text, words)
	}
	return n
}

func phoneReads(t *testing.T, tg *tgfake.Server, words string) {
	t.Helper()
	eventually(t, "Ana reads "+words, func() bool { return onScreen(tg, words) > 0 })
}

// put mounts something over the vault's folder.
func (h *home) put(source, kind string, flags uintptr, data string) {
	h.t.Helper()
	if err := os.MkdirAll(h.vault(), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := syscall.Mount(source, h.vault(), kind, flags, data); err != nil {
		h.t.Skipf("another disk cannot be put below the vault here: mounting needs root (%v)", err)
	}
	h.t.Cleanup(func() { _ = syscall.Unmount(h.vault(), syscall.MNT_DETACH) })
}

// The disk fills up while messages come. The owner is told once, what is sent stays with the messenger, and when there is
// room again every message is answered, once.
func TestFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	h, tg := phoned(t)
	h.put("none", "tmpfs", 0, "size=40m,mode=0700")
	daemon := h.daemon()
	tg.Say(onPhone, "remember that the gate is blue")
	phoneReads(t, tg, "Noted (memory 1)")
	ballast := filepath.Join(h.vault(), "ballast")
	eventually(t, "the ballast is there", func() bool { info, err := os.Stat(ballast); return err == nil && info.Size() == 8<<20 })

	filler := filepath.Join(h.vault(), "filler")
	free, err := vault.Free(h.vault())
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filler)
	if err == nil {
		err = errors.Join(syscall.Fallocate(int(file.Fd()), 0, 0, free-64<<10), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for ; said < 300 && onScreen(tg, "is full: free some space") == 0; said++ { // the log still has some room of its own
		tg.Say(onPhone, fmt.Sprintf("remember that box%dx holds %s", said, strings.Repeat("apples and pears ", 12)))
		eventually(t, "it is taken or refused", func() bool {
			return onScreen(tg, "is full: free some space")+onScreen(tg, fmt.Sprintf("box%dx", said)) > 0
		})
	}
	if said == 300 {
		t.Fatal("the disk never filled up")
	}
	refused := tg.Say(onPhone, "remember that the last box is empty")
	eventually(t, "the log says so", func() bool { return strings.Contains(daemon.log.String(), "the disk takes nothing more") })
	if len(tg.Pending()) == 0 {
		t.Error("everything was acknowledged though nothing could be stored")
	}
	if code, out, _ := h.run("status"); code != 0 || out == "" {
		t.Errorf("status exits %d: %q", code, out)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	phoneReads(t, tg, "The disk takes data again, and I go on.")
	phoneReads(t, tg, "the last box is empty")
	for n := range said {
		if got := onScreen(tg, fmt.Sprintf("box%dx", n)); got != 1 {
			t.Errorf("box %d is answered %d times", n, got)
		}
	}
	if n := onScreen(tg, "is full: free some space"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if info, err := os.Stat(ballast); err != nil || info.Size() != 8<<20 {
		t.Errorf("the ballast: %v %v", info, err)
	}
	if n := strings.Count(daemon.log.String(), "\n"); n > 60 {
		t.Errorf("%d lines of log (message %d)", n, refused)
	}
	if code := daemon.term(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if err := vault.VerifyFile(t.Context(), filepath.Join(h.vault(), "vault.db")); err != nil {
		t.Error(err)
	}
}

// Not even a notice can be committed: it is said directly, and once.
func TestDiskThatTakesNothingIsToldDirectly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		errno syscall.Errno
		words string
	}{
		"full":      {syscall.ENOSPC, "is full: free some space"},
		"read-only": {syscall.EROFS, "has become read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			h, tg := phoned(t)
			d := newDisk(t, t.TempDir())
			h.put(d.mount, "", syscall.MS_BIND, "")
			daemon := h.daemon()
			tg.Say(onPhone, "remember that the gate is blue")
			phoneReads(t, tg, "Noted (memory 1)")
			d.fail(c.errno)
			tg.Say(onPhone, "remember that the box is full")
			tg.Say(onPhone, "remember that the lid is green")
			phoneReads(t, tg, c.words)
			eventually(t, "it is tried again", func() bool { return len(tg.Pending()) == 2 })
			d.fail(0)
			phoneReads(t, tg, "The disk takes data again, and I go on.")
			phoneReads(t, tg, "Noted (memory 2)")
			phoneReads(t, tg, "Noted (memory 3)")
			for _, words := range []string{c.words, "Noted (memory 2)", "Noted (memory 3)"} {
				if n := onScreen(tg, words); n != 1 {
					t.Errorf("%q comes %d times", words, n)
				}
			}
			if code := daemon.term(); code != 0 {
				t.Errorf("exit %d:\n%s", code, daemon.log)
			}
		})
	}
}

func TestLogOnAFullDiskStopsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, "", "")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full:", err)
	}
	defer func() { _ = full.Close() }()
	cmd := h.command(t.Context(), "run")
	cmd.Stdout, cmd.Stderr = full, full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the daemon is ready", h.ready)
	if said := h.open("Ana").ask("remember that the gate is blue", "m1"); !strings.Contains(said, "Noted (memory 1)") {
		t.Errorf("it says %q", said)
	}
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// Damage that comes while the daemon runs: it is noticed within a day, nothing more is written, and the owner learns on the
// phone what to do. A supervisor that starts the program again has nobody told again.
func TestDUR13DamageWhileRunningIsToldOnTheWayOut(t *testing.T) {
	t.Parallel()
	h, tg := phoned(t)
	h.clocked("2026-03-10T08:00:00Z")
	daemon := h.daemon()
	for n := range 20 {
		tg.Say(onPhone, fmt.Sprintf("remember that box%dx holds %s", n, strings.Repeat("apples and pears ", 12)))
		phoneReads(t, tg, fmt.Sprintf("Noted (memory %d)", n+1))
	}
	h.setClock("2026-03-10T09:00:00Z")
	eventually(t, "a snapshot is made", func() bool { return strings.Contains(daemon.log.String(), "a snapshot was made") })
	eventually(t, "it was sound", func() bool { return strings.Contains(daemon.log.String(), "the vault is sound") })
	if code := daemon.term(); code != 0 { // which empties the log
		t.Fatalf("exit %d", code)
	}
	daemon = h.daemon()
	eventually(t, "it is sound", func() bool { return strings.Contains(daemon.log.String(), "the vault is sound") })

	path := filepath.Join(h.vault(), "vault.db")
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	body := h.read("v/vault.db")
	at := strings.LastIndex(body, "box9x holds apples") / 4096 * 4096
	if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), int64(at)); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	h.setClock("2026-03-11T09:00:01Z")
	if code := daemon.wait(20 * time.Second); code != exitDamaged {
		t.Errorf("exit %d:\n%s", code, daemon.log)
	}
	command := "hearth --config " + filepath.Join(h.dir, "hearth.yaml") + " restore " + filepath.Join(h.vault(), "backups", "snapshot-000001-20260310T090000Z.db")
	if said := daemon.log.String(); !strings.Contains(said, path+" is damaged") || !strings.Contains(said, "`"+command+"`") || !strings.Contains(said, "Tue 10 Mar 2026, 09:00") {
		t.Errorf("it says:\n%s", said)
	}
	phoneReads(t, tg, "My vault is damaged, so I have stopped")
	phoneReads(t, tg, command)
	again := h.begin(nil, "run")
	if code := again.wait(20 * time.Second); code != exitDamaged {
		t.Errorf("again: exit %d:\n%s", code, again.log)
	}
	if n := onScreen(tg, "My vault is damaged"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if _, out, _ := h.run("doctor"); !strings.Contains(out, "damaged") {
		t.Errorf("doctor says:\n%s", out)
	}
	if !strings.Contains(h.read("v/vault.db"), strings.Repeat("\xa5", 4096)) {
		t.Error("the damaged file is gone")
	}
}

func TestSnapshotsThatFailAreToldOnce(t *testing.T) {
	t.Parallel()
	h, tg := phoned(t)
	h.clocked("2026-03-10T08:00:00Z")
	if err := os.MkdirAll(h.vault(), 0o700); err != nil {
		t.Fatal(err)
	}
	blocked := h.write("v/backups", "a file stands where the folder should be")
	daemon := h.daemon()
	tg.Say(onPhone, "remember that the gate is blue")
	phoneReads(t, tg, "Noted (memory 1)")
	for n, at := range []string{"2026-03-10T09:00:00Z", "2026-03-11T09:30:00Z", "2026-03-12T10:00:00Z"} {
		h.setClock(at)
		eventually(t, "it fails", func() bool { return strings.Count(daemon.log.String(), "no snapshot was made") == n+1 })
	}
	phoneReads(t, tg, "I could not make a snapshot of my vault")
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	h.setClock("2026-03-13T11:00:00Z")
	eventually(t, "a snapshot is made", func() bool { return strings.Contains(daemon.log.String(), "a snapshot was made") })
	if n := onScreen(tg, "I could not make a snapshot"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if out := h.ok("doctor"); !strings.Contains(out, "snapshots: 1, the newest of Fri 13 Mar 2026, 11:00") {
		t.Errorf("doctor says:\n%s", out)
	}
}
