package vault

import (
	"cmp"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// No embedding model can run in these tests. idea stands in for what one knows: words that mean about the same.
var idea = map[string]string{
	"car": "vehicle", "automobile": "vehicle", "volvo": "vehicle", "vehicle": "vehicle", "bike": "bicycle",
	"garage": "workshop", "mechanic": "workshop", "repaired": "mend", "fixed": "mend", "fix": "mend",
	"physician": "doctor", "gp": "doctor", "doctor": "doctor", "appointment": "visit", "visit": "visit",
	"cat": "cat", "kitten": "cat", "feline": "cat", "allergic": "allergy", "intolerant": "allergy", "peanuts": "nut", "nuts": "nut",
	"怀孕": "baby", "expecting": "baby", "baby": "baby",
}

const testDim = 256

// meaning is the vector of a text: the sum of a fixed direction for each idea in it. Texts of the same ideas point the same
// way, others to nearly a right angle.
func meaning(text string) []float32 {
	out := make([]float32, testDim)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" .,?!'", r) }) {
		if stopWords[w] {
			continue
		}
		if i, ok := idea[w]; ok {
			w = i
		}
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(w))
		r := rand.New(rand.NewPCG(sum.Sum64(), 7))
		for i := range out {
			out[i] += float32(r.NormFloat64())
		}
	}
	return out
}

// embed does what the embedder does, until there is nothing left, and gives what was asked of the model.
func (h *home) embed(model string, of func(string) []float32) (asked []string) {
	h.t.Helper()
	for {
		b := must(h.Unembedded(h.t.Context(), model, 4))(h.t)
		if b.Empty() {
			return asked
		}
		vectors := make([][]float32, len(b.Texts))
		for i, u := range b.Texts {
			vectors[i] = of(u.Text)
			asked = append(asked, u.Text)
		}
		check(h.t, h.SaveVectors(h.t.Context(), b, vectors))
		if len(asked) > 10_000 {
			h.t.Fatal("it comes to no end")
		}
	}
}

// means is find by meaning as well as by words.
func (h *home) means(in Scope, model, query string) (out []string) {
	h.t.Helper()
	for _, hit := range must(h.Find(h.t.Context(), in, Query{Text: query, Meaning: Vector{model, meaning(query)}}))(h.t) {
		if hit.Memory != nil {
			out = append(out, hit.Memory.Text)
		} else {
			out = append(out, hit.Speaker+": "+hit.Message.Text)
		}
	}
	return out
}

func TestMEM01MEM02ParaphraseIsFoundByMeaningAndNotByWords(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	h.talk(h.ann, "The mechanic fixed my Volvo", "Good.")
	h.talk(h.ann, "she is expecting in october", "Congratulations!")
	h.remember(in, "my sister is allergic to peanuts")
	h.remember(in, "the stove is warm")
	h.embed("m", meaning)
	for query, want := range map[string]string{
		"automobile repaired in a garage": "Ann: The mechanic fixed my Volvo", "怀孕": "Ann: she is expecting in october", "intolerant nuts": "my sister is allergic to peanuts",
	} {
		if got := h.find(in, query); len(got) != 0 {
			t.Errorf("%q has words in common: it finds %q", query, got)
		}
		if got := h.means(in, "m", query); len(got) != 1 || got[0] != want {
			t.Errorf("%q finds %q, want %q alone", query, got, want)
		}
	}
	for _, q := range odd { // whatever is asked, it is no error
		must(h.Find(t.Context(), in, Query{Text: q, Meaning: Vector{"m", meaning(q)}}))(t)
	}
	for name, m := range map[string]Vector{
		"another model": {"other", meaning("automobile")}, "other numbers": {"m", meaning("automobile")[:100]}, "no direction": {"m", make([]float32, testDim)}, "none": {Model: "m"},
	} {
		if got := must(h.Find(t.Context(), in, Query{Text: "automobile", Meaning: m}))(t); len(got) != 0 {
			t.Errorf("%s finds %v", name, got)
		}
	}
	hit := must(h.Find(t.Context(), in, Query{Text: "automobile garage", Meaning: Vector{"m", meaning("automobile garage")}}))(t)[0]
	if hit.After == nil || hit.After.Text != "Good." || hit.Speaker != "Ann" {
		t.Errorf("the hit is %+v", hit)
	}
}

// What both words and meaning find stands before what only one of them finds, however well.
func TestWordsAndMeaningAreFused(t *testing.T) {
	var f fused
	f.memories([]Memory{{ID: 1}, {ID: 2}})
	f.said([]Hit{{Message: &Message{ID: 1}}})
	f.memories([]Memory{{ID: 3}, {ID: 2}})
	f.said([]Hit{{Message: &Message{ID: 1}}})
	slices.SortStableFunc(f.hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	var got []string
	for _, h := range f.hits {
		if h.Memory != nil {
			got = append(got, "memory "+strconv.FormatInt(h.Memory.ID, 10))
		} else {
			got = append(got, "message "+strconv.FormatInt(h.Message.ID, 10))
		}
	}
	equal(t, "order", strings.Join(got, ", "), "message 1, memory 2, memory 1, memory 3")

	h := newHome(t)
	in := h.private(h.ann)
	h.remember(in, "a kitten")
	h.remember(in, "the cat is ill")
	h.remember(in, "the cat is grey")
	pinned := h.remember(in, "feline things of winter")
	h.do(func(tx *Tx) error { _, err := tx.Pin(in, pinned.ID, true); return err })
	h.embed("m", meaning)
	if got := h.means(in, "m", "cat"); len(got) != 4 || !strings.HasPrefix(got[0], "the cat") || !strings.HasPrefix(got[1], "the cat") || got[2] != pinned.Text {
		t.Errorf("found %q", got)
	}
}

func TestMEM07VectorGoesWithItsWords(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	h.talk(h.ann, "dinner is late today", "noted")
	p := h.talk(h.ann, "our kitten hides in the garage", "noted it")
	m, _, err := h.Remember(t.Context(), Memory{Text: "kitten in the garage", Source: "message", SourceMessage: p.Messages[0].ID, SourceRun: p.Run.ID}, in)
	check(t, err)
	h.embed("m", meaning)
	equal(t, "found", len(h.means(in, "m", "feline")), 2)
	var canaries []string
	for _, text := range []string{m.Text, p.Messages[0].Text} {
		_, whole := bytesOf(ofLengthOne(meaning(text)))
		canaries = append(canaries, string(whole[20:60]), string(signsOf(meaning(text))))
	}
	for i, c := range canaries {
		if h.leftBytes(c) == 0 {
			t.Fatalf("canary %d was never there", i)
		}
	}
	before := h.count(`SELECT count(*) FROM vector`)
	b := must(h.Unembedded(t.Context(), "n", 100))(t) // the words are under way to a model when they are forgotten
	must(h.Forget(t.Context(), in, m.ID))(t)
	equal(t, "vectors", h.count(`SELECT count(*) FROM vector`), before-3)
	for i, c := range canaries {
		equal(t, "bytes left of canary "+strconv.Itoa(i), h.leftBytes(c), 0)
	}
	vectors := make([][]float32, len(b.Texts))
	for i, u := range b.Texts {
		vectors[i] = meaning(u.Text)
	}
	check(t, h.SaveVectors(t.Context(), b, vectors))
	for i, c := range canaries {
		equal(t, "bytes that came back of canary "+strconv.Itoa(i), h.leftBytes(c), 0)
	}
	equal(t, "found after it", len(h.means(in, "n", "feline")), 0)
	if got := h.embed("n", meaning); strings.Contains(strings.Join(got, " "), "kitten") {
		t.Errorf("asked about %q", got)
	}
	equal(t, "left over", h.count(`SELECT count(*) FROM vector_due`), 0)
}

func TestWhatIsEditedIsEmbeddedAnew(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	said := h.says(h.ann, "meet the mechanic at noon")
	must(h.Accept(t.Context(), said, h.ann, 0))(t)
	h.embed("m", meaning)
	b := must(h.Unembedded(t.Context(), "m", 9))(t)
	equal(t, "nothing is left to do", b.Empty(), true)
	must(h.Accept(t.Context(), edited(said, "meet the physician at noon", 5), h.ann, 0))(t)
	equal(t, "found by the old words", len(h.means(in, "m", "garage")), 0)
	b = must(h.Unembedded(t.Context(), "m", 9))(t)
	if len(b.Texts) != 1 || b.Texts[0].Text != "meet the physician at noon" {
		t.Fatalf("to embed: %+v", b.Texts)
	}
	// It changes again while the model works.
	must(h.Accept(t.Context(), edited(said, "meet the kitten at noon", 6), h.ann, 0))(t)
	check(t, h.SaveVectors(t.Context(), b, [][]float32{meaning("meet the physician at noon")}))
	equal(t, "found by words that do not stand any more", len(h.means(in, "m", "gp")), 0)
	h.embed("m", meaning)
	equal(t, "found by the last words", len(h.means(in, "m", "feline")), 1)
}

// Of what is not committed nothing is done, of what is committed nothing is done again; the newest come first, then what
// comes new.
func TestEmbeddingGoesOnWhereItWas(t *testing.T) {
	h := newHome(t)
	for i := range 5 {
		h.talk(h.ann, "old line "+strconv.Itoa(i), "reply "+strconv.Itoa(i))
	}
	h.talk(h.ann, "ok", "/commands are not said") // neither means anything
	first := must(h.Unembedded(t.Context(), "m", 4))(t)
	equal(t, "the first", first.Texts[0].Text, "reply 4")
	h.reopen() // killed before the model answered
	again := must(h.Unembedded(t.Context(), "m", 4))(t)
	equal(t, "the first again", again.Texts[0].Text, "reply 4")
	check(t, h.SaveVectors(t.Context(), again, [][]float32{meaning("a b"), meaning("c d"), nil, meaning("e f")}))
	h.reopen()
	h.talk(h.ann, "a new line", "a new reply")
	done, left, err := h.Embedded(t.Context(), "m")
	check(t, err)
	if done != 3 || left < 6 {
		t.Errorf("done %d, left %d", done, left)
	}
	got := h.embed("m", meaning)
	if want := "a new line, a new reply, reply 2, old line 2, reply 1, old line 1, reply 0, old line 0"; strings.Join(got, ", ") != want {
		t.Errorf("embedded %q, want %s", got, want)
	}
	if done, left, err = h.Embedded(t.Context(), "m"); err != nil || left != 0 || done != 11 {
		t.Errorf("done %d, left %d, %v", done, left, err)
	}
}

func TestAnotherModelBeginsAnew(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	for _, w := range []string{"my car is red", "my kitten is grey", "the doctor is nice"} {
		h.remember(in, w)
	}
	equal(t, "first model", len(h.embed("m", meaning)), 3)
	// The second has made a part when the first is chosen again.
	b := must(h.Unembedded(t.Context(), "n", 1))(t)
	check(t, h.SaveVectors(t.Context(), b, [][]float32{meaning(b.Texts[0].Text)}))
	equal(t, "found by the second of what it knows", len(h.means(in, "n", "gp")), 1)
	equal(t, "and of what the first knows", len(h.means(in, "n", "feline")), 0)
	if got := h.embed("m", meaning); len(got) != 1 || got[0] != "the doctor is nice" {
		t.Errorf("of the first again: %q", got)
	}
	// The same name makes other numbers.
	half := func(s string) []float32 { return meaning(s)[:128] }
	h.remember(in, "my bike is blue")
	if got := h.embed("m", half); len(got) != 4 {
		t.Errorf("by other numbers: %q", got)
	}
	equal(t, "old numbers are not mixed in", len(h.means(in, "m", "feline")), 0)
	equal(t, "vectors", h.count(`SELECT count(*) FROM vector`), 4)
}

func TestVectorsThatAreNoneAreRefused(t *testing.T) {
	h := newHome(t)
	h.remember(h.private(h.ann), "my car is red")
	h.remember(h.private(h.ann), "my cat is red")
	b := must(h.Unembedded(t.Context(), "m", 9))(t)
	for name, vectors := range map[string][][]float32{"too few": {meaning("x")}, "of two lengths": {meaning("x"), meaning("x")[:4]}, "too long": {make([]float32, maxDim+1), nil}} {
		if h.SaveVectors(t.Context(), b, vectors) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	nan := meaning("x")
	nan[3] = float32(math.NaN())
	check(t, h.SaveVectors(t.Context(), b, [][]float32{nan, make([]float32, testDim)}))
	equal(t, "vectors", h.count(`SELECT count(*) FROM vector`), 0)
	equal(t, "left", must(h.Unembedded(t.Context(), "m", 9))(t).Empty(), true)
}

// Vectors are not what the last room on a disk is for.
func TestNoVectorsOnAFullDisk(t *testing.T) {
	h := newHome(t)
	h.remember(h.private(h.ann), "my car is red")
	b := must(h.Unembedded(t.Context(), "m", 9))(t)
	h.strain.Store(&FullError{})
	var full *FullError
	if err := h.SaveVectors(t.Context(), b, [][]float32{meaning("car")}); !errors.As(err, &full) {
		t.Errorf("error %v", err)
	}
	h.strain.Store(nil)
	equal(t, "made afterwards", len(h.embed("m", meaning)), 1)
}

// What is nearest by the numbers themselves is what is found, also when it must be chosen from thousands by signs.
func TestNearestOfThousands(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	r := rand.New(rand.NewPCG(3, 4))
	query := meaning("needle")
	manyVectors(t, h, in.Conversation, 9000, func(i int) []float32 {
		out := make([]float32, testDim)
		for k := range out {
			out[k] = float32(r.NormFloat64())
			if i == 17 || i == 8888 {
				out[k] = query[k] + .8*out[k]
			}
		}
		return out
	})
	embedding := int64(h.count(`SELECT id FROM embedding`))
	found := must(h.nearest(t.Context(), embedding, vectorPlace{"said", in.Conversation}, ofLengthOne(query)))(t)
	for _, n := range likest(found, 2) {
		if n != 18 && n != 8889 {
			t.Errorf("found %d among the best: %v", n, found)
		}
	}
	if len(found) > 20 || found[0].cos < .7 || found[0].cos > .9 {
		t.Errorf("found %v", found)
	}
}

// manyVectors puts vectors of messages that need not be there into a conversation.
func manyVectors(t testing.TB, h *home, conversation int64, n int, of func(i int) []float32) {
	t.Helper()
	h.do(func(tx *Tx) error {
		number, err := tx.embeddingOf(EmbeddingBatch{model: "m"}, testDim)
		for i := range n {
			if err != nil {
				return err
			}
			values := ofLengthOne(of(i))
			scale, whole := bytesOf(values)
			_, err = tx.exec(`INSERT INTO vector(reach, place, item, embedding_id, sign, scale, whole) VALUES('said',?,?,?,?,?,?)`, conversation, i+1, number, signsOf(values), scale, whole)
		}
		return err
	})
}

// The scope stands twice in a search by meaning: in what is read, and in what is made of it. Each holds alone.
func TestMEM10MEM11ScopeHoldsInBothHalvesOfASearchByMeaning(t *testing.T) {
	h := newHome(t)
	in, bobs := h.private(h.ann), h.private(h.bob)
	h.talk(h.ann, "Ann hides the kitten", "yes I see")
	h.talk(h.bob, "Bob hides the kitten", "yes I see")
	h.remember(in, "Ann has a kitten")
	h.remember(bobs, "Bob has a kitten")
	h.embed("m", meaning)
	for _, p := range (Scope{Person: in.Person, Conversation: in.Conversation, Group: true}).memoryPlaces() {
		if p.reach == "person" {
			t.Error("a group reads what is a person's own")
		}
	}
	number := int64(h.count(`SELECT id FROM embedding`))
	for _, p := range []vectorPlace{{"said", in.Conversation}, {"person", in.Person}} {
		if got := must(h.nearest(t.Context(), number, p, ofLengthOne(meaning("kitten"))))(t); len(got) != 1 {
			t.Errorf("in %v are %v", p, got)
		}
	}
	h.do(func(tx *Tx) error { // as no event does it
		_, err := tx.exec(`UPDATE vector SET place = CASE reach WHEN 'said' THEN ? ELSE ? END`, bobs.Conversation, bobs.Person)
		return err
	})
	for _, got := range h.means(bobs, "m", "feline") {
		if !strings.Contains(got, "Bob") {
			t.Errorf("Bob finds %q", got)
		}
	}
}
