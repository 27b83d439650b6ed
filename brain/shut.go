package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hearth/vault"
)

// A server that refuses the key, or wants to be paid first, does so for whoever asks: to ask on would be no use, and costs
// somebody's patience each time. So its model is shut, in the vault, and an owner is told once. It is open again when its
// settings change or somebody chooses it with /model; beside that it is tried now and then.
const (
	retryAsked   = 15 * time.Minute // when a person writes
	retryUnasked = 24 * time.Hour   // for what begins by itself
)

// shutNote is what is kept of a model that is shut.
type shutNote struct {
	Since time.Time `json:"since"`
	Tried time.Time `json:"tried"`
	Print string    `json:"print"` // of the settings that were refused
	Human string    `json:"human"`
	Told  []int64   `json:"told,omitempty"` // conversations that what began by itself has told
}

var errShut = errors.New("the model is shut")

func (n shutNote) fault() *ModelError {
	return &ModelError{Kind: Permanent, Human: n.Human, Shut: true, Err: errShut}
}

func (b *Brain) shutNote(ctx context.Context, backend Backend) (n shutNote, is bool, err error) {
	value, err := b.vault.Setting(ctx, vault.SettingShut(backend.Name))
	if err != nil || value == "" || json.Unmarshal([]byte(value), &n) != nil {
		return shutNote{}, false, err
	}
	return n, n.Print == backend.Print, nil
}

func (b *Brain) keepNote(ctx context.Context, name string, n shutNote) error {
	value, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write a note: %w", err)
	}
	return b.vault.Set(ctx, vault.SettingShut(name), string(value))
}

// open takes the models that are shut out of a chain. fault is that of the first one; nil = none is.
func (t *turn) open(ctx context.Context, p vault.Progress, chain []Backend) (out []Backend, fault *ModelError, err error) {
	pause := retryAsked
	if unasked(p) {
		pause = retryUnasked
	}
	now := t.b.now()
	for _, backend := range chain {
		n, is, err := t.b.shutNote(ctx, backend)
		if err != nil {
			return nil, nil, err
		}
		if since := now.Sub(n.Tried); is && since >= 0 && since < pause {
			if fault == nil {
				fault = n.fault()
			}
			continue
		}
		out = append(out, backend)
	}
	return out, fault, nil
}

// shuts notes that a model has refused whoever asks, and forgets that when it has answered.
func (t *turn) shuts(ctx context.Context, backend Backend, fault *ModelError) error {
	n, is, err := t.b.shutNote(ctx, backend)
	if err != nil || !is && fault == nil {
		return err
	}
	if fault == nil {
		return t.b.vault.Set(ctx, vault.SettingShut(backend.Name), "")
	}
	now := t.b.now()
	if !is {
		n = shutNote{Since: now, Print: backend.Print}
		t.shut = append(t.shut, backend.Name)
	}
	n.Tried = now
	n.Human = fault.Human + fmt.Sprintf(" I leave it alone until its settings change, somebody sends /model %s, or a quarter of an hour has passed.", backend.Name)
	fault.Human = n.Human
	return t.b.keepNote(ctx, backend.Name, n)
}

// tellShut tells the first owner of models that were shut just now, unless the end of this run tells an owner.
func (t *turn) tellShut(ctx context.Context, p vault.Progress, s *Settings, answered bool) error {
	names := t.shut
	t.shut = nil
	if !answered && p.Person.IsOwner() && p.Conversation.Kind == vault.Private {
		return nil
	}
	for _, name := range names {
		n, is, err := t.b.shutNote(ctx, s.Backends[name])
		if err == nil && is {
			err = t.b.vault.TellLater(ctx, fmt.Sprintf("shut:%s@%d", name, n.Since.UnixMilli()), n.Human)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// toldBefore reports whether a run that nobody asked for would only say again, in the same conversation, that a model is shut.
func (t *turn) toldBefore(ctx context.Context, p vault.Progress, s *Settings, fault *ModelError) (bool, error) {
	if !fault.Shut || !unasked(p) {
		return false, nil
	}
	inUse, err := s.modelInUse(ctx, t.b.vault)
	if err != nil {
		return false, err
	}
	n, is, err := t.b.shutNote(ctx, s.Backends[inUse])
	if err != nil || !is {
		return false, err
	}
	if slices.Contains(n.Told, p.Conversation.ID) {
		return true, nil
	}
	n.Told = append(n.Told, p.Conversation.ID)
	return false, t.b.keepNote(ctx, inUse, n)
}
