package live

import "math/rand"

// A cue is what makes the scripted model say something: the newest cue of a prompt decides, and the one without words stands
// for none. Cues[…] of the same name are used by tests.
type cue struct {
	words string
	says  []string // token by token; no two of the whole model are the same
	loops bool     // after the last it goes on with the second
}

// The cues that tests write into messages.
const (
	CuePlain   = "#plain"   // words
	CueNote    = "#note"    // a call that writes note.txt
	CueBoth    = "#both"    // two calls at once: one.txt and two.txt
	CueGarbled = "#garbled" // a call whose arguments break off
	CuePonder  = "#ponder"  // thoughts, and words
	CueWeigh   = "#weigh"   // thoughts, and a call that writes weighed.txt
	CueForever = "#forever" // words without an end
)

// What the scripted model says, for tests to look for.
const (
	SaysPlain    = "All is well here."
	SaysAnswered = "The tool has answered, and that is all."
	SaysPondered = "Forty two."
	Thought      = "aardvark" // a word of its thoughts that it never says
	NoteText     = "milk and bread"
)

var cues = []cue{
	{words: "<tool_response>", says: []string{"The tool", " has answered,", " and that", " is all."}},
	// The program's own words after a call that could not be read: the model mends it, as a real one should.
	{words: "Your tool call could not be read.", says: []string{"<tool_call>\n{\"name\": ", `"write_file", "arguments": {"path": "mended.txt",`, ` "content": "at last"}`, "}\n</tool_call> "}},
	{words: CuePlain, says: []string{"All", " is well", " here."}},
	{words: CueNote, says: []string{"<tool_call>\n", `{"name": "write_file",`, ` "arguments": {"path": "note.txt",`, ` "content": "milk and bread"}`, "}\n</tool_call>"}},
	{words: CueBoth, says: []string{
		"<tool_call>", "\n{\"name\": \"write_file\", \"arguments\": ", `{"path": "one.txt", "content": "1"}}`, "\n</tool_call>\n<tool_call>\n",
		`{"name": "write_file", "arguments": `, `{"path": "two.txt", "content": "2"}}`, "\n</tool_call>",
	}},
	{words: CueGarbled, says: []string{"<tool_call>\n{", `"name": "write_file", "arguments": {"path": "broken.txt`, ` and no end`, "\n</tool_call>\n"}},
	{words: CuePonder, says: []string{"<think>\n", "The person", " may mean", " an aardvark.", "\n</think>\n\n", "Forty", " two."}},
	{words: CueWeigh, says: []string{"<think>", "The file", " is for the aardvark.", "</think>", "<tool_call>\n{ ", `"name": "write_file", "arguments": {"path": "weighed.txt",`, ` "content": "gold"}}`, "\n </tool_call>"}},
	{words: CueForever, says: []string{"and", " on", " and on", " it goes"}, loops: true},
	{says: []string{"Nobody", " gave me", " a cue."}},
}

// Where things stand in the vector of a token: a constant, the cue that it is, the cue that attention has found, and a
// random code by which it is told from the others.
const (
	atOne   = 0
	atCue   = 1
	atFound = 20
	atCode  = 40
)

// scripted is a model of one layer whose numbers are set by hand. Its attention finds the newest cue, which with the end of
// the prompt leads to the first token of what it says; each token leads to the next.
func scripted() *gguf {
	s := shape{name: "scripted", layers: 1, width: 256, inner: 32, heads: 2, keyHeads: 2, longest: 32768}
	v := newVocabulary()
	begin := v.add("assistant\n", tokenOwn, 0) // with which a prompt ends
	found := make([]int, len(cues))
	says := make([][]int, len(cues))
	for i, c := range cues {
		if c.words != "" {
			found[i] = v.add(c.words, tokenOwn, 0)
		}
		for _, text := range c.says {
			says[i] = append(says[i], v.add(text, tokenNormal, -1000)) // with this score it is not found in a text
		}
	}

	width := s.width
	source := rand.New(rand.NewSource(7)) // the old generator, since its numbers are promised to stay the same
	in := make([]float32, len(v.texts)*width)
	for t := range v.texts {
		in[t*width+atOne] = 1
		for d := atCode; d < width; d++ {
			in[t*width+d] = float32(source.Intn(2)*2 - 1)
		}
	}
	for i, c := range cues {
		if c.words != "" {
			in[found[i]*width+atCue+i] = 4
		}
	}

	// Row by row: row r has what each input adds to output r.
	square := func() []float32 { return make([]float32, width*width) }
	query, key, value, mix := square(), square(), square(), square()
	// Two of the 64 pairs of numbers that are turned with a token's place, of the first head. One turns by a quarter
	// within some 6,600 tokens and tells newer from older; the other hardly turns, and tells a cue from what is none.
	const newer, there = 2 * 58, 2 * 63
	query[(newer+1)*width+atOne] = 100
	query[there*width+atOne] = 160
	for i, c := range cues {
		if c.words != "" {
			key[newer*width+atCue+i] = 28
			key[there*width+atCue+i] = 44
			value[i*width+atCue+i] = 1
		}
		mix[(atFound+i)*width+i] = 1
	}

	out := make([]float32, len(v.texts)*width)
	leads := func(from, to int, weight float32) {
		for d := atCode; d < width; d++ {
			out[to*width+d] += weight * in[from*width+d] / float32(width-atCode)
		}
	}
	for i, c := range cues {
		first, last := says[i][0], says[i][len(says[i])-1]
		leads(begin, first, 40)
		if c.words == "" {
			out[first*width+atOne] += 6 // more than what was not found, and less than what was
		} else {
			out[first*width+atFound+i] = 6
		}
		for n, t := range says[i][1:] {
			leads(says[i][n], t, 120)
		}
		if c.loops {
			leads(last, says[i][1], 120)
		} else {
			leads(last, tokenEnd, 120)
		}
	}

	wide, inner, tokens := uint64(width), uint64(s.inner), uint64(len(v.texts))
	g := s.begin(v)
	g.matrix("token_embd.weight", in, wide, tokens)
	g.ones("blk.0.attn_norm.weight", wide)
	g.matrix("blk.0.attn_q.weight", query, wide, wide)
	g.matrix("blk.0.attn_k.weight", key, wide, wide)
	g.matrix("blk.0.attn_v.weight", value, wide, wide)
	g.matrix("blk.0.attn_output.weight", mix, wide, wide)
	g.ones("blk.0.ffn_norm.weight", wide)
	g.matrix("blk.0.ffn_gate.weight", nil, wide, inner)
	g.matrix("blk.0.ffn_up.weight", nil, wide, inner)
	g.matrix("blk.0.ffn_down.weight", nil, inner, wide)
	g.ones("output_norm.weight", wide)
	g.matrix("output.weight", out, wide, tokens)
	return g
}
