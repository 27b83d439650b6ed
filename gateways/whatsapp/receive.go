package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"

	"hearth/gateways/whatsapp/turns"
	"hearth/vault"
)

// Pauses after what does not get better by trying at once.
const (
	longestPause   = time.Minute
	outdatedPause  = time.Hour
	banPause       = time.Hour // of a ban that does not say for how long
	refusedPause   = 5 * time.Minute
	replacedPause  = 15 * time.Minute
	longestRefused = 6 * time.Hour
	versionLimit   = 15 * time.Second
	closing        = 500 * time.Millisecond // a line that went dead would take seconds for its goodbye
)

// life is one life of Receive.
type life struct {
	g       *Gateway
	ctx     context.Context
	accept  func(context.Context, vault.Inbound) error
	session *session
	client  *whatsmeow.Client // nil before there is one, and after its device was removed
	turns   *turns.Turns
	signals chan any // what the library told about the connection
	release func()   // ends what the last connection stands on

	gone     bool // the connection was closed by the other side
	left     bool // it was still being made when Receive ended, and ends by itself
	failures int  // in a row
	refusals int  // of these, those that only time mends
	words    string
	away     time.Time // since when there is no line
	poison   poison
	stuck    stuck
	ahead    first
	beside   sync.WaitGroup
	busy     sync.RWMutex // held for reading while a message is handled
}

// Receive implements gateways.Gateway: it keeps the line as long as something is linked, and else waits for that.
func (g *Gateway) Receive(ctx context.Context, accept func(context.Context, vault.Inbound) error) error {
	ctx, cancel := context.WithCancel(ctx)
	l := &life{g: g, ctx: ctx, accept: accept, signals: make(chan any, 64), poison: poison{seen: map[string]int{}}}
	defer func() {
		cancel()
		l.gone = false // nobody waits for a new line any more
		l.hangUp()
		l.busy.Lock() // nothing is offered after the end
		l.beside.Wait()
		g.set(starting, nil)
		if l.session != nil {
			if err := l.session.close(); err != nil {
				g.opt.Log.Warn("cannot close the WhatsApp session", "error", err)
			}
		}
	}()
	var err error
	if l.session, err = openSession(ctx, g.opt.Path, g.opt.Log); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		g.set(unstored, nil)
		return err
	}
	for ctx.Err() == nil {
		pause, err := l.once()
		if err != nil && ctx.Err() == nil {
			return err
		}
		l.rest(pause)
	}
	return nil
}

// rest waits, and links when somebody asks for it meanwhile.
func (l *life) rest(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-l.ctx.Done():
	case <-timer.C:
	case r := <-l.g.links:
		l.link(r)
	}
}

// once makes one connection and keeps it until it ends, or waits for an account. It gives how long to wait then.
func (l *life) once() (time.Duration, error) {
	g := l.g
	if err := l.prepare(); err != nil {
		return 0, err
	}
	account := accountOf(l.client.Store)
	g.setAccount(account)
	if account == "" {
		g.set(unlinked, nil)
		select {
		case <-l.ctx.Done():
		case r := <-g.links:
			l.link(r)
		}
		return 0, nil
	}
	if l.turns == nil { // the device is saved: now it stays as it is
		l.turns = turns.Take(l.client)
	}
	l.gone = false
	l.stuck.clear()
	l.drain()
	if err := l.connect(); err != nil {
		return l.failed(outOfReach, err), nil
	}
	defer l.hangUp()
	return l.keep(), nil
}

// connect makes a connection, as long as Receive goes on. The connection itself outlives that by its goodbye: the library
// cannot bear to be cancelled and hung up at once.
func (l *life) connect() error {
	if l.release != nil {
		l.release()
	}
	ctx, release := context.WithCancel(context.WithoutCancel(l.ctx))
	l.release = release
	done := make(chan error, 1)
	go func(c *whatsmeow.Client) { done <- c.ConnectContext(ctx) }(l.client)
	select {
	case err := <-done:
		if errors.Is(err, whatsmeow.ErrAlreadyConnected) {
			return nil
		}
		return err
	case <-l.ctx.Done():
		release()
		l.left = true
		return errors.Join(l.ctx.Err(), <-done)
	}
}

// prepare makes the client if there is none.
func (l *life) prepare() (err error) {
	if l.client != nil {
		return nil
	}
	if l.client, err = l.session.client(l.ctx, l.g); err != nil {
		return err
	}
	l.client.AddEventHandlerWithSuccessStatus(l.handle)
	l.turns = nil
	if l.client.Store.PushName == "" {
		l.client.Store.PushName = "Hearth" // without a name nobody is shown that it is there
	}
	return nil
}

// keep waits for the end of a connection and gives how long to wait before the next one.
func (l *life) keep() time.Duration {
	g := l.g
	login := time.NewTimer(g.limits.login)
	defer login.Stop()
	var since time.Time
	for {
		select {
		case <-l.ctx.Done():
			return 0
		case <-login.C:
			if since.IsZero() { // a login that nobody answers
				return l.failed(outOfReach, errors.New("the login was not answered"))
			}
		case r := <-g.links:
			r.end(fmt.Errorf("%w: %s", ErrLinked, g.Account()))
		case signal := <-l.signals:
			if _, ok := signal.(*events.Connected); ok {
				since = time.Now()
				l.connected()
				continue
			}
			if !since.IsZero() && time.Since(since) > g.limits.steady {
				l.failures, l.refusals = 0, 0
			}
			if pause, over := l.ended(signal); over {
				return pause
			}
		}
	}
}

// connected lets the others know.
func (l *life) connected() {
	g := l.g
	account := accountOf(l.client.Store)
	l.words, l.away = "", time.Time{}
	g.opt.Log.Info("connected", "account", account, "mode", g.opt.Mode)
	g.set(connected(account, g.opt.Mode), &line{client: l.client, turns: l.turns})
	l.aside(func() { g.appear(l.ctx, l.client) })
	g.opt.Nudge()
}

// ended judges what the library told; over is false when the connection goes on.
func (l *life) ended(signal any) (pause time.Duration, over bool) {
	g := l.g
	now := g.opt.Now()
	switch e := signal.(type) {
	case *events.Disconnected:
		if l.client.IsConnected() { // told late, of an earlier connection
			return 0, false
		}
		l.gone = true
		return l.failed(outOfReach, errors.New("the connection was closed")), true
	case *events.ManualLoginReconnect:
		return 0, true
	case *events.KeepAliveTimeout:
		if e.ErrorCount < 2 { // one may be lost on any line
			return 0, false
		}
		return l.failed(silent, errors.New("pings are not answered")), true
	case *redelivery:
		return l.failed(unstored, e.err), true
	case *events.LoggedOut:
		s := loggedOut(g.Account(), e.Reason)
		l.failed(s, fmt.Errorf("logged out: %s", e.Reason))
		g.tell(l.ctx, "logged-out", s)
		l.client.Disconnect()
		l.client = nil
		if err := l.session.forget(l.ctx); err != nil && l.ctx.Err() == nil {
			g.opt.Log.Warn("cannot delete the WhatsApp session that was logged out", "error", err)
		}
		return 0, true
	case *events.StreamReplaced:
		l.failed(replaced, errors.New("the session was replaced"))
		g.tell(l.ctx, "replaced", replaced)
		return l.slowly(replacedPause), true
	case *events.ClientOutdated:
		return l.outdated(), true
	case *events.TemporaryBan:
		wait := e.Expire
		if wait <= 0 {
			wait = banPause
		}
		s := banned(e, now.Add(wait))
		l.failed(s, errors.New("banned for a while"))
		g.tell(l.ctx, "banned", s)
		return wait, true
	case *events.ConnectFailure:
		wait := l.slowly(refusedPause)
		s := refusedLogin(int(e.Reason), now.Add(wait))
		l.failed(s, fmt.Errorf("refused: %s", e.Reason))
		g.tell(l.ctx, "refused", s)
		return wait, true
	case *events.StreamError:
		return l.failed(outOfReach, fmt.Errorf("stream error %s", clip(e.Code, 20))), true
	}
	return 0, false
}

// failed notes a failure, logs it once, and gives how long to wait: not at all after the first, then longer each time.
func (l *life) failed(s status, err error) time.Duration {
	if l.ctx.Err() != nil {
		return 0
	}
	l.failures++
	l.g.set(s, nil)
	if l.away.IsZero() {
		l.away = time.Now()
	}
	if time.Since(l.away) > l.g.limits.outage && s == outOfReach {
		l.g.tell(l.ctx, "out-of-reach", outOfReach)
	}
	if s.words != l.words {
		l.words = s.words
		l.g.opt.Log.Warn("the line to WhatsApp is not there", "state", s.words, "error", err)
	}
	if l.failures == 1 {
		return 0
	}
	pause := min(longestPause, l.g.limits.firstPause<<min(l.failures-2, 10))
	return pause*3/4 + rand.N(pause/2+1)
}

// slowly doubles a pause with every failure of its kind.
func (l *life) slowly(first time.Duration) time.Duration {
	l.refusals++
	return min(longestRefused, first<<min(l.refusals-1, 10))
}

// outdated takes over the version that WhatsApp's own web client has now, if it is newer. When that does not help, the
// library is too old, and only an update does.
func (l *life) outdated() time.Duration {
	g := l.g
	ctx, cancel := context.WithTimeout(l.ctx, versionLimit)
	defer cancel()
	version, err := g.latest(ctx)
	if err == nil && store.GetWAVersion().LessThan(*version) {
		store.SetWAVersion(*version)
		g.opt.Log.Info("taking over the version of WhatsApp's web client", "version", version.String())
		return l.failed(outOfReach, errors.New("the version was outdated"))
	}
	l.failed(outdated, errors.Join(errors.New("the version is outdated"), err))
	g.tell(l.ctx, "outdated", outdated)
	return outdatedPause
}

// latestVersion asks for the version of WhatsApp's web client.
func latestVersion(ctx context.Context) (*store.WAVersionContainer, error) {
	return whatsmeow.GetLatestVersion(ctx, &http.Client{Timeout: versionLimit})
}

// hangUp ends the connection if there is one. The state of things stays.
func (l *life) hangUp() {
	_, s, _ := l.g.now()
	l.g.set(s, nil)
	if l.release != nil {
		defer l.release()
	}
	if l.client == nil || l.left || l.gone { // the library waits for a new line then, to send once more what was not confirmed
		return
	}
	closed := make(chan struct{})
	go func(c *whatsmeow.Client) {
		defer close(closed)
		c.Disconnect()
	}(l.client)
	timer := time.NewTimer(closing)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
}

// drain forgets what was told of an earlier connection.
func (l *life) drain() {
	for {
		select {
		case <-l.signals:
		default:
			return
		}
	}
}

// signal hands on what the library told. It never waits.
func (l *life) signal(evt any) {
	select {
	case l.signals <- evt:
	default:
	}
}

// aside does what must hold up nothing.
func (l *life) aside(do func()) { l.beside.Go(do) }
