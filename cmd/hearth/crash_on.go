//go:build crashpoints

package main

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"hearth/gateways"
	"hearth/gateways/terminal"
	"hearth/gateways/whatsapp"
	"hearth/vault"
)

// crasher ends the program at a named point, as a power cut does.
type crasher struct {
	point string
	n     int64
	seen  *atomic.Int64
}

func newCrasher(env []string, log *slog.Logger) (crasher, error) {
	c := crasher{n: 1, seen: &atomic.Int64{}}
	for _, entry := range env {
		value, ok := strings.CutPrefix(entry, crashVariable+"=")
		if !ok || value == "" {
			continue
		}
		c.point = value
		if at := strings.LastIndexByte(value, ':'); at > 0 {
			if n, err := strconv.ParseInt(value[at+1:], 10, 64); err == nil {
				c.point, c.n = value[:at], n
			}
		}
		log.Warn("THIS PROGRAM WILL KILL ITSELF", "point", c.point, "time", c.n)
	}
	return c, nil
}

func (c crasher) pass(point string) {
	if point != c.point && (c.point != "any" || point == "") || c.seen.Add(1) != c.n {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {} // nothing runs on while the signal is on its way
}

func (c crasher) hooks() vault.Hooks {
	at := func(when string) func(string) error {
		return func(event string) error {
			c.pass(when + event)
			return nil
		}
	}
	return vault.Hooks{Before: at("before:"), After: at("after:")}
}

func (c crasher) brain() func(string) { return c.pass }

// crashing keeps what else the terminal can do.
type crashing struct {
	*terminal.Terminal
	c crasher
}

func (c crasher) gateway(t *terminal.Terminal) gateways.Gateway { return crashing{t, c} }

func (t crashing) Send(ctx context.Context, p vault.Part) (string, error) {
	t.c.pass("send")
	ref, err := t.Terminal.Send(ctx, p)
	t.c.pass("sent")
	return ref, err
}

// crashingPhone is the same for Telegram: a request about to be made, and one that Telegram has taken.
type crashingPhone struct {
	*bot
	c crasher
}

func (c crasher) phone(g *bot) gateways.Gateway { return crashingPhone{g, c} }

func (t crashingPhone) Send(ctx context.Context, p vault.Part) (string, error) {
	t.c.pass("send")
	ref, err := t.bot.Send(ctx, p)
	t.c.pass("sent")
	return ref, err
}

// crashingMessenger is WhatsApp, with a point before and behind each send, and one behind each accepted message, before it is
// acknowledged.
type crashingMessenger struct {
	*whatsapp.Gateway
	c crasher
}

func (c crasher) messenger(g *whatsapp.Gateway) gateways.Gateway { return crashingMessenger{g, c} }

func (m crashingMessenger) Send(ctx context.Context, p vault.Part) (string, error) {
	m.c.pass("whatsapp-send")
	ref, err := m.Gateway.Send(ctx, p)
	m.c.pass("whatsapp-sent")
	return ref, err
}

func (m crashingMessenger) Receive(ctx context.Context, accept func(context.Context, vault.Inbound) error) error {
	return m.Gateway.Receive(ctx, func(ctx context.Context, in vault.Inbound) error {
		m.c.pass("whatsapp-came")
		err := accept(ctx, in)
		m.c.pass("whatsapp-taken")
		return err
	})
}
