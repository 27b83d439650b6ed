package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of the phones' stores
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"

	"hearth/gateways/whatsapp/wafake"
)

// abroad is a home whose agent is on WhatsApp: the real program, a server on loopback, and people with phones.
type abroad struct {
	*home
	server   *wafake.Server
	me       *wafake.Account
	ana, ben *handset
}

// handset is somebody's phone, and all texts it has got, over all lives of the agent: each id once, as a real one shows it.
type handset struct {
	*wafake.Phone
	t testing.TB

	mu    sync.Mutex
	seen  map[types.MessageID]string
	texts []string
	ids   []types.MessageID
}

func newAbroad(t testing.TB, more string) *abroad {
	t.Helper()
	s := wafake.New(t)
	me := s.AddAccount("Hearth", "15550000001")
	ana, ben := s.AddAccount("Ana", "15550000002"), s.AddAccount("Ben", "15550000003")
	h := newHome(t, "crashpoints testserver", `people: [{name: Ana, role: owner, whatsapp: "+15550000002"}, {name: Ben, whatsapp: "+15550000003"}, {name: Cleo, whatsapp: "+15550000004"}]
gateways: {burst: 0s, whatsapp: {mode: dedicated}`+more+"}\n")
	root := s.Root()
	h.env = append(h.env, testServerVariable+"="+s.Addr()+","+hex.EncodeToString(root[:])+",hasty", "HEARTH_SKILLS__PERMISSIONS__WRITE_FILE=ask")
	a := &abroad{home: h, server: s, me: me}
	a.ana, a.ben = a.handset(ana), a.handset(ben)
	return a
}

func (a *abroad) handset(account *wafake.Account) *handset {
	a.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(a.dir, account.Name+".db")+"?_foreign_keys=on&_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate")
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = db.Close() })
	phone, err := account.Phone(db, waLog.Noop)
	if err != nil {
		a.t.Fatal(err)
	}
	p := &handset{Phone: phone, t: a.t, seen: map[types.MessageID]string{}}
	phone.AddEventHandler(func(evt any) {
		m, ok := evt.(*events.Message)
		if !ok || wafake.Text(m.Message) == "" {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		text := wafake.Text(m.Message)
		if before, again := p.seen[m.Info.ID]; again {
			if before != text {
				p.t.Errorf("%s came twice with different words: %q and %q", m.Info.ID, before, text)
			}
			return
		}
		p.seen[m.Info.ID] = text
		p.texts, p.ids = append(p.texts, text), append(p.ids, m.Info.ID)
	})
	return p
}

// linkByCode links the account with the program's own command, while no daemon runs.
func (a *abroad) linkByCode() {
	a.t.Helper()
	p := a.begin(nil, "whatsapp", "pair", "--phone", "+1 555 000 0001")
	code := ""
	eventually(a.t, "a code is shown", func() bool {
		code = regexp.MustCompile(`(?m)^ {4}(\S{4}-\S{4})$`).FindString(p.log.String())
		return code != ""
	})
	if err := a.me.EnterCode(strings.TrimSpace(code)); err != nil {
		a.t.Fatal(err)
	}
	if exit := p.wait(30 * time.Second); exit != 0 || !strings.Contains(p.log.String(), "WhatsApp is linked to +15550000001.") {
		a.t.Fatalf("pair exits %d:\n%s", exit, p.log)
	}
}

// abroadDaemon starts the daemon and waits until it is on the line.
func (a *abroad) abroadDaemon(env ...string) *process {
	a.t.Helper()
	p := a.daemon(env...)
	a.online()
	return p
}

func (a *abroad) online() {
	a.t.Helper()
	eventually(a.t, "WhatsApp is connected", func() bool {
		for _, g := range ask(a.home, viewStatus, query{}).Gateways {
			if g.Name == "whatsapp" && g.State == "connected as +15550000001" {
				return true
			}
		}
		return false
	})
}

// write sends the agent a text.
func (p *handset) write(a *abroad, text string) {
	p.t.Helper()
	if _, err := p.Say(a.me.PN, text); err != nil {
		p.t.Fatal(err)
	}
}

func (p *handset) send(to types.JID, m *waE2E.Message) {
	p.t.Helper()
	if _, err := p.SendMessage(context.Background(), to, m); err != nil {
		p.t.Fatal(err)
	}
}

// all gives the texts that contain something.
func (p *handset) all(part string) (texts []string, ids []types.MessageID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, text := range p.texts {
		if strings.Contains(text, part) {
			texts, ids = append(texts, text), append(ids, p.ids[i])
		}
	}
	return texts, ids
}

// gets waits for a text that contains something.
func (p *handset) gets(part string) (string, types.MessageID) {
	p.t.Helper()
	var texts []string
	var ids []types.MessageID
	eventually(p.t, fmt.Sprintf("%s gets %q", p.Account.Name, part), func() bool {
		texts, ids = p.all(part)
		return len(texts) > 0
	})
	return texts[0], ids[0]
}

func mention(account *wafake.Account, words string) *waE2E.Message {
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: proto.String("@" + account.LID.User + " " + words), ContextInfo: &waE2E.ContextInfo{MentionedJID: []string{account.LID.String()}},
	}}
}
