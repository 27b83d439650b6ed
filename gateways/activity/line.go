package activity

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// When work is told in a message of its own, and how often that is changed: a messenger that is edited oftener asks for
// silence, and the answer would wait too.
const (
	lineAfter  = 8 * time.Second
	lineEvery  = 3 * time.Second
	lineLook   = 5 * time.Second // so often the time a run takes is looked at
	lineLimit  = 10 * time.Second
	lineFailed = 5 * time.Second // after the first failure; doubled up to a minute
)

// liner keeps the progress lines of one gateway. Its fields belong to the goroutine of run, except the channel.
//
// A line is shown to who wrote in a private chat and waits: in a group it would be noise to the others, who see the typing;
// and what a job does by itself nobody waits for. It stays and says how it ended, since what is deleted leaves a gap, or a
// mark of its own, in most messengers; the answer is always another message, for which the phone rings.
type liner struct {
	vault  *vault.Vault
	editor gateways.Editor
	name   string
	log    *slog.Logger
	mask   func(string) string
	part   func(string) string

	began    map[int64]time.Time // of the runs at work: when that was first seen; monotonic
	hopeless map[int64]bool      // runs at work that get no line
	next     map[int64]time.Time // of the lines: when one may be changed; monotonic
	rest     map[string]time.Time
	busy     map[int64]bool
	failures map[int64]int
	previews map[int64]string // of the lines: what is shown below their words
	ended    chan changed
	all      sync.WaitGroup
}

// changed is what came of a change.
type changed struct {
	line    vault.Line
	preview string
	err     error
}

func newLiner(opt Options, name string, editor gateways.Editor) *liner {
	return &liner{
		vault: opt.Vault, editor: editor, name: name, log: opt.Log.With("gateway", name), mask: opt.Mask, part: opt.MaskPart,
		began: map[int64]time.Time{}, hopeless: map[int64]bool{}, next: map[int64]time.Time{}, rest: map[string]time.Time{},
		busy: map[int64]bool{}, failures: map[int64]int{}, previews: map[int64]string{}, ended: make(chan changed),
	}
}

func (l *liner) run(ctx context.Context) {
	defer l.all.Wait()
	woken, cancel := l.vault.SubscribeLater(vault.RunsChanged, vault.ClaimsChanged, vault.CallsChanged, vault.OutboxChanged, vault.SendsChanged, vault.PreviewsChanged)
	defer cancel()
	for ctx.Err() == nil {
		sleep, err := l.pass(ctx)
		if err != nil {
			if ctx.Err() == nil {
				l.log.Debug("cannot show progress", "error", err)
			}
			sleep = lineLook
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-woken:
		case <-timer.C:
		case c := <-l.ended:
			l.close(c)
		}
		timer.Stop()
	}
}

// pass begins and changes what is due, and tells how long nothing else will be.
func (l *liner) pass(ctx context.Context) (time.Duration, error) {
	runs, err := l.vault.AtWork(ctx, l.name)
	if err != nil {
		return 0, err
	}
	lines, err := l.vault.Lines(ctx, l.name)
	if err != nil {
		return 0, err
	}
	now, sleep := time.Now(), maxSleep
	lined, working := map[int64]bool{}, map[int64]bool{}
	for _, line := range lines {
		lined[line.Run] = true
		if line.Of.State == vault.Running {
			sleep = min(sleep, lineLook)
			l.begin(working, line.Run, now) // also while its model is out of reach
		}
		wait, err := l.change(ctx, line, now)
		if err != nil {
			return 0, err
		}
		sleep = min(sleep, wait)
	}
	for _, r := range runs {
		l.begin(working, r.ID, now)
		if lined[r.ID] || l.hopeless[r.ID] || r.Trigger != "message" {
			continue
		}
		if wait := lineAfter - l.worked(r, now); wait > 0 {
			sleep = min(sleep, wait)
			continue
		}
		if err := l.post(ctx, r, now); err != nil {
			return 0, err
		}
	}
	l.tidy(working, lines, now)
	return sleep, nil
}

// worked is how long a run has been at work, by the monotonic clock since it was first seen.
func (l *liner) worked(r vault.Run, now time.Time) time.Duration {
	began, known := l.began[r.ID]
	if !known {
		return r.Worked
	}
	return r.Worked + now.Sub(began)
}

// begin notes a run at work.
func (l *liner) begin(working map[int64]bool, run int64, now time.Time) {
	working[run] = true
	if _, known := l.began[run]; !known {
		l.began[run] = now
	}
}

// post begins a run's line, unless it is in a group or has had one.
func (l *liner) post(ctx context.Context, r vault.Run, now time.Time) error {
	c, err := l.vault.Conversation(ctx, r.Conversation)
	if err != nil {
		return err
	}
	if c.Kind != vault.Private {
		l.hopeless[r.ID] = true
		return nil
	}
	words := working(vault.Line{Of: r}, l.worked(r, now), false)
	posted, err := l.vault.ShowLine(ctx, vault.Part{Key: vault.LineKey(r.ID), Run: r.ID, Conversation: r.Conversation, To: r.To, Text: words})
	l.hopeless[r.ID] = err == nil && !posted // it may have arrived in an earlier life and was given up: no second one
	return err
}

// change brings a line up to date when that is due, and tells when it will be.
func (l *liner) change(ctx context.Context, line vault.Line, now time.Time) (time.Duration, error) {
	if _, known := l.next[line.ID]; !known {
		l.next[line.ID] = now.Add(lineEvery)
	}
	if line.State != "sent" || l.busy[line.ID] {
		return maxSleep, nil // what comes of that wakes the loop
	}
	words, preview, over := l.words(line, now)
	if words == line.Shown && preview == l.previews[line.ID] {
		if over {
			return maxSleep, l.vault.LineShown(ctx, line.ID, words, true)
		}
		return maxSleep, nil
	}
	at := l.next[line.ID]
	if rest := l.rest[line.To.Chat]; rest.After(at) {
		at = rest
	}
	if wait := at.Sub(now); wait > 0 {
		return wait, nil
	}
	l.busy[line.ID] = true
	l.all.Go(func() {
		c := changed{line, preview, l.edit(ctx, line, words, preview, over)}
		select {
		case l.ended <- c:
		case <-ctx.Done():
		}
	})
	return maxSleep, nil
}

// words are what a line is to say, what of the answer is shown below, and whether they are its last.
func (l *liner) words(line vault.Line, now time.Time) (words, preview string, over bool) {
	switch {
	case line.Run == 0:
		return line.Text, "", line.Over
	case line.Of.Ended.IsZero():
		preview = l.preview(line)
		return working(line, l.worked(line.Of, now), preview != ""), preview, false
	case !line.Answered:
		return line.Shown, l.previews[line.ID], false // the answer goes first
	}
	return ended(line.Of), "", true
}

// edit stores the line's own words alone: of the answer only what is committed as such is kept. A life that ends leaves the
// preview in the chat until the next life gives the line other words, which it always has to.
func (l *liner) edit(ctx context.Context, line vault.Line, words, preview string, over bool) error {
	limited, cancel := context.WithTimeout(ctx, lineLimit)
	defer cancel()
	shown := l.mask(words)
	if preview != "" {
		if words != line.Shown { // first, so that a life that ends here is known to have left a preview
			if err := l.vault.LineShown(ctx, line.ID, words, false); err != nil {
				return err
			}
		}
		shown += "\n\n" + preview
	}
	err := l.editor.Edit(limited, line.To, line.Ref, shown)
	var fault *gateways.SendError
	switch {
	case err == nil:
		return l.vault.LineShown(context.WithoutCancel(ctx), line.ID, words, over)
	case errors.As(err, &fault) && fault.Outcome == vault.Refused: // somebody deleted it, or blocked us
		return errors.Join(err, l.vault.LineShown(context.WithoutCancel(ctx), line.ID, line.Shown, true))
	}
	return err
}

// close notes what came of a change.
func (l *liner) close(c changed) {
	id := c.line.ID
	delete(l.busy, id)
	l.next[id] = time.Now().Add(lineEvery)
	if c.err == nil {
		delete(l.failures, id)
		l.previews[id] = c.preview
		return
	}
	wait := min(lineFailed<<min(l.failures[id], 4), time.Minute)
	var fault *gateways.SendError
	if errors.As(c.err, &fault) && fault.Wait > 0 {
		wait = fault.Wait
		l.rest[c.line.To.Chat] = time.Now().Add(wait)
	}
	l.next[id] = time.Now().Add(max(wait, lineEvery))
	if l.failures[id]++; l.failures[id] == 1 {
		l.log.Debug("cannot show progress", "error", c.err)
	}
}

// tidy forgets what is over.
func (l *liner) tidy(working map[int64]bool, lines []vault.Line, now time.Time) {
	for run := range l.began {
		if !working[run] {
			delete(l.began, run)
			delete(l.hopeless, run)
		}
	}
	open := map[int64]bool{}
	for _, line := range lines {
		open[line.ID] = true
	}
	for id := range l.next {
		if !open[id] && !l.busy[id] {
			delete(l.next, id)
			delete(l.failures, id)
			delete(l.previews, id)
		}
	}
	for chat, until := range l.rest {
		if until.Before(now) {
			delete(l.rest, chat)
		}
	}
}
