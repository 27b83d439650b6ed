package vault

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// onDisk reports whether all that was committed would outlive a power cut.
func (h *home) onDisk() bool {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return h.disk.flushed == h.disk.committed
}

// slowDisk makes each flush wait until it is let go.
func (h *home) slowDisk() (begun <-chan struct{}, goOn chan<- error) {
	began, end := make(chan struct{}), make(chan error)
	h.disk.sync = func(f *os.File) error {
		began <- struct{}{}
		return errors.Join(<-end, f.Sync())
	}
	return began, end
}

func TestDurableEventsAreFlushedAndClaimsAreNot(t *testing.T) {
	h := newHome(t)
	event := func(d durability) {
		check(t, h.write(t.Context(), "x", d, func(tx *Tx) error { return tx.Set("a", "b") }))
	}
	for range 2 {
		event(relaxed)
		equal(t, "relaxed", h.onDisk(), false)
		event(ordered)
		equal(t, "ordered, behind a relaxed one", h.onDisk(), false)
		event(durable)
		equal(t, "durable", h.onDisk(), true)
	}
}

// TestWhatIsSeenBeforeItIsSafe: an event is read as soon as it is committed and holds up no other; it returns when it is on
// the disk, and so does what is to be sent because of it.
func TestWhatIsSeenBeforeItIsSafe(t *testing.T) {
	h := newHome(t)
	begun, goOn := h.slowDisk()
	told, cancel := h.Subscribe(OutboxChanged)
	defer cancel()
	ctx := context.WithoutCancel(t.Context())
	posted, sending := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := h.Post(ctx, Part{Text: "an answer", To: to("1"), Class: Answer})
		posted <- err
	}()
	<-begun
	<-told
	wantTexts(t, "what is to be sent, before it is safe", h.heads(), "an answer")
	part := h.parts()[0]
	check(t, h.write(ctx, "claim", relaxed, func(tx *Tx) error { return tx.Set("a", "b") })) // gets by
	go func() { sending <- h.Sending(ctx, part) }()
	for h.parts()[0].Attempts == 0 { // until the attempt is committed
		select {
		case err := <-sending:
			t.Fatalf("it may be sent before the disk has it: %v", err)
		default:
		}
	}
	select {
	case err := <-posted:
		t.Fatalf("an event returns before the disk has it: %v", err)
	case err := <-sending:
		t.Fatalf("it may be sent before the disk has it: %v", err)
	default:
	}
	goOn <- nil
	check(t, <-posted)
	check(t, <-sending) // with the same flush
	equal(t, "is the attempt on the disk", h.onDisk(), false)
}

func TestEventsShareAFlush(t *testing.T) {
	h := newHome(t)
	begun, goOn := h.slowDisk()
	flushes := h.flushed.Load()
	ended := make(chan error)
	event := func() { ended <- h.Set(context.WithoutCancel(t.Context()), "a", "b") }
	go event()
	<-begun
	before := h.disk.debt()
	for range 5 {
		go event()
	}
	for h.disk.debt() < before+5 { // until they are committed
		must(h.Paused(t.Context()))(t)
	}
	goOn <- nil
	<-begun
	goOn <- nil
	for range 6 {
		check(t, <-ended)
	}
	equal(t, "flushes of six events", h.flushed.Load()-flushes, 2)
	equal(t, "on the disk", h.onDisk(), true)
}

// TestNothingIsPromisedAfterAFailedFlush: the system forgets the failure and calls the next flush a success.
func TestNothingIsPromisedAfterAFailedFlush(t *testing.T) {
	h := newHome(t)
	broken := errors.New("input/output error")
	h.disk.sync = func(*os.File) error { return broken }
	wantErr(t, h.Set(t.Context(), "a", "b"), broken)
	h.disk.sync = (*os.File).Sync
	wantErr(t, h.Set(t.Context(), "a", "c"), broken)
	wantErr(t, h.write(t.Context(), "claim", relaxed, func(*Tx) error { return nil }), broken)
	wantErr(t, h.Touch(t.Context()), broken)
	must(h.Paused(t.Context()))(t)
}

// TestTheLogThatIsThereIsFlushed: another file in its place is noticed.
func TestTheLogThatIsThereIsFlushed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	var flushed atomic.Pointer[os.FileInfo]
	f := flusher{sync: func(file *os.File) error {
		info, err := file.Stat()
		flushed.Store(&info)
		return err
	}}
	f.open(log)
	for range 2 {
		check(t, os.RemoveAll(log+".old"))
		if err := os.Rename(log, log+".old"); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		check(t, os.WriteFile(log, nil, 0o600))
		if made := must(f.wait(f.commit(durable)))(t); !made {
			t.Error("it was not flushed")
		}
		if !os.SameFile(*flushed.Load(), must(os.Stat(log))(t)) {
			t.Error("another file than the log was flushed")
		}
	}
	check(t, f.close())
}
