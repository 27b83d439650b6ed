package whatsapp

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
)

// redelivery asks for a new connection, on which everything comes again that was not acknowledged.
type redelivery struct{ err error }

// stuck remembers that a message of this connection could not be taken. What comes behind it must not be taken either, or
// it would be answered before it.
type stuck struct {
	mu  sync.Mutex
	set bool
}

func (s *stuck) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set = false
}

// hit notes it, and reports whether it is the first time.
func (s *stuck) hit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.set
	s.set = true
	return first
}

func (s *stuck) is() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

// first remembers, for each chat, the message that was given back. Until it has come again nothing else of its chat is taken:
// the library may still be at one that a connection of before has brought, and would get it in ahead.
type first struct {
	mu   sync.Mutex
	back map[string]givenBack // by chat
}

type givenBack struct {
	id    string
	until time.Time // a message that the server does not bring again must not mute its chat for ever
}

// comeAgain is how long a message may take to come again.
const comeAgain = 2 * time.Minute

func (f *first) wait(chat, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.back == nil {
		f.back = map[string]givenBack{}
	}
	if b, known := f.back[chat]; known && time.Now().Before(b.until) {
		return // an earlier one is still to come
	}
	f.back[chat] = givenBack{id, time.Now().Add(comeAgain)}
}

// early reports whether another message of the chat has to come before.
func (f *first) early(chat, id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, known := f.back[chat]
	return known && b.id != id && time.Now().Before(b.until)
}

func (f *first) taken(chat, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, known := f.back[chat]; known && b.id == id {
		delete(f.back, chat)
	}
}

// poison counts the messages that broke the handler. One that does so again and again is put aside, or it would come for
// ever.
type poison struct {
	mu   sync.Mutex
	seen map[string]int
}

const poisonous = 3

func (p *poison) again(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[id]++
	return p.seen[id] >= poisonous
}

// handle takes every event of the library, one message at a time. What it returns decides whether a message is acknowledged.
// A panic must not count as handled, as it would to the library.
func (l *life) handle(evt any) (handled bool) {
	m, isMessage := evt.(*events.Message)
	defer func() {
		if broken := recover(); broken != nil {
			handled = l.broken(m, broken)
		}
	}()
	switch evt.(type) {
	case *events.Message:
	case *events.Connected, *events.Disconnected, *events.LoggedOut, *events.StreamReplaced, *events.ClientOutdated, *events.TemporaryBan,
		*events.ConnectFailure, *events.StreamError, *events.KeepAliveTimeout, *events.ManualLoginReconnect, *events.QR, *events.PairSuccess,
		*events.PairError, *events.PairPasskeyRequest, *events.PairPasskeyConfirmation, *events.PairPasskeyError, *events.QRScannedWithoutMultidevice:
		l.signal(evt)
	}
	if !isMessage {
		return true
	}
	l.busy.RLock()
	defer l.busy.RUnlock()
	chat, id := m.Info.Chat.String(), m.Info.ID
	if l.ctx.Err() != nil || l.stuck.is() || l.ahead.early(chat, id) {
		return false
	}
	handled = l.offer(m)
	if handled {
		l.ahead.taken(chat, id)
	}
	return handled
}

// offer hands a message to the vault until it is taken. The library handles one message at a time, so the order is kept while
// it is tried again. After a while the line is begun anew, because the library itself would go on after five minutes.
func (l *life) offer(m *events.Message) bool {
	deadline := time.Now().Add(l.g.limits.patience)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := l.take(m)
		if err == nil {
			return true
		}
		if l.ctx.Err() != nil {
			return false
		}
		if time.Now().After(deadline) {
			l.giveBack(m, err)
			return false
		}
		l.g.opt.Log.Warn("cannot take a message; it is offered again", "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-l.ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// giveBack has everything that is not acknowledged come again.
func (l *life) giveBack(m *events.Message, err error) {
	l.ahead.wait(m.Info.Chat.String(), m.Info.ID)
	if l.stuck.hit() {
		l.signal(&redelivery{err})
	}
}

// broken deals with a panic. handled is true only for a message that was put aside after it did so several times.
func (l *life) broken(m *events.Message, why any) (handled bool) {
	l.g.opt.Log.Error("handling an event broke", "panic", fmt.Sprint(why), "stack", string(debug.Stack()))
	if m == nil {
		return true
	}
	if l.ctx.Err() == nil && l.poison.again(m.Info.Chat.String()+" "+m.Info.ID) {
		raw, err := proto.Marshal(m.RawMessage)
		if err == nil {
			err = l.g.opt.Vault.Quarantine(l.ctx, Name, l.g.Account(), "handling it broke", raw)
		}
		if err == nil {
			l.ahead.taken(m.Info.Chat.String(), m.Info.ID)
			return true
		}
		l.g.opt.Log.Error("cannot put a message aside", "error", err)
	}
	l.giveBack(m, errors.New("handling a message broke"))
	return false
}
