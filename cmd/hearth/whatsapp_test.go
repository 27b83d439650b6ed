package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"hearth/vault"
)

// The whole of it, with the real program: linked by a code, talked to, asked, answered with a thumb, reminded, named in a
// group, sent what it cannot read, and told what is wrong.
func TestWhatsAppEndToEnd(t *testing.T) {
	a := newAbroad(t, "")
	if out := a.ok("doctor"); !strings.Contains(out, "whatsapp: no account is linked") {
		t.Errorf("doctor before linking: %s", out)
	}
	scanning := a.begin(nil, "whatsapp", "pair")
	eventually(t, "a QR code is drawn", func() bool {
		return strings.Contains(scanning.log.String(), "Scan this within 60 seconds") && strings.Contains(scanning.log.String(), "█▀")
	})
	scanning.kill()
	a.linkByCode()
	if out := a.ok("doctor"); !strings.Contains(out, "whatsapp: +15550000001 is linked") {
		t.Errorf("doctor after linking: %s", out)
	}
	daemon := a.abroadDaemon()

	a.ana.write(a, "remember that the gate code is blue")
	a.ana.gets("Noted (memory 1): the gate code is blue")
	a.ben.write(a, "/help")
	a.ben.gets("/remind")

	a.ana.write(a, "save gate open to gate.txt")
	question, id := a.ana.gets("Question 1:")
	if !strings.Contains(question, "1. Approve\n2. Deny") || !strings.Contains(question, "👍 or 👎") {
		t.Errorf("the question is %q", question)
	}
	a.ana.send(a.me.PN, a.ana.BuildReaction(a.me.PN, a.me.LID, id, "👍"))
	a.ana.gets("Wrote")
	if got := a.read("ws/gate.txt"); got != "gate open" {
		t.Errorf("the file holds %q", got)
	}
	a.ana.write(a, "save gate shut to gate.txt")
	a.ana.gets("Question 2:")
	a.ana.write(a, "2")
	a.ana.gets("Denied: question 2")

	a.ana.write(a, "remind me in 2 seconds to stretch")
	a.ana.gets("Reminder 1: ")
	eventually(t, "the reminder comes", func() bool {
		texts, _ := a.ana.all("stretch")
		return len(texts) == 2 // the confirmation, and the thing itself
	})

	group := a.server.AddGroup("Family", true, a.me, a.ana.Account, a.ben.Account)
	a.ana.send(group, &waE2E.Message{Conversation: proto.String("nobody in particular")})
	a.ana.send(group, mention(a.me, "remind me tomorrow at 9 to make soup"))
	a.ben.gets("Reminder 2: ")

	a.ana.send(a.me.PN, &waE2E.Message{AudioMessage: &waE2E.AudioMessage{PTT: proto.Bool(true)}})
	a.ana.gets("I cannot listen to voice notes yet")
	a.ana.send(a.me.PN, &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("the cat")}})
	a.ana.gets("I cannot look at pictures yet")

	stranger := a.handset(a.server.AddAccount("Eve", "15550000666"))
	stranger.write(a, "hello")
	stranger.write(a, "hello?")
	stranger.gets("This is a private assistant")
	if texts, _ := stranger.all(""); len(texts) != 1 {
		t.Errorf("a stranger was told %q", texts)
	}

	// One person, one conversation: what was said here is known at the terminal.
	if out := a.ok("chat", "-m", "what do you know about the gate code"); !strings.Contains(out, "the gate code is blue") {
		t.Errorf("at the terminal: %s", out)
	}

	device := a.me.PN
	device.Device = 1
	eventually(t, "status tells it", func() bool {
		a.server.Kick(device, "401", "device_removed") // again, should the line have been down just then
		return strings.Contains(a.ok("status"), "no account is linked). `hearth whatsapp pair` links one.")
	})
	if out := a.ok("doctor"); !strings.Contains(out, "gateway whatsapp: not connected no account is linked") || !strings.Contains(out, "`hearth whatsapp pair` links one.") {
		t.Errorf("doctor: %s", out)
	}
	eventually(t, "the owner is told elsewhere", func() bool { // there is no other messenger: at the terminal
		for _, row := range ask(a.home, viewOutbox, query{All: true}) {
			if row.Gateway == "terminal" && row.Class == string(vault.Notice) && strings.Contains(string(row.Text), "WhatsApp has logged +15550000001 out") {
				return true
			}
		}
		return false
	})

	// Linked again through the running daemon.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	linked := ""
	err := newClient(a.socket()).pairWhatsApp(ctx, "", func(p pairing) error {
		if linked = p.Linked; p.QR != "" {
			return a.me.ScanQR(p.QR)
		}
		return nil
	})
	if err != nil || linked != "+15550000001" {
		t.Fatalf("linked again: %q, %v", linked, err)
	}
	a.online()
	cleo := a.handset(a.server.AddAccount("Cleo", "15550000004")) // the other phones still hold the keys of the device that is gone
	cleo.write(a, "remember that the roof is red")
	cleo.gets("the roof is red")
	if code, _, stderr := a.run("whatsapp", "pair"); code != 1 || !strings.Contains(stderr, "An account is linked already") {
		t.Errorf("a second account: %d %s", code, stderr)
	}
	if code := daemon.term(); code != 0 {
		t.Errorf("the daemon exits %d", code)
	}
}

// A power cut before and after each acknowledgement: nothing is lost, and nothing comes under two ids.
func TestWhatsAppKilledAtEveryPoint(t *testing.T) {
	a := newAbroad(t, "")
	a.linkByCode()
	for n, point := range []string{
		"whatsapp-came", "before:accept", "after:accept", "whatsapp-taken", "before:step", "after:step",
		"before:sending", "after:sending", "whatsapp-send", "whatsapp-sent", "before:sent", "after:sent",
	} {
		killed := a.daemon(crashVariable + "=" + point)
		key := fmt.Sprintf("K%d", n)
		a.ana.write(a, "remember that the box "+key+" is full")
		if code := killed.wait(20 * time.Second); code != -1 {
			t.Fatalf("the daemon was not killed at %s but exits %d:\n%s", point, code, killed.log)
		}
		daemon := a.abroadDaemon()
		a.ana.gets(key)
		daemon.term()
	}
	a.abroadDaemon()
	for n := range 12 {
		key := fmt.Sprintf("box K%d is full", n)
		if texts, _ := a.ana.all(key); len(texts) != 1 || strings.Contains(texts[0], "↻") {
			t.Errorf("%s: %q", key, texts)
		}
	}
	if facts := ask(a.home, viewMemory, query{}); len(facts) != 12 {
		t.Errorf("%d memories", len(facts))
	}
}

// The program is killed at random moments while people write on WhatsApp.
func TestTortureWhatsApp(t *testing.T) {
	a := newAbroad(t, "")
	a.linkByCode()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	daemon := a.daemon()
	type saying struct {
		by  *handset
		key string
	}
	var said []saying
	for round := range *tortureRounds {
		for i, p := range []*handset{a.ana, a.ben, a.ana} {
			s := saying{p, fmt.Sprintf("K%dx%d", round, i)}
			said = append(said, s)
			p.write(a, "remember that the box "+s.key+" is full")
		}
		blow(t, daemon, time.Duration(random.IntN(600))*time.Millisecond)
		daemon = a.daemon()
	}
	for _, s := range said {
		s.by.gets("box " + s.key + " is full")
	}
	eventually(t, "all runs have ended", func() bool {
		status := ask(a.home, viewStatus, query{})
		return status.Queue+len(status.Runs)+status.Outbox.Waiting == 0
	})
	facts := map[string]int{}
	for _, m := range ask(a.home, viewMemory, query{}) {
		facts[strings.Fields(m.Text)[2]]++
	}
	for _, s := range said {
		if texts, _ := s.by.all("box " + s.key + " is full"); len(texts) != 1 || strings.Contains(texts[0], "↻") {
			t.Errorf("%s: %q", s.key, texts)
		}
		if facts[s.key] != 1 {
			t.Errorf("%s: %d memories", s.key, facts[s.key])
		}
	}
	if code := daemon.term(); code != 0 {
		t.Errorf("the daemon exits %d", code)
	}
	if err := vault.VerifyFile(t.Context(), filepath.Join(a.vault(), "vault.db")); err != nil {
		t.Error(err)
	}
}
