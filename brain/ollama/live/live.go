// Package live makes models for a real Ollama server, so that tests can drive the program against the server's own parsers,
// templates, limits and caches. One model answers on cue and is exact; the other has the shape of a real small model and
// talks noise, at a real one's speed. Nothing here is a part of the program: only tests use it.
package live

import (
	"fmt"
	"io"
)

// vocabulary is the tokens of a model. Text is cut up as SentencePiece does it: into characters, which are then put
// together pair by pair as long as the whole is a token too.
type vocabulary struct {
	texts  []string
	scores []float32 // of several pairs that could be put together the one with the highest score goes first
	kinds  []int32
	ids    map[string]int
}

// Kinds of tokens, as the format counts them.
const (
	tokenNormal  = 1
	tokenUnknown = 2
	tokenControl = 3
	tokenOwn     = 4 // found in a text before anything else is cut up
	tokenByte    = 6
)

// Tokens that every model here has, at these numbers.
const (
	tokenBegin = 1
	tokenEnd   = 2
)

// space is how a blank is written within tokens that are found in texts.
const space = "\u2581"

// newVocabulary has the tokens that templates speak of, each byte, and pairs of letters, so that a text takes about half as
// many tokens as it has letters.
func newVocabulary() *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	v.add("<unk>", tokenUnknown, 0)
	v.add("<s>", tokenControl, 0)
	v.add("<|im_end|>", tokenControl, 0)
	v.add("<|im_start|>", tokenControl, 0)
	for i := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", i), tokenByte, 0)
	}
	for _, a := range letters() {
		for _, b := range letters() {
			v.add(a+b, tokenNormal, -1)
		}
	}
	return v
}

// letters are those that tokens are made of.
func letters() []string {
	out := []string{space}
	for c := 'a'; c <= 'z'; c++ {
		out = append(out, string(c))
	}
	return out
}

// add gives the number of a token. One that is there already is a fault of the caller's, who finds it out at once.
func (v *vocabulary) add(text string, kind int32, score float32) int {
	if n, ok := v.ids[text]; ok {
		panic(fmt.Sprintf("the token %q is there already, at %d", text, n))
	}
	n := len(v.texts)
	v.ids[text] = n
	v.texts, v.kinds, v.scores = append(v.texts, text), append(v.kinds, kind), append(v.scores, score)
	return n
}

// shape is how large a model is.
type shape struct {
	name                 string
	layers, width, inner int
	heads, keyHeads      int // of attention; those of keys and values
	longest              int // tokens that it was made for
}

// begin is a model file of this shape without its numbers.
func (s shape) begin(v *vocabulary) *gguf {
	g := &gguf{}
	g.say("general.architecture", "llama")
	g.say("general.name", s.name)
	g.say("general.file_type", uint32(tensorF16))
	g.say("llama.block_count", uint32(s.layers))
	g.say("llama.context_length", uint32(s.longest))
	g.say("llama.embedding_length", uint32(s.width))
	g.say("llama.feed_forward_length", uint32(s.inner))
	g.say("llama.attention.head_count", uint32(s.heads))
	g.say("llama.attention.head_count_kv", uint32(s.keyHeads))
	g.say("llama.attention.layer_norm_rms_epsilon", float32(1e-6))
	g.say("llama.rope.dimension_count", uint32(s.width/s.heads))
	g.say("llama.rope.freq_base", float32(10000))
	g.say("llama.vocab_size", uint32(len(v.texts)))
	g.say("tokenizer.ggml.model", "llama")
	g.say("tokenizer.ggml.tokens", v.texts)
	g.say("tokenizer.ggml.scores", v.scores)
	g.say("tokenizer.ggml.token_type", v.kinds)
	g.say("tokenizer.ggml.bos_token_id", uint32(tokenBegin))
	g.say("tokenizer.ggml.eos_token_id", uint32(tokenEnd))
	g.say("tokenizer.ggml.unknown_token_id", uint32(0))
	g.say("tokenizer.ggml.add_bos_token", false)
	g.say("tokenizer.ggml.add_space_prefix", false)
	return g
}

// WriteScripted writes the model that answers on cue: some 2 MB, the same bytes each time.
func WriteScripted(w io.Writer) error { return scripted().writeTo(w) }

// WriteRandom writes the model of real size, 24 layers of 896 and 415 million numbers: some 830 MB, the same bytes each time.
func WriteRandom(w io.Writer) error { return randomModel().writeTo(w) }

func randomModel() *gguf {
	return random(shape{name: "random", layers: 24, width: 896, inner: 4864, heads: 14, keyHeads: 2, longest: 32768}, 32000)
}
