package vault

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Query asks for what is remembered and what was said. The zero value of each field but Text has a meaning.
type Query struct {
	Text  string         // any text
	Limit int            // how many hits; 0 = 10
	Run   int64          // the run that asks: its own messages are no news to it
	Zone  *time.Location // in which "yesterday" and "in March" are meant; nil = UTC
	// Meaning is what the text means to the model that embedded what is kept; the zero Vector = it is searched by words alone.
	Meaning      Vector
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
// said them if the query names one who speaks here, when, if it names a time, and a little how long ago. Both are also found
// by what they mean, if the query says what that is. What is pinned counts half as much again.
func (v *Vault) Find(ctx context.Context, in Scope, q Query) ([]Hit, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	var byMeaning struct {
		memories []Memory
		said     []Hit
		err      error
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	everything := strings.TrimSpace(q.Text) == "*"
	if len(q.Meaning.Values) > 0 && !everything {
		beside.Go(func() { byMeaning.memories, byMeaning.said, byMeaning.err = v.alike(ctx, in, q) })
	}
	var f fused
	memories, err := v.Recall(ctx, in, q.Text, q.Limit)
	if err != nil {
		return nil, err
	}
	f.memories(memories)
	if !everything && !q.MemoriesOnly { // of what was said, "everything" is the history
		said, err := v.said(ctx, in, q)
		if err != nil {
			return nil, err
		}
		f.said(said)
	}
	if beside.Wait(); byMeaning.err != nil {
		return nil, byMeaning.err
	}
	f.memories(byMeaning.memories)
	if !q.MemoriesOnly {
		f.said(byMeaning.said)
	}
	for i, h := range f.hits {
		if h.Memory != nil && h.Memory.Pinned {
			f.hits[i].Score *= 1.5
		}
	}
	slices.SortStableFunc(f.hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return f.hits[:min(len(f.hits), q.Limit)], nil
}

// fused is what several lists have found together. What stands in two of them is worth what it is worth in each.
type fused struct {
	hits []Hit
	at   map[fusedKey]int
}

type fusedKey struct{ memory, message int64 }

func (f *fused) add(key fusedKey, rank int, h Hit) {
	if f.at == nil {
		f.at = map[fusedKey]int{}
	}
	if i, ok := f.at[key]; ok {
		f.hits[i].Score += worth(rank)
		return
	}
	h.Score = worth(rank)
	f.at[key] = len(f.hits)
	f.hits = append(f.hits, h)
}

func (f *fused) memories(list []Memory) {
	for i, m := range list {
		f.add(fusedKey{memory: m.ID}, i, Hit{Memory: &m})
	}
}

func (f *fused) said(list []Hit) {
	for i, h := range list {
		f.add(fusedKey{message: h.Message.ID}, i, h)
	}
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
