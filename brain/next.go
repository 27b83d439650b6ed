package brain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hearth/vault"
)

// MoveKind is what a run does next.
type MoveKind string

// The moves.
const (
	Think   MoveKind = "think" // ask the model
	RunCall MoveKind = "run"
	Unsure  MoveKind = "unsure" // a call may have happened: a person is asked
	Exceed  MoveKind = "exceed" // a limit is reached: a person is asked
	Wait    MoveKind = "wait"   // for a person
	Finish  MoveKind = "finish"
)

// Move is a decision, made from what is on disk alone.
type Move struct {
	Kind MoveKind
	Call vault.Call   // RunCall, Unsure
	End  vault.Ending // Finish
	Over Excess       // Exceed
}

// Policy is what next decides by.
type Policy struct {
	Limits Limits
	Worked time.Duration // the run's time so far, this life included
}

// Bounds on a run that goes round in circles.
const (
	sameCall  = 3 // the same call with the same result so often, and no more
	failCalls = 4 // calls that failed one after the other
)

// next decides a run's next move. It is pure: the same progress and policy always give the same move, in whatever life of
// the program. Calls that have begun come first, then a person's answer, then the limits that are known
// before there is a prompt, then the model. Those on tokens and money are held against the ledger when it is asked.
func next(p vault.Progress, policy Policy) Move {
	waits := false
	for _, c := range p.Calls {
		switch c.State {
		case vault.Proposed, vault.Approved:
			return Move{Kind: RunCall, Call: c}
		case vault.Started:
			if c.Effect == "acts" {
				return Move{Kind: Unsure, Call: c}
			}
			return Move{Kind: RunCall, Call: c} // the same key leaves what once leaves
		case vault.Asking, vault.Unknown:
			waits = true
		}
	}
	if waits {
		return Move{Kind: Wait}
	}
	if silenced(p) {
		return Move{Kind: Finish, End: vault.Ending{State: vault.Done, Reply: withReceipts("", p.Calls)}}
	}
	if reason, words := circling(p.Calls); reason != "" {
		return give(p, reason, words)
	}
	if reason, words := refusedMore(p.Approvals); reason != "" {
		return give(p, reason, words)
	}
	if over, is := policy.Limits.ofRun(p, policy.Worked); is {
		return Move{Kind: Exceed, Over: over}
	}
	return Move{Kind: Think}
}

// unasked reports whether nobody wrote: only such a run may end without a word.
func unasked(p vault.Progress) bool { return p.Run.Trigger != "message" && len(p.Messages) == 0 }

// silenced reports whether the last step decided, by a call, that nothing is to be said. What else was done is told: silence
// hides words, never deeds.
func silenced(p vault.Progress) bool {
	if len(p.Steps) == 0 || !unasked(p) {
		return false
	}
	last := p.Steps[len(p.Steps)-1].N
	return slices.ContainsFunc(p.Calls, func(c vault.Call) bool { return c.Step == last && c.Silent && c.State == vault.Finished })
}

func give(p vault.Progress, reason, words string) Move {
	return Move{Kind: Finish, End: vault.Ending{State: vault.Failed, Reason: reason, Reply: withReceipts(words, p.Calls)}}
}

// circling finds a model that repeats itself: the same call with the same result, or only failing calls. The counts come
// from the journal, so neither a restart nor a summary resets them.
func circling(calls []vault.Call) (reason, words string) {
	type deed struct{ hash, result string }
	seen := map[deed]int{}
	failed := 0
	for _, c := range calls {
		if !c.State.Ended() {
			continue
		}
		d := deed{c.Hash, c.Result}
		seen[d]++
		if seen[d] > sameCall {
			return "repeating " + c.Tool, fmt.Sprintf("I stopped: I tried %s %d times and always got the same: %s", c.Tool, seen[d], shorten(c.Result, 200))
		}
		if c.State == vault.Broken {
			failed++
		} else {
			failed = 0
		}
		if failed >= failCalls {
			return "failing " + c.Tool, fmt.Sprintf("I stopped: %s failed %d times in a row. The last time: %s", c.Tool, failed, shorten(c.Result, 200))
		}
	}
	return "", ""
}

// withReceipts puts what the program did, in its own words, under what the model says.
func withReceipts(words string, calls []vault.Call) string {
	out := []string{}
	if words = strings.TrimSpace(words); words != "" {
		out = append(out, words)
	}
	for _, c := range calls {
		if c.Receipt != "" && !strings.Contains(words, c.Receipt) && !slices.Contains(out, c.Receipt) {
			out = append(out, c.Receipt)
		}
	}
	if len(out) > 1 && words != "" {
		return out[0] + "\n\n" + strings.Join(out[1:], "\n")
	}
	return strings.Join(out, "\n")
}

// shorten cuts a text for a sentence, at a rune.
func shorten(s string, n int) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
