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
)

// oracle is Telegram's own parser, in a process of its own.
type oracle struct {
	in  io.Writer
	out *bufio.Reader
}

func newOracle(t *testing.T) *oracle {
	if os.Getenv("TDJSON") == "" {
		t.Skip("TDJSON names no libtdjson.so (npm install prebuilt-tdlib): Telegram's own parser is not asked")
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

// reads offers the same as HTML, where the letters and not our counting say where a style begins, and compares.
func (o *oracle) reads(t Text) error {
	page := asHTML(t)
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
	n := Units(t.Plain)
	if a, b := styles(n, t.Entities), styles(n, theirs); !slices.Equal(a, b) {
		return fmt.Errorf("the styles differ\nours   %q\ntheirs %q\nin %q", a, b, page)
	}
	return nil
}

// asHTML writes a text with Telegram's tags. No text holds control characters, so three can stand for what is meant as HTML.
func asHTML(t Text) string {
	tags := map[string]string{Bold: "b", Italic: "i", Strike: "s", Code: "code", Quote: "blockquote"}
	marked := t.wrapped(func(e Entity) (string, string) {
		switch {
		case e.Type == Link:
			return "\x01a href=\x03" + e.URL + "\x03\x02", "\x01/a\x02"
		case e.Type == Pre && e.Language != "":
			return "\x01pre\x02\x01code class=\x03language-" + e.Language + "\x03\x02", "\x01/code\x02\x01/pre\x02"
		case e.Type == Pre:
			return "\x01pre\x02", "\x01/pre\x02"
		}
		return "\x01" + tags[e.Type] + "\x02", "\x01/" + tags[e.Type] + "\x02"
	}, "")
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\x01", "<", "\x02", ">", "\x03", `"`).Replace(marked)
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

// TestTelegramsOwnParserAgrees has TDLib take and read each piece of 4,000 documents.
func TestTelegramsOwnParserAgrees(t *testing.T) {
	o := newOracle(t)
	docs := slices.Clone(corpus)
	r := rand.New(rand.NewPCG(3, 4))
	for range documents {
		doc, _ := document(r)
		docs = append(docs, doc)
	}
	pieces := 0
	for _, doc := range docs {
		whole := Render(doc)
		for _, limit := range limits {
			for _, p := range whole.Split(limit, 100) {
				pieces++
				if err := o.takes(p); err != nil {
					t.Fatalf("%v\n%q\n%+v\nin %.300q", err, p.Plain, p.Entities, doc)
				}
				if err := o.reads(p); err != nil {
					t.Fatalf("%v\nin %.300q", err, doc)
				}
			}
		}
	}
	t.Logf("%d pieces", pieces)
}

// TestTelegramsOwnParserSeesAFault shows that the comparison bites: offsets counted in letters instead of units are seen.
func TestTelegramsOwnParserSeesAFault(t *testing.T) {
	o := newOracle(t)
	right := Render("😀😀 **bold** 😀 `code`")
	if err := o.reads(right); err != nil {
		t.Fatal(err)
	}
	wrong := Text{Plain: right.Plain, Entities: slices.Clone(right.Entities)}
	wrong.Entities[0].Offset -= 2
	shown := styles(Units(right.Plain), right.Entities)
	if slices.Equal(shown, styles(Units(right.Plain), wrong.Entities)) {
		t.Error("the comparison does not see a moved style")
	}
	wrong.Entities[0].Offset = 1
	if err := o.takes(wrong); err == nil {
		t.Error("TDLib takes a style that begins in the middle of a pair")
	}
}
