package vault

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// eachTime does work until it has nothing left, then waits for a commit of somebody else, until ctx ends.
func eachTime(ctx context.Context, v *Vault, work func(context.Context) (more bool, err error)) error {
	changed, end := v.Subscribe()
	defer end()
	for {
		more, err := work(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

func TestDUR10EightChatsWriteWhileJobsFireAndSearchesRun(t *testing.T) {
	const chats, each, jobs = 8, 50, 40
	h := newHome(t)
	in := h.private(h.ann)
	h.remember(in, "the plumber comes on monday")
	c := must(h.PrivateConversation(t.Context(), h.bob.ID))(t)
	for i := range jobs {
		must(h.AddJob(t.Context(), Job{Kind: []string{Say, Do}[i%2], Person: h.bob.ID, Conversation: c.ID, To: to("2"), Zone: "UTC", Text: fmt.Sprint("job ", i), Next: h.clock.now().Add(time.Duration(i) * time.Millisecond)}))(t)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	loops, loopCtx := errgroup.WithContext(ctx)
	for range 3 { // brains
		loops.Go(func() error {
			return eachTime(loopCtx, h.Vault, func(ctx context.Context) (bool, error) {
				p, err := h.Claim(ctx)
				if errors.Is(err, ErrIdle) {
					return false, nil
				}
				if err == nil {
					_, err = h.History(ctx, p.Conversation, p.Run.Pos, 10)
				}
				if err == nil {
					_, err = h.SaveStep(ctx, p.Run.ID, stepOf(p, StepDone{Step: Step{Text: "ok", USD: 0.25, USDKnown: true}, End: &Ending{State: Done, Reply: fmt.Sprint("reply to ", p.Run.ID)}}))
				}
				return true, err
			})
		})
	}
	loops.Go(func() error { // the outbox
		return eachTime(loopCtx, h.Vault, func(ctx context.Context) (bool, error) {
			heads, err := h.Heads(ctx, "telegram")
			for _, p := range heads {
				if err == nil {
					err = h.Sending(ctx, p)
				}
				if err == nil {
					err = h.Delivered(ctx, p, "m")
				}
			}
			return len(heads) > 0, err
		})
	})
	loops.Go(func() error { // the scheduler, on a clock that each message moves on
		return eachTime(loopCtx, h.Vault, func(ctx context.Context) (bool, error) {
			due, err := h.DueJobs(ctx, 10)
			for _, j := range due {
				if err == nil {
					err = h.Fire(ctx, j, Firing{Due: j.Next, Words: j.Text})
				}
			}
			return len(due) > 0, err
		})
	})
	for i, query := range []string{"plumber", "monday", ""} { // searches, and a backup
		loops.Go(func() error {
			return eachTime(loopCtx, h.Vault, func(ctx context.Context) (bool, error) {
				found, err := h.Recall(ctx, in, query, 5)
				if err == nil && len(found) == 0 {
					err = errors.New("the fact is not found")
				}
				return false, err
			})
		})
		if i == 0 {
			loops.Go(func() error { return h.Backup(loopCtx, filepath.Join(t.TempDir(), "copy.db")) })
		}
	}

	var writers errgroup.Group
	for chat := range chats {
		writers.Go(func() error {
			for i := range each {
				h.clock.add(time.Millisecond)
				in := Inbound{Gateway: "telegram", Account: "bot", Chat: fmt.Sprint(-chat - 1), ChatKind: Group, Sender: "1", ID: fmt.Sprint(i), Kind: "text", Text: "hello", Sent: monday}
				for n := range 2 { // each comes twice
					if _, err := h.Accept(ctx, in, h.ann, 0); n == 0 && err != nil || n == 1 && !errors.Is(err, ErrRepeat) {
						return fmt.Errorf("accept: %w", err)
					}
				}
			}
			return nil
		})
	}
	check(t, writers.Wait())
	check(t, eachTime(loopCtx, h.Vault, func(context.Context) (bool, error) { // until all is answered and sent
		if h.count(`SELECT (SELECT count(*) FROM run WHERE ended IS NULL) + (SELECT count(*) FROM outbox WHERE state != 'sent') + (SELECT count(*) FROM job WHERE state != 'done')`) == 0 {
			stop()
		}
		return false, nil
	}))
	check(t, loops.Wait())

	equal(t, "messages", h.count(`SELECT count(*) FROM message WHERE role = 'user'`), chats*each)
	equal(t, "answers", h.count(`SELECT count(DISTINCT run_id) FROM message WHERE role = 'assistant'`), chats*each+jobs)
	equal(t, "rows", h.count(`SELECT count(*) FROM message`), 2*chats*each+jobs)
	equal(t, "parts sent", h.count(`SELECT count(*) FROM outbox WHERE state = 'sent' AND attempts = 1`), chats*each+jobs)
	equal(t, "runs", h.count(`SELECT count(*) FROM run WHERE state = 'done'`), chats*each+jobs)
	equal(t, "cents", int(100*must(h.Spent(t.Context(), time.Time{}))(t)), 25*(chats*each+jobs/2))
	equal(t, "places in the history", h.count(`SELECT count(*) - count(DISTINCT pos) FROM message`), 0)
	check(t, h.Check(t.Context()))
}
