package wire

import (
	"encoding/json"
	"testing"
)

func TestOddSchemasDoNotSpoilTheGrammar(t *testing.T) {
	for schema, kept := range map[string]bool{
		`{"type":"object","properties":{}}`: true,
		`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}},"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"boolean"}},"required":["a"]}`:       true,
		`{"type":"object","properties":{"a":{"$ref":"https://example.org/x.json"}}}`:                           false,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"(?i)x"}}}`:                             false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`:                      false,
		`{"type":"object","properties":{"a":{}}}`:                                                              false,
		`{"type":"object","properties":{"a":{"type":["string","null"]}}}`:                                      false,
		`{"type":"array"}`: false, `{}`: false, `nonsense`: false, ``: false, `{"$defs":{},"type":"object"}`: false,
	} {
		got := string(grammarSafe(json.RawMessage(schema)))
		if kept && got != schema || !kept && got != `{"type":"object"}` {
			t.Errorf("%s became %s", schema, got)
		}
	}
}
