package tgfake

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Telegram's limits of a text. Source: https://core.telegram.org/bots/api#sendmessage; the number of entities is what its
// clients report.
const (
	mostTextBytes = 32 << 10
	mostUnits     = 4096
	mostEntities  = 100
	mostData      = 64 // bytes of callback_data
)

// Entity is a styled piece of a text, in UTF-16 units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Button is a button under a message.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// text reads a text with its entities and refuses it as Telegram does. What it gives is what people see.
func text(p map[string]string) (string, []Entity, error) {
	words := p["text"]
	switch {
	case !utf8.ValidString(words):
		return "", nil, bad("strings must be encoded in UTF-8")
	case len(words) > mostTextBytes:
		return "", nil, bad("Text is too long")
	case empty(words):
		return "", nil, bad("message text is empty")
	}
	var entities []Entity
	if p["entities"] != "" {
		if err := json.Unmarshal([]byte(p["entities"]), &entities); err != nil {
			return "", nil, bad("can't parse entities: " + err.Error())
		}
	}
	units := utf16.Encode([]rune(words))
	first := len(units)
	for _, e := range entities {
		switch end := e.Offset + e.Length; {
		case e.Offset < 0 || e.Offset > len(units):
			return "", nil, bad(fmt.Sprintf("entity begins after the end of the text at UTF-16 offset %d", e.Offset))
		case e.Length <= 0 || end > len(units):
			return "", nil, bad(fmt.Sprintf("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, end))
		case inPair(units, e.Offset) || inPair(units, end):
			return "", nil, bad(fmt.Sprintf("entity beginning at UTF-16 offset %d begins or ends in a middle of a UTF-16 symbol", e.Offset))
		case e.Type == "text_link" && e.URL == "":
			return "", nil, bad("can't parse entities: there is no url in a text_link")
		}
		first = min(first, e.Offset)
	}
	if len(entities) > mostEntities {
		return "", nil, bad("ENTITIES_TOO_LONG")
	}
	// White space at the ends goes, but for that within the first entity.
	begin, end := 0, len(units)
	for begin < first && begin < end && unicode.IsSpace(rune(units[begin])) {
		begin++
	}
	for end > begin && unicode.IsSpace(rune(units[end-1])) {
		end--
	}
	if end-begin > mostUnits {
		return "", nil, bad("message is too long")
	}
	for i := range entities {
		entities[i].Offset -= begin
	}
	return string(utf16.Decode(units[begin:end])), entities, nil
}

func inPair(units []uint16, at int) bool {
	return at > 0 && at < len(units) && utf16.IsSurrogate(rune(units[at])) && units[at] >= 0xdc00
}

// empty reports whether nobody sees anything of a text.
func empty(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) && r != 0x3164 && r != 0x2800
	}) < 0
}

// keyboard reads the buttons of a request.
func keyboard(raw string) ([]Button, error) {
	if raw == "" {
		return nil, nil
	}
	var k struct {
		Rows [][]Button `json:"inline_keyboard"`
	}
	if err := json.Unmarshal([]byte(raw), &k); err != nil {
		return nil, bad("can't parse inline keyboard button")
	}
	var out []Button
	for _, row := range k.Rows {
		if len(row) > 8 {
			return nil, bad("reply markup is too long")
		}
		for _, b := range row {
			if b.Text == "" {
				return nil, bad("text buttons are unallowed in the inline keyboard")
			}
			if len(b.Data) < 1 || len(b.Data) > mostData {
				return nil, bad("BUTTON_DATA_INVALID")
			}
			out = append(out, b)
		}
	}
	if len(out) > 100 {
		return nil, bad("reply markup is too long")
	}
	return out, nil
}

// automatic are the entities that Telegram finds in what people write.
var automatic = regexp.MustCompile(`(?:^|[\s(])(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?|@[A-Za-z0-9_]{3,32})`)

// find gives a text's mentions and commands.
func find(words string) []any {
	var out []any
	for _, at := range automatic.FindAllStringSubmatchIndex(words, -1) {
		kind := "mention"
		if words[at[2]] == '/' {
			kind = "bot_command"
		}
		out = append(out, map[string]any{"type": kind, "offset": len(utf16.Encode([]rune(words[:at[2]]))), "length": at[3] - at[2]})
	}
	return out
}
