package vault

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Query asks for what is remembered and what was said. The zero value of each field but Text has a meaning.
type Query struct {
	Text  string         // any text
	Limit int            // how many hits; 0 = 10
	Run   int64          // the run that asks: its own messages are no news to it
	Zone  *time.Location // in which "yesterday" and "in March" are meant; nil = UTC

	MemoriesOnly bool // and nothing of what was said
}

// Hit is a memory or a message. Around a message stands what was said just before and after it, if the scope reaches that.
type Hit struct {
	Memory        *Memory
	Message       *Message
	Speaker       string // the name of who wrote the message; "" is the agent itself
	Before, After *Message
	Score         float64 // falls from hit to hit, and means nothing else
}

// fusion is the rank at which a hit of one list is worth half of the best one. Lists are fused by ranks, since their scores
// cannot be compared: words count rarities, vectors measure angles.
const fusion = 20

// Find gives what a scope reaches of memories and messages, best first. Memories are found as by Recall. Of messages count
// the rarity of the words they share with the query, those of the lines around them and of the whole talk they stand in, who
// said them if the query names one who speaks here, when, if it names a time, and a little how long ago. What is pinned counts
// half as much again.
func (v *Vault) Find(ctx context.Context, in Scope, q Query) ([]Hit, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	memories, err := v.Recall(ctx, in, q.Text, q.Limit)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for i, m := range memories {
		h := Hit{Memory: &m, Score: worth(i)}
		if m.Pinned {
			h.Score *= 1.5
		}
		hits = append(hits, h)
	}
	if !q.MemoriesOnly && strings.TrimSpace(q.Text) != "*" { // of what was said, "everything" is the history
		said, err := v.said(ctx, in, q)
		if err != nil {
			return nil, err
		}
		for i, h := range said {
			h.Score = worth(i)
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), q.Limit)], nil
}

func worth(rank int) float64 { return fusion / float64(fusion+rank) }

// FindMemories is Find for memories alone; an empty query gives the newest.
func (v *Vault) FindMemories(ctx context.Context, in Scope, q Query) ([]Memory, error) {
	q.MemoriesOnly = true
	hits, err := v.Find(ctx, in, q)
	out := make([]Memory, 0, len(hits))
	for _, h := range hits {
		if h.Memory != nil {
			out = append(out, *h.Memory)
		}
	}
	return out, err
}
