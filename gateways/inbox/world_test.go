package inbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"hearth/vault"
)

// world is a household: Ana is its owner, Ben a member, Eve nobody. The clock stands until a test moves it.
type world struct {
	t   *testing.T
	v   *vault.Vault
	opt Options
	box *Inbox
	now time.Time
	ids int
}

// The people by their ids on the messenger.
const (
	ana = "11"
	ben = "22"
	eve = "66"
)

func newWorld(t *testing.T) *world {
	t.Helper()
	// Fri 4 Dec 2026, 09:00 in Lisbon.
	w := &world{t: t, now: time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	v, err := vault.Open(t.Context(), t.TempDir(), vault.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	w.v = v
	w.check(v.SyncPeople(t.Context(), []vault.Person{
		{Name: "Ana", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: ana}}},
		{Name: "Ben", Role: vault.Member, Zone: "Europe/Berlin", Identities: []vault.Identity{{Gateway: "telegram", Ext: ben}}},
	}))
	lisbon, err := time.LoadLocation("Europe/Lisbon")
	w.check(err)
	w.opt = Options{
		Vault: v, Now: clock,
		Zone: func(p vault.Person) *time.Location {
			if zone, err := time.LoadLocation(p.Zone); err == nil && p.Zone != "" {
				return zone
			}
			return lisbon
		},
		Zones: []string{"America/Lima", "Asia/Tokyo", "Europe/Berlin", "Europe/Dublin", "Europe/Lisbon", "Europe/London", "America/Indiana/Knox", "America/Knox", "UTC"},
	}
	w.box = New(w.opt)
	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// message is what somebody writes in their private chat.
func (w *world) message(who, text string) vault.Inbound {
	w.ids++
	return vault.Inbound{
		Gateway: "telegram", Account: "bot", Chat: who, ChatKind: vault.Private, Sender: who, SenderName: "Somebody",
		ID: strconv.Itoa(w.ids), Kind: "text", Text: text, Sent: w.now, Raw: []byte(`{"raw":"bytes"}`),
	}
}

// inGroup is what somebody writes in the family's group.
func (w *world) inGroup(who, text string) vault.Inbound {
	in := w.message(who, text)
	in.Chat, in.ChatKind = "-100", vault.Group
	return in
}

func (w *world) accept(in vault.Inbound) {
	w.t.Helper()
	w.check(w.box.Accept(w.t.Context(), in))
}

func (w *world) parts() []vault.Part {
	w.t.Helper()
	parts, err := w.v.Parts(w.t.Context(), false, 10_000)
	w.check(err)
	slices.Reverse(parts)
	return parts
}

// hand gives an event to the inbox and returns what is queued because of it, one text a part.
func (w *world) hand(in vault.Inbound) []vault.Part {
	w.t.Helper()
	before := len(w.parts())
	w.accept(in)
	return w.parts()[before:]
}

// said joins the texts of parts.
func said(parts []vault.Part) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

// ask has somebody write in private and returns the answer.
func (w *world) ask(who, text string) string {
	w.t.Helper()
	return said(w.hand(w.message(who, text)))
}

// want has somebody write and compares the whole answer.
func (w *world) want(who, text, answer string) {
	w.t.Helper()
	if got := w.ask(who, text); got != answer {
		w.t.Errorf("%s\n got: %s\nwant: %s", text, got, answer)
	}
}

func (w *world) person(name string) vault.Person {
	w.t.Helper()
	p, err := w.v.PersonNamed(w.t.Context(), name)
	w.check(err)
	return p
}

// jobs gives somebody's open jobs.
func (w *world) jobs(name string) []vault.Job {
	w.t.Helper()
	jobs, err := w.v.Jobs(w.t.Context(), w.person(name).ID, true, 1000)
	w.check(err)
	return jobs
}

// run has somebody write a message and takes its run up.
func (w *world) run(who, text string) vault.Progress {
	w.t.Helper()
	w.accept(w.message(who, text))
	return w.claim()
}

func (w *world) claim() vault.Progress {
	w.t.Helper()
	p, err := w.v.Claim(w.t.Context())
	w.check(err)
	return p
}

// step saves a model's step with one call.
func (w *world) step(run int64, call vault.Call, park bool) {
	w.t.Helper()
	if call.Args == "" {
		args, err := json.Marshal(map[string]string{"command": "echo hi"})
		w.check(err)
		call.Args = string(args)
	}
	_, err := w.v.SaveStep(w.t.Context(), run, vault.StepDone{Step: vault.Step{N: 1, Model: "home-model", TokensIn: 1200, TokensOut: 34, Started: w.now}, Calls: []vault.Call{call}, Park: park})
	w.check(err)
}

// question has Ana's run ask for a command; it expires in an hour.
func (w *world) question(kind string) int64 {
	w.t.Helper()
	p := w.run(ana, "make the mark")
	call := vault.Call{Tool: "run_command", Effect: "acts"}
	q := vault.Question{Text: "May I run it?", Choices: []string{vault.ChooseApprove, vault.ChooseDeny, vault.ChooseAlways}, Expires: w.now.Add(time.Hour)}
	if kind == "call" {
		call.Ask = &q
		w.step(p.Run.ID, call, true)
	} else {
		w.step(p.Run.ID, call, false)
		q.Choices = []string{vault.ChooseAgain, vault.ChooseWorked, vault.ChooseDrop}
		again, err := w.v.Progress(w.t.Context(), p.Run.ID)
		w.check(err)
		w.check(w.v.StartCall(w.t.Context(), again.Calls[0]))
		w.check(w.v.AskUnknown(w.t.Context(), again.Calls[0], q))
	}
	open, err := w.v.Approvals(w.t.Context(), true, 1)
	w.check(err)
	return open[0].ID
}

func (w *world) runState(number int64) vault.RunState {
	w.t.Helper()
	p, err := w.v.Progress(w.t.Context(), number)
	w.check(err)
	return p.Run.State
}

// vaultBytes is all that lies in the vault's folder.
func (w *world) vaultBytes() string {
	w.t.Helper()
	var all strings.Builder
	files, err := os.ReadDir(w.v.Dir())
	w.check(err)
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(w.v.Dir(), f.Name()))
		w.check(err)
		all.Write(b)
	}
	return all.String()
}
