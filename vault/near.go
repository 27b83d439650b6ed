package vault

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a search by meaning.
const (
	scanned  = 100_000 // the newest of a reach are looked at, no more
	scanPage = 4096    // at a time
	rescored = 200     // of those with the likest signs the numbers are compared
	leastCos = 0.25    // what is less alike than that has nothing to do with each other, to any model
	fewToTel = 100     // of so many a search can tell how alike the model finds everything
)

// near is one thing that means about the same: an item of its reach, and the cosine of the angle between.
type near struct {
	item int64
	cos  float64
}

// place is a reach and whose it is, as in the table vector.
type vectorPlace struct {
	reach string
	place int64
}

// memoryPlaces are those of the memories that a scope reaches. They say the same as Scope.where, which is asked again when
// the memories are read.
func (s Scope) memoryPlaces() []vectorPlace {
	out := []vectorPlace{{"household", 0}, {"conversation", s.Conversation}}
	if !s.Group {
		out = append(out, vectorPlace{"person", s.Person})
	}
	return out
}

// alike gives the memories and the messages that a scope reaches and that mean about the same as the query, best first.
// Nothing is found when the query brings no vector, or one of a model that has made none here.
func (v *Vault) alike(ctx context.Context, in Scope, q Query) (memories []Memory, said []Hit, err error) {
	query := ofLengthOne(q.Meaning.Values)
	if query == nil {
		return nil, nil, nil
	}
	embedding, err := one(ctx, v.rdb, scanInt, `SELECT id FROM embedding WHERE model = ? AND dim = ?`, q.Meaning.Model, len(query))
	if errors.Is(err, ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var found []near
	for _, p := range in.memoryPlaces() {
		some, err := v.nearest(ctx, embedding, p, query)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, some...)
	}
	if memories, err = v.memoriesNear(ctx, in, found, q.Limit); err != nil {
		return nil, nil, err
	}
	if found, err = v.nearest(ctx, embedding, vectorPlace{"said", in.Conversation}, query); err != nil {
		return nil, nil, err
	}
	said, err = v.saidNear(ctx, in, found, q)
	return memories, said, err
}

// memoriesNear reads the memories that were found, the likest first.
func (v *Vault) memoriesNear(ctx context.Context, in Scope, found []near, limit int) ([]Memory, error) {
	list, err := json.Marshal(likest(found, rescored))
	if err != nil {
		return nil, err
	}
	where, args := in.where()
	return collect(ctx, v.rdb, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM json_each(?) j CROSS JOIN memory m ON m.id = j.value WHERE m.superseded_by IS NULL AND `+where+` ORDER BY j.key LIMIT ?`,
		append(append([]any{string(list)}, args...), limit)...)
}

// saidNear reads the messages that were found, and what stands around them.
func (v *Vault) saidNear(ctx context.Context, in Scope, found []near, q Query) ([]Hit, error) {
	ids := likest(found, 2*q.Limit) // some are of the run that asks
	lines, err := v.around(ctx, in, ids, q.Run)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	people, err := v.People(ctx)
	if err != nil {
		return nil, err
	}
	a := asked{names: map[int64]string{}}
	for _, p := range people {
		a.names[p.ID] = p.Name
	}
	talks(lines)
	at := map[int64]int{}
	for i, l := range lines {
		at[l.ID] = i
	}
	var hits []Hit
	for _, n := range ids {
		if i, ok := at[n]; ok && len(hits) < q.Limit {
			hits = append(hits, a.hit(lines, i))
		}
	}
	return hits, nil
}

// likest gives the numbers of the likest, the newest of equal ones first.
func likest(found []near, n int) []int64 {
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(b.cos, a.cos), cmp.Compare(b.item, a.item)) })
	out := make([]int64, 0, n)
	for _, f := range found[:min(len(found), n)] {
		out = append(out, f.item)
	}
	return out
}

// nearest compares the signs of all that stands in a place with those of the query, and then the numbers of the likest.
func (v *Vault) nearest(ctx context.Context, embedding int64, p vectorPlace, query []float32) ([]near, error) {
	want := wordsOf(signsOf(query))
	var best shortlist
	below := int64(math.MaxInt64)
	for best.seen < scanned {
		items, signs, err := v.signs(ctx, embedding, p, below)
		if err != nil {
			return nil, err
		}
		if len(signs) != 8*len(want)*len(items) {
			return nil, fmt.Errorf("read vectors: %d bytes of %d vectors", len(signs), len(items))
		}
		for i, n := range items {
			d := 0
			for k, w := range want {
				d += bits.OnesCount64(w ^ binary.LittleEndian.Uint64(signs[8*(i*len(want)+k):]))
			}
			best.add(n, d)
		}
		if len(items) < scanPage {
			break
		}
		below = items[len(items)-1]
	}
	list, err := json.Marshal(best.items())
	if err != nil {
		return nil, err
	}
	found, err := collect(ctx, v.rdb, func(s scanner) (n near, err error) {
		var scale float64
		var whole []byte
		err = s.Scan(&n.item, &scale, &whole)
		for i := range min(len(whole), len(query)) {
			n.cos += float64(query[i]) * float64(int8(whole[i]))
		}
		n.cos *= scale
		return n, err
	}, `SELECT v.item, v.scale, v.whole FROM json_each(?) j CROSS JOIN vector v ON v.reach = ? AND v.place = ? AND v.item = j.value WHERE v.embedding_id = ?`, string(list), p.reach, p.place, embedding)
	return slices.DeleteFunc(found, func(n near) bool { return n.cos < leastCos }), err
}

// signs reads those of a page of a place, newest first. They come in one row: a row for each costs ten times as much.
func (v *Vault) signs(ctx context.Context, embedding int64, p vectorPlace, below int64) (items []int64, signs []byte, err error) {
	var list string
	if _, err := one(ctx, v.rdb, func(s scanner) (none struct{}, err error) { return none, s.Scan(&list, &signs) },
		`SELECT coalesce(group_concat(item), ''), CAST(coalesce(group_concat(sign, ''), '') AS BLOB) FROM
		(SELECT item, sign FROM vector INDEXED BY vector_signs WHERE embedding_id = ? AND reach = ? AND place = ? AND item < ? ORDER BY item DESC LIMIT ?)`,
		embedding, p.reach, p.place, below, scanPage); err != nil || list == "" {
		return nil, nil, err
	}
	items = make([]int64, 0, scanPage)
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, nil, err
		}
		items = append(items, n)
	}
	return items, signs, nil
}

// shortlist keeps the items with the fewest differing signs.
type shortlist struct {
	seen, sum, squares int
	kept               []candidate
	worst              int // what differs in more is not among the best; 0 = not known yet
}

type candidate struct {
	item      int64
	different int
}

func (s *shortlist) add(item int64, different int) {
	s.seen++
	s.sum += different
	s.squares += different * different
	if s.worst > 0 && different >= s.worst {
		return
	}
	if s.kept = append(s.kept, candidate{item, different}); len(s.kept) == 4*rescored {
		s.cut()
		s.worst = s.kept[rescored-1].different
	}
}

func (s *shortlist) cut() {
	slices.SortStableFunc(s.kept, func(a, b candidate) int { return cmp.Compare(a.different, b.different) })
	s.kept = s.kept[:min(len(s.kept), rescored)]
}

// items gives them, without those that are no liker than most: some models find everything alike.
func (s *shortlist) items() []int64 {
	s.cut()
	most := math.Inf(1)
	if s.seen >= fewToTel {
		mean := float64(s.sum) / float64(s.seen)
		most = mean - math.Sqrt(max(0, float64(s.squares)/float64(s.seen)-mean*mean))
	}
	out := make([]int64, 0, len(s.kept))
	for _, c := range s.kept {
		if float64(c.different) <= most {
			out = append(out, c.item)
		}
	}
	return out
}
