package vault

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Vector is what a text means to an embedding model. The zero Vector means nothing.
type Vector struct {
	Model  string // as the YAML file calls it: what different models make of a text cannot be compared
	Values []float32
}

// Unembedded is a text of which a model has made no vector yet.
type Unembedded struct {
	Memory  int64 // one of the two is 0
	Message int64
	Text    string // at most so much of it as counts
}

func (u Unembedded) kind() (string, int64) {
	if u.Memory != 0 {
		return "memory", u.Memory
	}
	return "message", u.Message
}

// EmbeddingBatch is some texts, and how far one has come with them.
type EmbeddingBatch struct {
	Texts []Unembedded
	model string
	reached
	moved bool     // there is something to note, even if there is nothing to embed
	done  []dueKey // of the words that changed, those that need no vector any more
}

type dueKey struct {
	kind string
	item int64
}

// Empty reports whether there is nothing more to do.
func (b EmbeddingBatch) Empty() bool { return len(b.Texts) == 0 && !b.moved }

// reached is a row of the table embedding.
type reached struct {
	ID              int64 // 0 = nothing is stored of this model
	Dim             int
	MemLow, MemHigh int64
	MsgLow, MsgHigh int64
}

// Bounds of what is embedded.
const (
	meant       = 2000 // characters of a text: what is longer is a document, and small models read no more
	fewestWords = 2    // "ok" means nothing by itself
	lookedAt    = 256  // rows at a time
	maxDim      = 8192
)

// inUse gives how far a model has come. One that was not the last to be used begins anew, at the newest: others may have taken
// the place of what it made. What is left of that is not made again.
func inUse(ctx context.Context, q querier, model string) (reached, error) {
	last := false
	r, err := one(ctx, q, func(s scanner) (r reached, err error) {
		err = s.Scan(&r.ID, &r.Dim, &r.MemLow, &r.MemHigh, &r.MsgLow, &r.MsgHigh, &last)
		return r, err
	}, `SELECT id, dim, memory_low, memory_high, message_low, message_high, chosen = (SELECT max(chosen) FROM embedding) FROM embedding WHERE model = ? ORDER BY chosen DESC LIMIT 1`, model)
	if err == nil && last || err != nil && !errors.Is(err, ErrNotFound) {
		return r, err
	}
	again, err := anew(ctx, q)
	again.ID, again.Dim = r.ID, r.Dim
	return again, err
}

func anew(ctx context.Context, q querier) (reached, error) {
	return one(ctx, q, func(s scanner) (r reached, err error) {
		err = s.Scan(&r.MemHigh, &r.MsgHigh)
		r.MemLow, r.MsgLow = r.MemHigh, r.MsgHigh
		return r, err
	}, `SELECT (SELECT coalesce(max(id), 0) FROM memory), (SELECT coalesce(max(id), 0) FROM message)`)
}

// Unembedded gives texts that a model has not embedded, at most limit: those that have changed, then what is new, then what
// is old from the newest back. What it gives is noted as done by SaveVectors, and given again until then.
func (v *Vault) Unembedded(ctx context.Context, model string, limit int) (EmbeddingBatch, error) {
	b := EmbeddingBatch{model: model}
	var err error
	if b.reached, err = inUse(ctx, v.rdb, model); err != nil {
		return b, err
	}
	if err := v.changedWords(ctx, &b, limit); err != nil {
		return b, err
	}
	for _, part := range []struct {
		message bool
		edge    *int64
		up      bool
	}{{false, &b.MemHigh, true}, {true, &b.MsgHigh, true}, {false, &b.MemLow, false}, {true, &b.MsgLow, false}} {
		for more := true; more && len(b.Texts) < limit; {
			if more, err = v.lookOn(ctx, &b, part.message, part.edge, part.up, limit); err != nil {
				return b, err
			}
		}
	}
	return b, nil
}

// worded is a row of which somebody wants to know whether it is to be embedded.
type worded struct {
	Unembedded
	counts bool // it is one that is searched, and has no vector of this model
}

// The rows that a search may find, as the columns of worded. What is superseded is among them: it may hold again.
const (
	memoryWords  = `SELECT m.id, 0, substr(m.text, 1, ?1), v.item IS NULL FROM memory m LEFT JOIN vector v ON v.reach = m.scope AND v.place = CASE m.scope WHEN 'person' THEN m.person_id WHEN 'conversation' THEN m.conversation_id ELSE 0 END AND v.item = m.id AND v.embedding_id = ?2`
	messageWords = `SELECT 0, m.id, substr(m.text, 1, ?1), m.kind = 'text' AND m.text NOT IN ('', '` + blank + `') AND m.text NOT LIKE '/%' AND v.item IS NULL FROM message m LEFT JOIN vector v ON v.reach = 'said' AND v.place = m.conversation_id AND v.item = m.id AND v.embedding_id = ?2`
)

func scanWorded(s scanner) (w worded, err error) {
	err = s.Scan(&w.Memory, &w.Message, &w.Text, &w.counts)
	w.counts = w.counts && len(tokens(w.Text)) >= fewestWords
	return w, err
}

// changedWords adds what has other words than its vector was made of.
func (v *Vault) changedWords(ctx context.Context, b *EmbeddingBatch, limit int) error {
	for _, of := range []struct{ kind, words string }{{"memory", memoryWords}, {"message", messageWords}} {
		rows, err := collect(ctx, v.rdb, scanWorded, of.words+` JOIN vector_due d ON d.kind = ?3 AND d.item = m.id ORDER BY m.id LIMIT ?4`, meant, b.ID, of.kind, limit)
		if err != nil {
			return fmt.Errorf("look for changed words: %w", err)
		}
		for _, w := range rows {
			if kind, item := w.kind(); !w.counts {
				b.done, b.moved = append(b.done, dueKey{kind, item}), true
			} else if len(b.Texts) < limit {
				b.Texts = append(b.Texts, w.Unembedded)
			}
		}
	}
	return nil
}

// lookOn moves an edge over the next rows, and reports whether there may be more behind them.
func (v *Vault) lookOn(ctx context.Context, b *EmbeddingBatch, message bool, edge *int64, up bool, limit int) (more bool, err error) {
	words := memoryWords
	if message {
		words = messageWords
	}
	beyond := ` WHERE m.id <= ?3 ORDER BY m.id DESC LIMIT ?4`
	if up {
		beyond = ` WHERE m.id > ?3 ORDER BY m.id LIMIT ?4`
	}
	rows, err := collect(ctx, v.rdb, scanWorded, words+beyond, meant, b.ID, *edge, lookedAt)
	if err != nil {
		return false, fmt.Errorf("look for words without a vector: %w", err)
	}
	for i, w := range rows {
		if len(b.Texts) == limit {
			return true, nil
		}
		if _, item := w.kind(); up {
			*edge = item
		} else {
			*edge = item - 1
		}
		b.moved = true
		if w.counts {
			b.Texts = append(b.Texts, rows[i].Unembedded)
		}
	}
	return len(rows) == lookedAt, nil
}

// SaveVectors stores what a model made of the texts of a batch, and that the batch is done. A nil one is of a text that it can
// make nothing of. What was changed or forgotten meanwhile gets no vector; it is changed words then, or nothing.
func (v *Vault) SaveVectors(ctx context.Context, b EmbeddingBatch, vectors [][]float32) error {
	if len(vectors) != len(b.Texts) {
		return fmt.Errorf("save vectors: %d of %d texts", len(vectors), len(b.Texts))
	}
	dim := 0
	for _, values := range vectors {
		switch {
		case values == nil:
		case dim == 0 && len(values) <= maxDim:
			dim = len(values)
		case len(values) != dim:
			return fmt.Errorf("save vectors: of %d and of %d numbers", dim, len(values))
		}
	}
	return v.write(ctx, "embed", relaxed, func(t *Tx) error { // what a power cut takes back is made again
		number, err := t.embeddingOf(b, dim)
		if err != nil || number == 0 {
			return err
		}
		for _, d := range b.done {
			if _, err := t.exec(`DELETE FROM vector_due WHERE kind = ? AND item = ?`, d.kind, d.item); err != nil {
				return err
			}
		}
		for i, u := range b.Texts {
			if err := t.saveVector(number, u, vectors[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// embeddingOf notes how far a model has come, and gives its number. Where it makes other numbers than before, it is another
// model under the same name, and all is to be made anew; the same holds for one that was in use before another.
func (t *Tx) embeddingOf(b EmbeddingBatch, dim int) (int64, error) {
	if dim == 0 {
		dim = b.Dim
	}
	if dim == 0 {
		return 0, nil // nothing is known of it yet, so nothing can be noted
	}
	r := b.reached
	if b.ID != 0 && dim != b.Dim {
		var err error
		if r, err = anew(t.ctx, t.tx); err != nil {
			return 0, err
		}
	}
	return one(t.ctx, t.tx, scanInt, `INSERT INTO embedding(model, dim, memory_low, memory_high, message_low, message_high, chosen)
		VALUES(?,?,?,?,?,?,(SELECT coalesce(max(chosen), 0) + 1 FROM embedding))
		ON CONFLICT DO UPDATE SET memory_low = excluded.memory_low, memory_high = excluded.memory_high, message_low = excluded.message_low, message_high = excluded.message_high,
		chosen = excluded.chosen RETURNING id`, b.model, dim, r.MemLow, r.MemHigh, r.MsgLow, r.MsgHigh)
}

// saveVector stores one, in place of an older one, if the words are still the same.
func (t *Tx) saveVector(embedding int64, u Unembedded, values []float32) error {
	kind, item := u.kind()
	table, reach := `SELECT 'said', conversation_id FROM message`, ""
	if kind == "memory" {
		table = `SELECT scope, CASE scope WHEN 'person' THEN person_id WHEN 'conversation' THEN conversation_id ELSE 0 END FROM memory`
	}
	place, err := one(t.ctx, t.tx, func(s scanner) (place int64, err error) { err = s.Scan(&reach, &place); return place, err },
		table+` WHERE id = ? AND substr(text, 1, ?) = ?`, item, meant, u.Text)
	if errors.Is(err, ErrNotFound) {
		_, err = t.exec(`INSERT OR IGNORE INTO vector_due SELECT ?, id FROM `+kind+` WHERE id = ?`, kind, item)
		return err
	}
	if err != nil {
		return err
	}
	if _, err := t.exec(`DELETE FROM vector_due WHERE kind = ? AND item = ?`, kind, item); err != nil {
		return err
	}
	values = ofLengthOne(values)
	if values == nil {
		return nil
	}
	scale, whole := bytesOf(values)
	_, err = t.exec(`INSERT INTO vector(reach, place, item, embedding_id, sign, scale, whole) VALUES(?,?,?,?,?,?,?)
		ON CONFLICT DO UPDATE SET embedding_id = excluded.embedding_id, sign = excluded.sign, scale = excluded.scale, whole = excluded.whole`,
		reach, place, item, embedding, signsOf(values), scale, whole)
	return err
}

// Embedded counts what there is to embed for a model, and how much of it is done, both without what means too little.
func (v *Vault) Embedded(ctx context.Context, model string) (done, left int64, err error) {
	r, err := inUse(ctx, v.rdb, model)
	if err != nil {
		return 0, 0, err
	}
	done, err = one(ctx, v.rdb, scanInt, `SELECT count(*) FROM vector INDEXED BY vector_signs WHERE embedding_id = ?`, r.ID)
	if err != nil {
		return 0, 0, err
	}
	left, err = one(ctx, v.rdb, scanInt, `SELECT (SELECT count(*) FROM vector_due)
		+ (SELECT count(*) FROM memory WHERE id <= ? OR id > ?) + (SELECT count(*) FROM message WHERE (id <= ? OR id > ?) AND kind = 'text' AND text NOT LIKE '/%')`,
		r.MemLow, r.MemHigh, r.MsgLow, r.MsgHigh)
	return done, left, err
}

// ofLengthOne gives a vector its direction alone; nil when it has none.
func ofLengthOne(values []float32) []float32 {
	sum := 0.0
	for _, x := range values {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil
	}
	out := make([]float32, len(values))
	for i, x := range values {
		out[i] = float32(float64(x) / length)
	}
	return out
}

// signsOf gives a bit a number, in whole words of 64.
func signsOf(values []float32) []byte {
	out := make([]byte, (len(values)+63)/64*8)
	for i, x := range values {
		if x > 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// bytesOf gives a signed byte a number, and their unit.
func bytesOf(values []float32) (scale float64, out []byte) {
	top := 0.0
	for _, x := range values {
		top = max(top, math.Abs(float64(x)))
	}
	scale = top / math.MaxInt8
	out = make([]byte, len(values))
	for i, x := range values {
		out[i] = byte(int8(math.Round(float64(x) / scale)))
	}
	return scale, out
}

// wordsOf reads signs as words of 64 bits.
func wordsOf(signs []byte) []uint64 {
	out := make([]uint64, len(signs)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(signs[8*i:])
	}
	return out
}
