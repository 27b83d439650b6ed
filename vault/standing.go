package vault

import (
	"context"
	"errors"
)

// Standing is what has become of a message so far.
type Standing struct {
	Known  bool // it is stored
	Run    int64
	State  RunState // of Run; "" for a command, which is answered in the commit that stores it
	Unsent int      // parts of the message's chat that are still to be delivered
}

// StandingOf tells what has become of the message that a chat knows by its ext. For who waits for an answer: a run's end
// and its reply are one commit, and the parts are counted after the run was looked at, so an ended run with nothing
// unsent has been answered.
func (v *Vault) StandingOf(ctx context.Context, at Address, ext string) (s Standing, err error) {
	s.Run, err = one(ctx, v.rdb, func(s scanner) (n int64, err error) { err = s.Scan(null[int64]{&n}); return n, err },
		`SELECT run_id FROM message WHERE gateway = ? AND account = ? AND chat = ? AND ext = ? AND role = 'user' ORDER BY id DESC LIMIT 1`, at.Gateway, at.Account, at.Chat, ext)
	if errors.Is(err, ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Known = true
	if s.Run != 0 {
		state, err := one(ctx, v.rdb, scanString, `SELECT state FROM run WHERE id = ?`, s.Run)
		if err != nil {
			return s, err
		}
		s.State = RunState(state)
	}
	unsent, err := one(ctx, v.rdb, scanInt, `SELECT count(*) FROM outbox WHERE gateway = ? AND chat = ? AND state IN ('waiting','sending')`, at.Gateway, at.Chat)
	s.Unsent = int(unsent)
	return s, err
}

// ScopeOfMemory is the scope in which a memory is reached, for who may reach all: the machine's owner at its command line.
// ErrNotFound.
func (v *Vault) ScopeOfMemory(ctx context.Context, number int64) (Scope, error) {
	m, err := one(ctx, v.rdb, scanMemory, `SELECT `+memoryColumns+` FROM memory WHERE id = ?`, number)
	return Scope{Person: m.Person, Conversation: m.Conversation, Group: m.Scope == "conversation"}, err
}
