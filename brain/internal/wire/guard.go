package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Guard ends a request that is silent for too long, with an error of ours as the cause. It belongs to one goroutine.
type Guard struct {
	Ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	cause  error
}

// NewGuard begins to wait. Requests are made with its Ctx.
func NewGuard(ctx context.Context, limit time.Duration, cause error) *Guard {
	g := &Guard{}
	g.Ctx, g.cancel = context.WithCancelCause(ctx)
	g.arm(limit, cause)
	return g
}

func (g *Guard) arm(limit time.Duration, cause error) {
	g.cause = cause
	g.timer = time.AfterFunc(limit, func() { g.cancel(cause) })
}

// Extend begins to wait anew.
func (g *Guard) Extend(limit time.Duration, cause error) {
	if g.cause == cause { //nolint:errorlint // it is the same variable or it is not
		g.timer.Reset(limit)
		return
	}
	g.timer.Stop()
	g.arm(limit, cause)
}

// End lets go of everything.
func (g *Guard) End() {
	g.timer.Stop()
	g.cancel(nil)
}

// Our own limits on silence. They are faults of nobody.
var (
	ErrFirstToken = errors.New("our limit for the first word of an answer has passed")
	ErrIdle       = errors.New("our limit for a silence within an answer has passed")
	ErrDrained    = errors.New("the connection did not end with the answer")
)

// DrainTime is how long the end of a connection is waited for after the end of an answer.
const DrainTime = time.Second

// Drain reads what is left behind the last line, so that the connection can be used again. If it does not end, nothing is
// lost but the connection.
func Drain(body io.Reader) {
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}

// Pace knows how long a silence in the middle of an answer may be.
type Pace struct {
	Idle     time.Duration
	Longest  time.Duration
	Withheld bool // the server sends nothing while the model writes a tool call, which may be most of the answer
	Predict  int  // tokens at most

	began  time.Time
	chunks int
}

// Limit is called with every chunk that came. Where calls are withheld, the silence may last as long as the whole answer
// would at the speed seen so far: on a slow machine minutes, in which nothing is wrong.
func (p *Pace) Limit() time.Duration {
	now := time.Now() // monotonic: a wait, nothing that anybody sees
	if p.chunks++; p.chunks == 1 {
		p.began = now
	}
	if !p.Withheld || p.chunks < 2 {
		return p.Idle
	}
	whole := now.Sub(p.began) / time.Duration(p.chunks-1) * time.Duration(p.Predict)
	return min(max(p.Idle, whole), p.Longest)
}

// InWords writes a limit as it would stand in a sentence.
func InWords(d time.Duration) string {
	count := func(n int64, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return count(int64(d/time.Minute), "minute")
	case d >= time.Second:
		return count(int64(d.Round(time.Second)/time.Second), "second")
	default:
		return d.String()
	}
}
