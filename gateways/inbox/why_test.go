package inbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// MEM-91 of the acceptance checks: where a memory comes from.
func TestWhyNamesTheSource(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/why", "Which one? Write it as /why N, for example /why 3. /memory lists the numbers.")
	w.want(ana, "/why 1", "There is no memory 1. /memory lists what there is.")
	p := w.run(ana, "my shoe size is\n39, remember")
	scope := vault.ScopeOf(p.Conversation, p.Person.ID)
	w.now = w.now.Add(90 * time.Second)
	_, _, err := w.v.Remember(t.Context(), vault.Memory{Text: "Ana has shoe size 39", Source: "message", SourceMessage: p.Messages[0].ID, SourceRun: p.Run.ID, Origin: "forwarded from Eve"}, scope)
	w.check(err)
	w.want(ana, "/why 1", strings.Join([]string{
		"Memory 1: Ana has shoe size 39",
		"From a message of Ana on Fri 4 Dec 2026, 09:00 (Europe/Lisbon), in a private chat on Telegram.",
		"The words were: my shoe size is 39, remember",
		"The words came from elsewhere: forwarded from Eve.",
	}, "\n"))
	w.want(ana, "/memory", "1 · Ana has shoe size 39 (forwarded from Eve)")
	_, _, err = w.v.Remember(t.Context(), vault.Memory{Text: "Ana likes tea", Source: "extracted"}, scope)
	w.check(err)
	w.now = w.now.Add(time.Hour)
	w.ask(ana, "/remember Ana likes tea")
	w.ask(ana, "/pin 2")
	w.want(ana, "/why 2", "Memory 2: Ana likes tea\nRead out of a talk with Ana, unasked, on Fri 4 Dec 2026, 09:01:30 (Europe/Lisbon).\nTold again on Fri 4 Dec 2026, 10:01:30 (Europe/Lisbon).\nIt is pinned.")
	// What it replaced stays as history, and is no longer listed.
	_, _, err = w.v.Remember(t.Context(), vault.Memory{Text: "Ana drinks coffee", Source: "extracted", SourceMessage: p.Messages[0].ID, Replaces: 2}, scope)
	w.check(err)
	w.want(ana, "/why 3", strings.Join([]string{
		"Memory 3: Ana drinks coffee",
		"Read out of a message, unasked, of Ana on Fri 4 Dec 2026, 09:00 (Europe/Lisbon), in a private chat on Telegram.",
		"The words were: my shoe size is 39, remember",
		"Before that, since Fri 4 Dec 2026, 09:01:30 (Europe/Lisbon) (memory 2): Ana likes tea",
		"It is pinned.",
	}, "\n"))
	w.want(ana, "/why 2", "Memory 2: Ana likes tea\nRead out of a talk with Ana, unasked, on Fri 4 Dec 2026, 09:01:30 (Europe/Lisbon).\nTold again on Fri 4 Dec 2026, 10:01:30 (Europe/Lisbon).\nIt no longer holds: memory 3 took its place.\nIt is pinned.")
	w.want(ana, "/memory tea", "I remember nothing about that. /memory lists everything.")
	w.want(ana, "/forget 3", "Forgotten: memory 3, of Fri 4 Dec 2026, 10:01:30 (Europe/Lisbon). Its words are removed wherever I kept them, also from 1 message.\nMemory 2, which it had replaced, holds again.\nThere are no snapshots on this machine; a backup that you made keeps the words.")
	w.want(ana, "/memory tea", "2 · Ana likes tea (pinned)")
}

// MEM-07: an answer of /why quotes the message; forgetting takes the quote back too.
func TestMEM07WhatWhyHasQuotedIsForgottenToo(t *testing.T) {
	w := newWorld(t)
	p := w.run(ana, `mind that I live in "CANARY" Street`+"\n5 & 6")
	scope := vault.ScopeOf(p.Conversation, p.Person.ID)
	_, _, err := w.v.Remember(t.Context(), vault.Memory{Text: "Ana lives in a street", Source: "message", SourceMessage: p.Messages[0].ID, SourceRun: p.Run.ID}, scope)
	w.check(err)
	w.check(w.v.EndRun(t.Context(), p.Run.ID, vault.Ending{State: vault.Done, Reply: "ok"}))
	if got := w.ask(ana, "/why 1"); !strings.Contains(got, "CANARY") {
		t.Fatalf("/why says %q", got)
	}
	w.check(os.MkdirAll(filepath.Join(w.v.Dir(), "backups"), 0o700))
	w.check(os.WriteFile(filepath.Join(w.v.Dir(), "backups", "snapshot-000001-20261204T080000Z.db"), nil, 0o600))
	w.check(os.WriteFile(filepath.Join(w.v.Dir(), "vault.db.before-restore-20261203-080000"), nil, 0o600))
	said := w.ask(ana, "/forget 1")
	for _, want := range []string{"Snapshots on this machine lose them by Sat 5 Dec 2026, 09:00 (Europe/Lisbon); a backup that you made keeps them.", "put aside keeps them too, until you delete it: vault.db.before-restore-20261203-080000"} {
		if !strings.Contains(said, want) {
			t.Errorf("/forget says %q, without %q", said, want)
		}
	}
	if strings.Contains(w.vaultBytes(), "CANARY") {
		t.Error("the words are still in the vault")
	}
}
