package main

import (
	"context"
	"time"

	"hearth/gateways/terminal"
	"hearth/vault"
)

// talk is one open chat on the side of the agent: what is to be printed, and when a message has been answered, in one
// order.
type talk struct {
	agent   *agent
	person  vault.Person
	client  *terminal.Client
	settled chan settlement
}

// event is something that happens in a chat. One field is set.
type event struct {
	Hello   *hello      `json:"hello,omitempty"`
	Part    *chatPart   `json:"part,omitempty"`
	Settled *settlement `json:"settled,omitempty"`
}

// hello begins a chat.
type hello struct {
	Talk   string `json:"talk"` // names the chat in what the client sends
	Person string `json:"person"`
}

// chatPart is something to print, and to acknowledge when that is done.
type chatPart struct {
	ID    int64  `json:"id"`
	Class string `json:"class"`
	Text  string `json:"text"`
}

// settlement says that a message needs no more waiting for.
type settlement struct {
	ID    string         `json:"id"`    // of the message
	State vault.RunState `json:"state"` // of the run that answers it; "" for a command
	Run   number         `json:"run"`
	Held  bool           `json:"held"` // work is paused, the message waits
}

// talk opens a chat for a person; "" is the owner of the machine.
func (a *agent) talk(ctx context.Context, name string) (*talk, error) {
	p, err := a.service.personNamed(ctx, name, a.service.owner)
	if err != nil {
		return nil, err
	}
	return &talk{agent: a, person: p, client: a.terminal.Attach(p.ID), settled: make(chan settlement)}, nil
}

// say brings in what was typed. Nil means that it is safe. After an error it can be said again under the same id.
func (t *talk) say(ctx context.Context, words, id string) error {
	return t.agent.terminal.Say(ctx, t.person, words, id)
}

// await has the settlement of a message reported, as an event of the chat, until ctx ends.
func (t *talk) await(ctx context.Context, id string) {
	s, err := t.agent.settlement(ctx, vault.TerminalAddress(t.person.ID), id)
	if err != nil {
		if ctx.Err() == nil {
			t.agent.log.Error("cannot see whether a message was answered", "error", err)
		}
		return
	}
	select {
	case t.settled <- s:
	case <-ctx.Done():
	}
}

// run reports what happens, in order, until ctx ends or the client is closed. What is to be printed comes before the word
// that it was all.
func (t *talk) run(ctx context.Context, emit func(event) error) error {
	part := func(p vault.Part) error {
		return emit(event{Part: &chatPart{ID: p.ID, Class: string(p.Class), Text: p.Text}})
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case p, open := <-t.client.Parts():
			if !open {
				return failed("This chat did not read for too long and was closed; what waits comes with the next one.")
			}
			if err := part(p); err != nil {
				return err
			}
		case s := <-t.settled:
			for more := true; more; {
				select {
				case p, open := <-t.client.Parts():
					if more = open; open {
						if err := part(p); err != nil {
							return err
						}
					}
				default:
					more = false
				}
			}
			if err := emit(event{Settled: &s}); err != nil {
				return err
			}
		}
	}
}

// settlement waits until a message was answered, as far as it will be for now.
func (a *agent) settlement(ctx context.Context, at vault.Address, id string) (settlement, error) {
	woken, cancel := a.vault.Subscribe()
	defer cancel()
	tick := time.NewTicker(time.Minute) // a wake-up is only a hint
	defer tick.Stop()
	for {
		s, err := a.vault.StandingOf(ctx, at, id)
		if err != nil {
			return settlement{}, err
		}
		if s.Known && s.Unsent == 0 {
			held, err := a.vault.Paused(ctx)
			if err != nil {
				return settlement{}, err
			}
			held = held && s.State == vault.Queued
			if s.Run == 0 || answered(s.State) || held {
				return settlement{ID: id, State: s.State, Run: number(s.Run), Held: held}, nil
			}
		}
		select {
		case <-ctx.Done():
			return settlement{}, ctx.Err()
		case <-woken:
		case <-tick.C:
		}
	}
}

// answered reports whether a run needs nothing more from the model for now.
func answered(state vault.RunState) bool {
	return state == vault.Done || state == vault.Failed || state == vault.Stopped || state == vault.Waiting
}
