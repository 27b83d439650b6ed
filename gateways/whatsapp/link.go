package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
)

// How long a QR code is valid. The first one may be scanned for a minute, each of the others for 20 s.
const (
	firstCode = time.Minute
	otherCode = 20 * time.Second
)

// browser is how a linked device is called where it is linked by a code: the server takes only names of this form.
const browser = "Chrome (Linux)"

// What can end a linking. The sentences are for people.
var (
	ErrLinked  = errors.New("an account is linked already; to link another one, remove this device on the phone first (Settings, Linked devices)")
	ErrExpired = errors.New("nobody has used the code in time; ask for another one")
	ErrPasskey = errors.New("this account is protected by a passkey, which only a browser can answer; turn that off on the phone (Settings, Account, Passkeys) and link again")
	ErrLinking = errors.New("linking did not work")
)

// Code is something that a person has to do on their phone.
type Code struct {
	QR   string        // the content of a QR code; "" when there is a code to type
	Text string        // what to type on the phone
	For  time.Duration // how long it is valid
}

// linking is somebody who wants to link an account.
type linking struct {
	ctx   context.Context
	phone string
	show  func(Code)
	done  chan error // holds one
}

func (r *linking) end(err error) {
	select {
	case r.done <- err:
	default:
	}
}

// Link links an account. It shows one code after the other until one is used, and returns when the line is there: the linked
// number as + and digits. With a phone number the code is one to be typed there. Receive must be running.
// Errors: ErrLinked, ErrExpired, ErrPasskey, ErrLinking.
func (g *Gateway) Link(ctx context.Context, phone string, show func(Code)) (account string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &linking{ctx: ctx, phone: phone, show: show, done: make(chan error, 1)}
	select {
	case g.links <- r:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case err := <-r.done:
		return g.Account(), err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// link serves somebody who wants to link an account.
func (l *life) link(r *linking) {
	if err := l.prepare(); err != nil {
		l.g.opt.Log.Error("cannot read the WhatsApp session", "error", err)
		r.end(fmt.Errorf("%w: the session file cannot be read", ErrLinking))
		return
	}
	if l.client.Store.ID != nil {
		r.end(fmt.Errorf("%w: %s", ErrLinked, l.g.Account()))
		return
	}
	l.g.set(linkingNow, nil)
	store.DeviceProps.Os = proto.String("Hearth") // how the phone lists it
	l.drain()
	l.gone = false
	if err := l.connect(); err != nil {
		r.end(fmt.Errorf("%w: WhatsApp is out of reach", ErrLinking))
		l.g.opt.Log.Warn("cannot connect to link an account", "error", err)
		return
	}
	err := l.await(r)
	if err != nil {
		l.client.Disconnect()
		if l.client.Store.ID == nil {
			l.client = nil // its keys were shown
		}
		r.end(err)
		return
	}
	l.g.setAccount(accountOf(l.client.Store))
	go func() { r.end(l.g.await(r.ctx)) }()
}

// await shows codes until one was used.
func (l *life) await(r *linking) error {
	next := time.NewTimer(l.g.limits.login)
	defer next.Stop()
	var codes []string
	var paired, over bool // they may be told in either order: the library pairs beside its queue
	for {
		select {
		case <-l.ctx.Done():
			return l.ctx.Err()
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-next.C:
			if len(codes) == 0 || r.phone != "" {
				return ErrExpired
			}
			r.show(Code{QR: codes[0], For: otherCode})
			codes = codes[1:]
			next.Reset(otherCode)
		case signal := <-l.signals:
			switch e := signal.(type) {
			case *events.QR:
				if paired {
					continue
				}
				codes = e.Codes
				wait, err := l.first(r, codes)
				if err != nil {
					return err
				}
				codes = codes[1:]
				next.Reset(wait)
			case *events.PairSuccess:
				paired = true
				next.Reset(l.g.limits.login)
			case *events.ManualLoginReconnect:
				over = true
			case *events.PairPasskeyRequest, *events.PairPasskeyConfirmation, *events.PairPasskeyError:
				return ErrPasskey
			case *events.PairError:
				return fmt.Errorf("%w: %w", ErrLinking, e.Error)
			case *events.QRScannedWithoutMultidevice:
				return fmt.Errorf("%w: the WhatsApp on that phone is too old for linked devices; update it", ErrLinking)
			case *events.ClientOutdated:
				l.outdated()
				return fmt.Errorf("%w: WhatsApp does not take this version; try once more, and if that does not help, update Hearth", ErrLinking)
			case *events.TemporaryBan, *events.ConnectFailure:
				return fmt.Errorf("%w: WhatsApp refuses it; try again in some hours", ErrLinking)
			case *events.Disconnected:
				if paired {
					return nil // the server ends the connection when it has what it wants
				}
				return ErrExpired
			}
			if paired && over {
				l.client.Disconnect()
				return nil
			}
		}
	}
}

// first shows the first code, and gives how long it is valid.
func (l *life) first(r *linking, codes []string) (time.Duration, error) {
	if len(codes) == 0 {
		return 0, fmt.Errorf("%w: WhatsApp gave no code", ErrLinking)
	}
	if r.phone == "" {
		r.show(Code{QR: codes[0], For: firstCode})
		return firstCode, nil
	}
	text, err := l.client.PairPhone(r.ctx, r.phone, true, whatsmeow.PairClientChrome, browser)
	if err != nil {
		return 0, fmt.Errorf("%w: WhatsApp gave no code for %s: %w", ErrLinking, r.phone, err)
	}
	valid := firstCode + 5*otherCode // then the server ends the connection
	r.show(Code{Text: text, For: valid})
	return valid, nil
}

// await waits until the line is there.
func (g *Gateway) await(ctx context.Context) error {
	timer := time.NewTimer(2 * g.limits.login)
	defer timer.Stop()
	for {
		l, s, changed := g.now()
		if l != nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("%w: the account is linked, but %s", ErrLinking, s.words)
		}
	}
}
