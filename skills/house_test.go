package skills

import (
	"context"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"hearth/vault"
)

// house is a vault with two people and a group, and all built-in tools on it.
type house struct {
	t         *testing.T
	v         *vault.Vault
	now       time.Time
	workspace string
	tools     map[string]Tool
	ana, ben  vault.Person // owner, member
	messages  int
	meaning   func(query string) vault.Vector // nil = searched is by words
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, workspace: t.TempDir() + "/workspace", tools: map[string]Tool{}}
	h.setNow("2026-03-10 10:00", "Europe/Lisbon")
	ctx := context.Background()
	var err error
	if h.v, err = vault.Open(ctx, t.TempDir(), vault.Options{Now: func() time.Time { return h.now }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.v.Close(); err != nil {
			t.Error(err)
		}
	})
	people := []vault.Person{
		{Name: "Ana", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}},
		{Name: "Ben", Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: "2"}}},
	}
	if err := h.v.SyncPeople(ctx, people); err != nil {
		t.Fatal(err)
	}
	if h.ana, err = h.v.PersonNamed(ctx, "Ana"); err != nil {
		t.Fatal(err)
	}
	if h.ben, err = h.v.PersonNamed(ctx, "Ben"); err != nil {
		t.Fatal(err)
	}
	tools, err := Builtin(Deps{Vault: h.v, Workspace: h.workspace, Meaning: func(_ context.Context, query string) vault.Vector {
		if h.meaning == nil {
			return vault.Vector{}
		}
		return h.meaning(query)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		h.tools[tool.Name] = tool
	}
	return h
}

func at(t *testing.T, wall, zone string) time.Time {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	moment, err := time.ParseInLocation("2006-01-02 15:04", wall, z)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// setNow moves the clock of the house.
func (h *house) setNow(wall, zone string) { h.now = at(h.t, wall, zone) }

// call is one from a person's private chat.
func (h *house) call(who vault.Person) Call {
	return h.callIn(who, vault.Private, who.Name)
}

// callIn is one from any chat.
func (h *house) callIn(who vault.Person, kind vault.ChatKind, chat string) Call {
	h.t.Helper()
	h.messages++
	in := vault.Inbound{
		Gateway: "telegram", Account: "bot", Chat: chat, ChatKind: kind, Sender: who.Name, Kind: "text",
		ID: strings.Repeat("m", h.messages), Text: "hello", Sent: h.now,
	}
	c := Call{Key: "call:" + in.ID, Person: who, Now: h.now, Said: h.now, Zone: h.now.Location(), To: in.Address()}
	err := h.v.Command(context.Background(), in, who, func(_ *vault.Tx, conversation vault.Conversation) ([]vault.Part, error) {
		c.Conversation = conversation
		return nil, nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// try runs a tool as the brain does: arguments checked first.
func (h *house) try(c Call, tool, args string) (Result, error) {
	h.t.Helper()
	canonical, err := Canonical(h.tools[tool], []byte(args))
	if err != nil {
		return Result{}, err
	}
	return h.tools[tool].Run(context.Background(), c, canonical)
}

// do is try for a call that must work.
func (h *house) do(c Call, tool, args string) Result {
	h.t.Helper()
	res, err := h.try(c, tool, args)
	if err != nil {
		h.t.Fatalf("%s %s: %v", tool, args, err)
	}
	return res
}

// refuse is try for a call that must fail; it gives what the model is told.
func (h *house) refuse(c Call, tool, args string) string {
	h.t.Helper()
	res, err := h.try(c, tool, args)
	if err == nil {
		h.t.Fatalf("%s %s gave %+v, it should be refused", tool, args, res)
	}
	return err.Error()
}

// open gives the open jobs of everybody.
func (h *house) open() []vault.Job {
	h.t.Helper()
	jobs, err := h.v.Jobs(context.Background(), 0, true, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	return jobs
}

// contains checks that each of the words is in a text.
func contains(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not contain %q", text, w)
		}
	}
}
