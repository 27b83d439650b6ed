package live

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/fs/ggml"
)

// Ollama's own reader finds in the files what was put there, and nothing is missing at their end.
func TestOllamaReadsTheModels(t *testing.T) {
	small := shape{name: "small", layers: 2, width: 64, inner: 96, heads: 4, keyHeads: 2, longest: 512}
	for _, c := range []struct {
		name    string
		model   *gguf
		tensors int
		numbers uint64
		tokens  int
	}{
		{"scripted", scripted(), 12, 2*uint64(scriptedTokens())*256 + 4*256*256 + 3*256*32 + 3*256, scriptedTokens()},
		{"small", random(small, 1200), 2*9 + 3, 2*1200*64 + 64 + 2*(2*64+2*64*64+2*64*32+3*64*96), 1200},
	} {
		t.Run(c.name, func(t *testing.T) {
			var file bytes.Buffer
			if err := c.model.writeTo(&file); err != nil {
				t.Fatal(err)
			}
			got, err := ggml.Decode(bytes.NewReader(file.Bytes()), -1)
			if err != nil {
				t.Fatal(err)
			}
			facts := got.KV()
			if facts.Architecture() != "llama" || facts.String("general.name") != c.name || facts.Uint("vocab_size") != uint32(c.tokens) || len(facts.Strings("tokenizer.ggml.tokens")) != c.tokens {
				t.Errorf("the facts are %v", facts)
			}
			numbers := uint64(0)
			for _, tensor := range got.Tensors().Items() {
				numbers += tensor.Elements()
			}
			if n := len(got.Tensors().Items()); n != c.tensors || numbers != c.numbers {
				t.Errorf("%d tensors with %d numbers, want %d with %d", n, numbers, c.tensors, c.numbers)
			}
			if got.Length != int64(file.Len()) {
				t.Errorf("it reads %d bytes of %d", got.Length, file.Len())
			}
		})
	}
}

func scriptedTokens() int {
	n := len(newVocabulary().texts) + 1 // the words that end a prompt
	for _, c := range cues {
		n += len(c.says)
		if c.words != "" {
			n++
		}
	}
	return n
}

// The model is made anew for each run of the tests, and must not be another one each time.
func TestTheSameBytesEachTime(t *testing.T) {
	var first, second bytes.Buffer
	for _, to := range []io.Writer{&first, &second} {
		if err := WriteScripted(to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two models differ")
	}
}

func TestHalfRoundsToTheNearest(t *testing.T) {
	got := map[float32]uint16{}
	want := map[float32]uint16{ // worked out by hand from IEEE 754
		0: 0, 1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65519: 0x7bff, 65520: 0x7c00, 1e9: 0x7c00, float32(math.Inf(-1)): 0xfc00,
		1.0 / 3: 0x3555, 1 + 1.0/2048 + 1.0/4096: 0x3c01, 2047.0 / 1024: 0x3fff, 4095.0 / 2048: 0x4000,
		6.103515625e-5: 0x0400, 5.960464477539063e-8: 1, 2.9e-8: 0, 4.5e-8: 1, 6.1e-5: 0x03ff,
	}
	for x := range want {
		got[x] = half(x)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAFactOfNoKnownType(t *testing.T) {
	g := &gguf{}
	g.say("general.size", 7)
	if err := g.writeTo(io.Discard); err == nil || !strings.Contains(err.Error(), "general.size") {
		t.Errorf("got %v", err)
	}
}
