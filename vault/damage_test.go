package vault

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// spoil overwrites the page of the file that holds words, below SQLite.
func (h *home) spoil(words string) {
	h.t.Helper()
	body := must(os.ReadFile(h.Path()))(h.t)
	at := bytes.LastIndex(body, []byte(words))
	if at < 0 {
		h.t.Fatalf("%q is not in the file", words)
	}
	file := must(os.OpenFile(h.Path(), os.O_RDWR, 0))(h.t)
	must(file.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), int64(at/4096*4096)))(h.t)
	check(h.t, file.Close())
}

// lost is a vault whose memories are damaged, with a log that is not in the file yet.
func lost(t *testing.T) *home {
	t.Helper()
	h := newHome(t)
	for range 200 {
		h.remember(h.private(h.ann), "the CANARY sleeps in the shed "+strings.Repeat("x", 200)+h.str(`SELECT hex(randomblob(8))`))
	}
	h.reopen() // which empties the log
	check(t, h.Set(t.Context(), "k", "v"))
	h.spoil("the CANARY")
	return h
}

func TestDUR13NothingIsWrittenToADamagedVault(t *testing.T) {
	h := lost(t)
	var damaged *DamagedError
	if err := h.Examine(t.Context()); !errors.As(err, &damaged) || damaged.Path != h.Path() {
		t.Fatalf("examined: %v", err)
	}
	file, log := must(os.ReadFile(h.Path()))(t), must(os.ReadFile(h.Path()+"-wal"))(t)
	if err := h.Set(t.Context(), "k", "w"); !errors.As(err, &damaged) {
		t.Errorf("a write: %v", err)
	}
	check(t, h.Close())
	if !bytes.Equal(file, must(os.ReadFile(h.Path()))(t)) || !bytes.Equal(log, must(os.ReadFile(h.Path()+"-wal"))(t)) {
		t.Error("the files have changed")
	}
	again := must(Open(t.Context(), h.folder, h.opt))(t) // the lock is free
	defer closing(t, again)
}

func TestDamageThatAReaderStumblesOverStopsTheWriter(t *testing.T) {
	h := lost(t)
	woken, cancel := h.Subscribe()
	defer cancel()
	if _, err := h.Memories(t.Context(), 0, 1000); !IsDamage(err) {
		t.Fatalf("reading: %v", err)
	}
	<-woken
	if err := h.Set(t.Context(), "k", "w"); !IsDamage(err) || h.Suspect() == nil {
		t.Errorf("a write: %v, suspected: %v", err, h.Suspect())
	}
}

func TestDoubtNotesDamageAndNothingElse(t *testing.T) {
	h := newHome(t)
	other := errors.New("another fault")
	if err := h.Doubt(other); err != other || h.Doubt(nil) != nil || h.Suspect() != nil { //nolint:errorlint // the very error
		t.Errorf("%v, suspected: %v", err, h.Suspect())
	}
	var damaged *DamagedError
	if err := h.Doubt(fmt.Errorf("read: %w", sqlite3.Error{Code: sqlite3.ErrCorrupt})); !errors.As(err, &damaged) || damaged.Path != h.Path() || h.Suspect() == nil {
		t.Errorf("%v, suspected: %v", err, h.Suspect())
	}
}

func TestAFalseAlarmIsCalledOff(t *testing.T) {
	h := newHome(t)
	_ = noted(h.rdb, sqlite3.Error{Code: sqlite3.ErrCorrupt})
	if err := h.Set(t.Context(), "k", "v"); !IsDamage(err) {
		t.Errorf("a write: %v", err)
	}
	check(t, h.Examine(t.Context()))
	check(t, h.Set(t.Context(), "k", "v"))
}

func TestDamageOfAWriteIsSuspected(t *testing.T) {
	h := newHome(t)
	err := h.Do(t.Context(), "test", func(*Tx) error { return sqlite3.Error{Code: sqlite3.ErrCorrupt} })
	if !IsDamage(err) || h.Suspect() == nil {
		t.Errorf("error %v, suspected: %v", err, h.Suspect())
	}
}
