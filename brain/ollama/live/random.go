package live

import (
	"fmt"
	"math"
	"math/rand"
)

// random is a model of a real one's shape with numbers out of a generator. What it says is noise; its speed, its memory and
// how a server keeps its cache are real. Its tokens are the pairs and triples of letters, so that a text has about as many
// tokens as with real models.
func random(s shape, tokens int) *gguf {
	v := newVocabulary()
	for _, a := range letters() {
		for _, b := range letters() {
			for _, c := range letters() {
				if len(v.texts) < tokens {
					v.add(a+b+c, tokenNormal, -2)
				}
			}
		}
	}
	for len(v.texts) < tokens {
		v.add(fmt.Sprintf("%sword%d", space, len(v.texts)), tokenNormal, -3)
	}
	g := s.begin(v)
	source := rand.New(rand.NewSource(1)) // the old generator, since its numbers are promised to stay the same
	noise := func(inputs int) func() (float32, bool) {
		scale := float32(1 / math.Sqrt(float64(inputs))) // so that sums of products stay about 1
		return func() (float32, bool) { return float32(source.Int31n(2001)-1000) / 577 * scale, true }
	}
	width, inner, keys := uint64(s.width), uint64(s.inner), uint64(s.width/s.heads*s.keyHeads)
	g.stream("token_embd.weight", noise(1), width, uint64(tokens))
	for l := range s.layers {
		block := fmt.Sprintf("blk.%d.", l)
		g.ones(block+"attn_norm.weight", width)
		g.stream(block+"attn_q.weight", noise(s.width), width, width)
		g.stream(block+"attn_k.weight", noise(s.width), width, keys)
		g.stream(block+"attn_v.weight", noise(s.width), width, keys)
		g.stream(block+"attn_output.weight", noise(s.width), width, width)
		g.ones(block+"ffn_norm.weight", width)
		g.stream(block+"ffn_gate.weight", noise(s.width), width, inner)
		g.stream(block+"ffn_up.weight", noise(s.width), width, inner)
		g.stream(block+"ffn_down.weight", noise(s.inner), inner, width)
	}
	g.ones("output_norm.weight", width)
	g.stream("output.weight", noise(s.width), width, uint64(tokens))
	return g
}
