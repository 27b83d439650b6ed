package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// MaxVector is how many numbers a vector may have: no model makes as many.
const MaxVector = 8192

// Vectors reads arrays of numbers, as many as there are texts and all of one length. Whatever else an array holds is an error:
// servers write null for what is not a number, and encoding/json would read that as 0. Errors wrap ErrStrange.
func Vectors(arrays []json.RawMessage, texts int) ([][]float32, error) {
	if len(arrays) != texts {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrStrange, len(arrays), texts)
	}
	out := make([][]float32, len(arrays))
	for i, raw := range arrays {
		v, err := vector(raw)
		if err != nil {
			return nil, err
		}
		if out[i] = v; len(v) != len(out[0]) {
			return nil, fmt.Errorf("%w: a vector of %d numbers beside one of %d", ErrStrange, len(v), len(out[0]))
		}
	}
	return out, nil
}

func vector(raw json.RawMessage) ([]float32, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 3 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return nil, fmt.Errorf("%w: a vector that is no array, or an empty one", ErrStrange)
	}
	var out []float32
	for word := range bytes.SplitSeq(raw[1:len(raw)-1], []byte(",")) {
		word = bytes.TrimSpace(word)
		if len(word) == 0 || word[0] != '-' && (word[0] < '0' || word[0] > '9') { // not inf, nor nan
			return nil, fmt.Errorf("%w: a vector holds what is no number", ErrStrange)
		}
		x, err := strconv.ParseFloat(string(word), 32)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, fmt.Errorf("%w: a vector holds what is no number", ErrStrange)
		}
		if out = append(out, float32(x)); len(out) > MaxVector {
			return nil, fmt.Errorf("%w: a vector of more than %d numbers", ErrStrange, MaxVector)
		}
	}
	return out, nil
}

// ToItsEnd reads an answer to its end, if that comes within the limit. Errors: ErrTooMuch, or what reading says.
func ToItsEnd(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, ErrTooMuch
	}
	return data, nil
}

// VectorBytes is how long an answer with so many vectors can be.
func VectorBytes(texts int) int64 { return 64<<10 + int64(texts)*MaxVector*32 }

// CannotEmbed recognises how servers say that a model makes no vectors.
func CannotEmbed(said string) bool {
	t := Told{Text: said}
	return t.Has("does not support embedding", "not support embeddings", "--embeddings", "not an embedding model", "does not support the embeddings", "embeddings are not supported")
}
