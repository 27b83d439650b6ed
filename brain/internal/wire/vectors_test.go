package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func raws(arrays ...string) (out []json.RawMessage) {
	for _, a := range arrays {
		out = append(out, json.RawMessage(a))
	}
	return out
}

func TestVectorsAreWhatTheyMustBe(t *testing.T) {
	got, err := Vectors(raws(`[1, -0.5]`, "[\n2e-3,0]"), 2)
	if diff := cmp.Diff([][]float32{{1, -.5}, {.002, 0}}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for name, arrays := range map[string][]json.RawMessage{
		"too few": raws(`[1]`), "too many": raws(`[1]`, `[1]`, `[1]`), "two lengths": raws(`[1]`, `[1,2]`), "empty": raws(`[]`, `[]`), "null in it": raws(`[1,null]`, `[1,2]`),
		"nested": raws(`[[1,2]]`, `[[1,2]]`), "a text": raws(`"AAAA"`, `"AAAA"`), "too large": raws(`[1e99]`, `[1]`), "infinite": raws(`[inf]`, `[nan]`), "not there": raws(``, `null`),
		"too long": raws(`[1`+strings.Repeat(",1", MaxVector)+`]`, `[1]`), "words": raws(`[true]`, `[1]`),
	} {
		if got, err := Vectors(arrays, 2); !errors.Is(err, ErrStrange) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestToItsEndIsBounded(t *testing.T) {
	if _, err := ToItsEnd(strings.NewReader("12345"), 4); !errors.Is(err, ErrTooMuch) {
		t.Errorf("error %v", err)
	}
	if got, err := ToItsEnd(strings.NewReader("1234"), 4); string(got) != "1234" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzVectors: whatever a server writes, what is taken is as many finite numbers for each text.
func FuzzVectors(f *testing.F) {
	for _, s := range []string{`[[1,2],[3,4]]`, `[[1,null],[3,4]]`, `[[1e99]]`, `[]`, `[[[1]]]`, `["x"]`, `[[-]]`, `[[0x1p4]]`, `[[1_0]]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		var arrays []json.RawMessage
		if json.Unmarshal([]byte(answer), &arrays) != nil {
			return
		}
		got, err := Vectors(arrays, len(arrays))
		if err != nil {
			return
		}
		for _, v := range got {
			if len(v) == 0 || len(v) != len(got[0]) {
				t.Fatalf("lengths %d and %d", len(v), len(got[0]))
			}
			for _, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					t.Fatalf("%v", v)
				}
			}
		}
	})
}
