package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/vault"
)

var (
	cuts    = flag.Int("cuts", 10, "how often TestDUR16PowerCuts cuts the power")
	lieCuts = flag.Int("liecuts", 4, "how often TestDUR16PowerCutsOfADiskThatIgnoresFlushes cuts it")
)

// writerName is the command that writes until the power goes: the test binary under another name.
const writerName = "powercut-writer"

// powercutWriter accepts message after message into the vault named on its command line and says the number of each that it
// may acknowledge.
func powercutWriter() {
	size, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = acceptForever(os.Args[1], size)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func acceptForever(dir string, size int) error {
	ctx := context.Background()
	v, err := vault.Open(ctx, dir, vault.Options{})
	if err != nil {
		return err
	}
	ana, err := v.PersonNamed(ctx, "Ana")
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		in := vault.Inbound{
			Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: strconv.Itoa(n), Kind: "text",
			Text: fmt.Sprint("message ", n, " ", strings.Repeat("x", size)), Sent: time.Now(),
		}
		if _, err := v.Accept(ctx, in, ana, 0); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// writer is a process that writes.
type writer struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	n   int // the last message it may acknowledge
	eof chan struct{}
}

func beginWriter(t *testing.T, dir string, size int) *writer {
	t.Helper()
	w := &writer{cmd: exec.CommandContext(t.Context(), writerName, dir, strconv.Itoa(size)), eof: make(chan struct{})}
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.eof)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				w.mu.Lock()
				w.n = n
				w.mu.Unlock()
			}
		}
	}()
	return w
}

func (w *writer) acknowledged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// cutAfter lets a writer write for a while, cuts the power and gives what is found, and the last message acknowledged before.
func cutAfter(t *testing.T, d *disk, random *rand.Rand, size, atLeast int, more time.Duration) (found string, acknowledged int) {
	t.Helper()
	w := beginWriter(t, d.mount, size)
	defer func() {
		_ = w.cmd.Process.Kill() // it may have ended by itself: its disk is gone
		<-w.eof
		_ = w.cmd.Wait()
	}()
	eventually(t, "something is written", func() bool { return w.acknowledged() >= atLeast })
	timer := time.NewTimer(more)
	defer timer.Stop()
	<-timer.C
	acknowledged = w.acknowledged() // before the cut: whoever read it was told
	return d.cut(random), acknowledged
}

// The power is cut while messages are written. Every message that was acknowledged is there, and the file is sound.
func TestDUR16PowerCuts(t *testing.T) {
	t.Parallel()
	h := newHome(t, "", "")
	h.ok("status")
	total, seed := 0, uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for n := range *cuts {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			found, acknowledged := cutAfter(t, newDisk(t, h.vault()), random, 1500, 1+random.IntN(20), time.Duration(random.IntN(200))*time.Millisecond)
			v, err := vault.Open(t.Context(), found, vault.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = v.Close() }()
			if err := v.Check(t.Context()); err != nil {
				t.Error(err)
			}
			runs, err := v.OpenRuns(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(runs) < acknowledged {
				t.Errorf("%d messages were acknowledged, %d are there", acknowledged, len(runs))
			}
			total += acknowledged
		})
	}
	t.Logf("%d cuts, %d messages acknowledged", *cuts, total)
}

// A disk that answers flushes and does not do them can damage the file. That is seen at the start, the newest sound snapshot
// is named and brought back by the very command that is named, and the owner is told what is missing.
func TestDUR16PowerCutsOfADiskThatIgnoresFlushes(t *testing.T) {
	t.Parallel()
	h := newHome(t, "", "").clocked("2026-03-10T08:00:00Z")
	daemon := h.daemon()
	ana := h.open("Ana")
	ana.ask("remember that the gate is blue", "m1")
	h.setClock("2026-03-10T09:00:00Z")
	eventually(t, "a snapshot is made", func() bool {
		found, err := vault.Snapshots(h.vault())
		return err == nil && len(found) == 1 && strings.Contains(daemon.log.String(), "a snapshot was made")
	})
	daemon.term()
	begin := filepath.Join(h.dir, "begin")
	if err := os.Rename(h.vault(), begin); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	damaged := 0
	for n := range *lieCuts {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			h := *h
			h.t = t
			d := newDisk(t, begin)
			d.lies = true
			found, _ := cutAfter(t, d, random, 60_000, 60+random.IntN(60), time.Duration(random.IntN(50))*time.Millisecond)
			if err := errors.Join(os.RemoveAll(h.vault()), os.Rename(found, h.vault())); err != nil {
				t.Fatal(err)
			}
			if h.mended(t) {
				damaged++
			}
			ana := h.open("Ana")
			if said := ana.ask("/memory", "m2"); !strings.Contains(said, "the gate is blue") {
				t.Errorf("it remembers %q", said)
			}
		})
	}
	t.Logf("%d cuts, %d times the file was damaged, noticed, and brought back from the snapshot", *lieCuts, damaged)
	if damaged == 0 && *lieCuts >= 20 {
		t.Error("the disk never lied: the test shows nothing")
	}
}

var restoring = regexp.MustCompile("sound copy is of Tue 10 Mar 2026, 09:00(?:|:\\d\\d) \\(Europe/Lisbon\\): bring it back with `(hearth [^`]+)`")

// mended starts the daemon on a vault that may be damaged, does what it says, and leaves a daemon that works. It reports
// whether there was damage.
func (h *home) mended(t *testing.T) bool {
	t.Helper()
	h.setClock("2026-03-10T11:30:00Z")
	daemon := h.begin(nil, "run")
	sound := func() bool {
		return h.ready() && strings.Contains(daemon.log.String(), "the vault is sound")
	}
	over := false
	eventually(t, "the daemon works or says what is wrong", func() bool {
		select {
		case <-daemon.ended:
			over = true
		default:
		}
		return over || sound()
	})
	if !over {
		return false
	}
	said := daemon.log.String()
	if code := daemon.cmd.ProcessState.ExitCode(); code != exitDamaged {
		t.Fatalf("exit %d:\n%s", code, said)
	}
	command := restoring.FindStringSubmatch(said)
	if command == nil || !strings.Contains(said, filepath.Join(h.vault(), "vault.db")+" is damaged") {
		t.Fatalf("it says:\n%s", said)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", command[1])
	shell.Env = append(append([]string{}, h.env...), "PATH="+filepath.Dir(h.binary)+":"+os.Getenv("PATH"))
	if out, err := shell.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("The old vault is kept as ")) {
		t.Fatalf("%s: %v\n%s", command[1], err, out)
	}
	h.daemon()
	missing := h.open("Ana").hears("I was brought back from a copy.")
	for _, want := range []string{"Tue 10 Mar 2026, 09:00 (Europe/Lisbon)", "and Tue 10 Mar 2026, 11:30 (Europe/Lisbon)"} {
		if !strings.Contains(missing, want) {
			t.Errorf("the owner is told %q", missing)
		}
	}
	return true
}

// The disk is the test's own: what it keeps and loses is what it says.
func TestTheDiskKeepsWhatWasFlushedAndNothingElseForSure(t *testing.T) {
	t.Parallel()
	for _, lies := range []bool{false, true} {
		d := newDisk(t, t.TempDir())
		d.lies = lies
		file, err := os.Create(filepath.Join(d.mount, "file"))
		if err != nil {
			t.Fatal(err)
		}
		flushed, cached := bytes.Repeat([]byte("f"), 10*sector), bytes.Repeat([]byte("c"), 100*sector)
		_, err = file.Write(flushed)
		_, err2 := io.Copy(file, bytes.NewReader(cached[:0]))
		if err := errors.Join(err, err2, file.Sync()); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(cached); err != nil {
			t.Fatal(err)
		}
		lost := false
		for seed := range uint64(20) {
			body, err := os.ReadFile(filepath.Join(d.cut(rand.New(rand.NewPCG(seed, 1))), "file"))
			if err != nil {
				t.Fatal(err)
			}
			if kept := bytes.HasPrefix(body, flushed); !lies && !kept {
				t.Error("what was flushed is gone")
			} else if lies && !kept {
				lost = true
			}
			if want := append(append([]byte{}, flushed...), cached...); !bytes.Equal(body, want) {
				lost = lost || !lies
			}
		}
		if !lost {
			t.Errorf("a disk that lies (%v) never loses anything", lies)
		}
		if err := file.Close(); err != nil && !lies {
			t.Log(err)
		}
	}
}
