package markup

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// oracle is Telegram's own parser, in a process of its own.
type oracle struct {
	in  io.Writer
	out *bufio.Reader
}

func newOracle(t *testing.T) *oracle {
	if os.Getenv("TDJSON") == "" {
		t.Skip("TDJSON names no libtdjson.so: Telegram's own parser is not asked; `make peers` fetches it and asks")
	}
	c := exec.CommandContext(t.Context(), "python3", "testdata/tdlib.py")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return &oracle{in, bufio.NewReader(out)}
}

// formatted is TDLib's formattedText, or an error.
type formatted struct {
	Type     string `json:"@type"`
	Message  string `json:"message"`
	Text     string `json:"text"`
	Entities []struct {
		Offset, Length int
		Type           struct {
			Type     string `json:"@type"`
			Language string `json:"language"`
			URL      string `json:"url"`
		}
	}
}

func (o *oracle) ask(request any) (formatted, error) {
	var answer formatted
	b, err := json.Marshal(request)
	if err != nil {
		return answer, err
	}
	if _, err := fmt.Fprintf(o.in, "%s\n", b); err != nil {
		return answer, err
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return answer, err
	}
	if answer.Type == "error" {
		return answer, fmt.Errorf("refused: %s", answer.Message)
	}
	return answer, nil
}

// known pairs our types with TDLib's.
var known = map[string]string{
	Bold: "textEntityTypeBold", Italic: "textEntityTypeItalic", Strike: "textEntityTypeStrikethrough", Code: "textEntityTypeCode", Pre: "textEntityTypePre",
	Quote: "textEntityTypeBlockQuote", Link: "textEntityTypeTextUrl",
}

type kind struct {
	Type     string `json:"@type"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

type tdEntity struct {
	Type   string `json:"@type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	Kind   kind   `json:"type"`
}

// takes offers a piece as it is sent: text and entities. An error is TDLib's.
func (o *oracle) takes(t Text) error {
	entities := []tdEntity{}
	for _, e := range t.Entities {
		k := kind{Type: known[e.Type], URL: e.URL}
		if e.Language != "" {
			k.Type, k.Language = "textEntityTypePreCode", e.Language
		}
		entities = append(entities, tdEntity{"textEntity", e.Offset, e.Length, k})
	}
	_, err := o.ask(map[string]any{"@type": "getMarkdownText", "text": map[string]any{"@type": "formattedText", "text": t.Plain, "entities": entities}})
	return err
}

// reads offers the letters of a piece as HTML, where their places and not anybody's counting say where a style begins, and
// compares what TDLib counts with what we counted. want is the piece in letters: its offsets count runes.
func (o *oracle) reads(t Text, want letters) error {
	page := want.html()
	got, err := o.ask(map[string]any{"@type": "parseTextEntities", "text": page, "parse_mode": map[string]any{"@type": "textParseModeHTML"}})
	if err != nil {
		return err
	}
	if got.Text != t.Plain {
		return fmt.Errorf("the text is %q, want %q", got.Text, t.Plain)
	}
	var theirs []Entity
	for _, e := range got.Entities {
		name := e.Type.Type
		if name == "textEntityTypePreCode" {
			name = known[Pre]
		}
		for ours, td := range known {
			if td == name {
				theirs = append(theirs, Entity{Type: ours, Offset: e.Offset, Length: e.Length})
			}
		}
	}
	n := len(utf16.Encode([]rune(t.Plain)))
	a, b := styles(n, t.Entities), styles(n, theirs)
	for unit := range a {
		if a[unit] != b[unit] {
			return fmt.Errorf("unit %d is %q with us and %q with Telegram\nin %.300q", unit, a[unit], b[unit], page)
		}
	}
	return nil
}

// styles gives the styles of each unit that shows something. Within code Telegram knows no others, and it leaves out those
// of white space.
func styles(units int, entities []Entity) []string {
	out := make([]string, units)
	order := []string{Pre, Code, Quote, Bold, Italic, Strike, Link}
	for _, style := range order {
		for _, e := range entities {
			if e.Type != style {
				continue
			}
			for i := e.Offset; i < e.Offset+e.Length && i < units; i++ {
				if out[i] != style && !strings.HasPrefix(out[i], Pre) && !strings.HasPrefix(out[i], Code) {
					out[i] += style + " "
				}
			}
		}
	}
	return out
}

// fault spoils a rendered text, or the pieces it was cut into.
type fault struct {
	text   func(Text) Text
	pieces func([]Text) []Text
}

// judged has TDLib take and read each piece of some documents, up to the first that is wrong. It gives how many were right.
func (o *oracle) judged(docs []string, f fault) (int, error) {
	pieces := 0
	for _, doc := range docs {
		want, err := inLetters(doc)
		if err != nil {
			return pieces, fmt.Errorf("%w\nin %.300q", err, doc)
		}
		whole := Render(doc)
		if f.text != nil {
			whole = f.text(whole)
		}
		for _, limit := range limits {
			cut := whole.Split(limit, 100)
			if f.pieces != nil {
				cut = f.pieces(cut)
			}
			rest := want
			for _, p := range cut {
				var shown letters
				if shown, rest, err = rest.part(p.Plain); err != nil {
					return pieces, fmt.Errorf("%w\nin %.300q", err, doc)
				}
				if err := o.takes(p); err != nil {
					return pieces, fmt.Errorf("%w\n%q\n%+v\nin %.300q", err, p.Plain, p.Entities, doc)
				}
				if err := o.reads(p, shown); err != nil {
					return pieces, fmt.Errorf("%w\nin %.300q", err, doc)
				}
				pieces++
			}
		}
	}
	return pieces, nil
}

// judgedDocuments are those of the corpus and 4,000 composed ones.
func judgedDocuments() []string {
	docs := slices.Clone(corpus)
	r := rand.New(rand.NewPCG(3, 4))
	for range documents {
		doc, _ := document(r)
		docs = append(docs, doc)
	}
	return docs
}

// TestTelegramsOwnParserAgrees has TDLib take and read each piece of 4,000 documents.
func TestTelegramsOwnParserAgrees(t *testing.T) {
	docs := judgedDocuments()
	pieces, err := newOracle(t).judged(docs, fault{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("TDLib judged %d parts of %d documents: each taken, with the same text and styles", pieces, len(docs))
}

// TestTelegramsOwnParserSeesAFault shows that the comparison bites: with a fault in counting UTF-16 units the same documents
// are found wrong.
func TestTelegramsOwnParserSeesAFault(t *testing.T) {
	docs, o := judgedDocuments()[len(corpus):], newOracle(t)
	for name, f := range map[string]fault{
		"rendering counts letters": {text: func(whole Text) Text { return shifted(whole, whole.Plain) }},
		"cutting counts letters": {pieces: func(cut []Text) []Text {
			for i := 1; i < len(cut); i++ {
				cut[i] = shifted(cut[i], cut[i-1].Plain)
			}
			return cut
		}},
	} {
		right, err := o.judged(docs, f)
		if err == nil {
			t.Errorf("%s: TDLib does not see it", name)
			continue
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		t.Logf("%s: seen after %d parts: %s", name, right, first)
	}
	wrong := Render("😀 **bold**")
	wrong.Entities[0].Offset = 1
	if err := o.takes(wrong); err == nil {
		t.Error("TDLib takes a style that begins in the middle of a pair")
	}
}

// shifted moves each style by the units that are not letters in what stands before it.
func shifted(t Text, before string) Text {
	out := Text{Plain: t.Plain, Entities: slices.Clone(t.Entities)}
	units := utf16.Encode([]rune(before))
	for i, e := range out.Entities {
		ahead := units
		if before == t.Plain {
			ahead = units[:e.Offset]
		}
		out.Entities[i].Offset = max(0, e.Offset-(len(ahead)-len(utf16.Decode(ahead))))
	}
	return out
}
