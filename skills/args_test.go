package skills

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

var mixed = Tool{Name: "mixed", Schema: []byte(`{"type":"object","properties":{
	"id":{"type":"integer"},"text":{"type":"string"},"loud":{"type":"boolean"},"mode":{"type":"string","enum":["soft","hard"]}},"required":["id","text"]}`)}

var bare = Tool{Name: "bare", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}

func TestArgumentsBecomeCanonical(t *testing.T) {
	for _, c := range []struct {
		tool      Tool
		raw, want string
	}{
		{mixed, `{"text":"x","id":7}`, `{"id":7,"text":"x"}`},
		{mixed, "\n { \"id\" : 7 , \"text\" : \"x\" } \n", `{"id":7,"text":"x"}`},
		{mixed, `"{\"id\": 7, \"text\": \"x\"}"`, `{"id":7,"text":"x"}`}, // an object inside a string
		{mixed, `{"id":7,"text":"x","loud":null}`, `{"id":7,"text":"x"}`},
		{mixed, `{"id":7,"text":"x","loud":false,"mode":"hard"}`, `{"id":7,"loud":false,"mode":"hard","text":"x"}`},
		{mixed, `{"id":-9007199254740993,"text":"\u00e9"}`, `{"id":-9007199254740993,"text":"é"}`},
		// What can be meant in one way only.
		{mixed, `{"id":"7","text":"x"}`, `{"id":7,"text":"x"}`},
		{mixed, `{"id":" -7 ","text":"7"}`, `{"id":-7,"text":"7"}`},
		{mixed, `{"id":7.00,"text":"x"}`, `{"id":7,"text":"x"}`},
		{mixed, `{"id":7,"text":"x","loud":"False"}`, `{"id":7,"loud":false,"text":"x"}`},
		{mixed, `{"id":7,"text":"a,} b",}`, `{"id":7,"text":"a,} b"}`},
		{mixed, "```json\n{\"id\": 7, \"text\": \"x\"}\n```", `{"id":7,"text":"x"}`},
		{mixed, `"\"{\\\"id\\\": 7, \\\"text\\\": \\\"x\\\"}\""`, `{"id":7,"text":"x"}`}, // a string in a string
		{bare, ``, `{}`},
		{bare, `   `, `{}`},
		{bare, `""`, `{}`},
		{bare, `null`, `{}`},
		{bare, `{}`, `{}`},
		{bare, `{"path":""}`, `{"path":""}`},
	} {
		got, err := Canonical(c.tool, json.RawMessage(c.raw))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; expected %s", c.raw, got, err, c.want)
		}
	}
}

func TestLOOP13BrokenArgumentsAreRefusedWithTheFaultNamed(t *testing.T) {
	for name, c := range map[string]struct{ raw, wrong string }{
		"cut off":             {`{"id": 7, "text": `, "not complete JSON"},
		"cut off in a string": {`{"id": 7, "text": "x`, "not complete JSON"},
		"cut off at the end":  {`{"id": 7, "text": "x"`, "not complete JSON"},
		"cut off in a key":    {`{"id": 7, "te`, "not complete JSON"},
		"nothing":             {``, "not complete JSON"},
		"plain text":          {`id=7`, "not complete JSON"},
		"null":                {`null`, "not a JSON object"},
		"a list":              {`[]`, "not a JSON object"},
		"a list of one":       {`[{"id": 7, "text": "x"}]`, "not a JSON object"},
		"a number":            {`7`, "not a JSON object"},
		"a string":            {`"id 7"`, "not complete JSON"},
		"string in a string":  {`"\"{\\\"id\\\": 7}\""`, "mixed needs the argument text"},
		"wrong inside string": {`"{\"id\": \"seven\", \"text\": \"x\"}"`, "argument id of mixed must be of type integer, not a text"},
		"text for a number":   {`{"id": "7 or 8", "text": "x"}`, "argument id of mixed must be of type integer, not a text"},
		"a fraction as text":  {`{"id": "7.5", "text": "x"}`, "argument id of mixed must be of type integer, not a text"},
		"a number with zeros": {`{"id": "007", "text": "x"}`, "argument id of mixed must be of type integer, not a text"},
		"a comma too many":    {`{"id": 7,, "text": "x"}`, "not complete JSON"},
		"a cut-off comma":     {`{"id": 7, "text": "x",`, "not complete JSON"},
		"half a fence":        {"```json\n{\"id\": 7, \"text\": \"x\"}", "not complete JSON"},
		"number for a text":   {`{"id": 7, "text": 5}`, "argument text of mixed must be of type string, not a number"},
		"list for a text":     {`{"id": 7, "text": ["x"]}`, "argument text of mixed must be of type string"},
		"object for a text":   {`{"id": 7, "text": {"x": 1}}`, "argument text of mixed must be of type string"},
		"null for a text":     {`{"id": 7, "text": null}`, "argument text of mixed must be of type string"},
		"bool for a number":   {`{"id": true, "text": "x"}`, "argument id of mixed must be of type integer, not true or false"},
		"text for a bool":     {`{"id": 7, "text": "x", "loud": "yes"}`, "argument loud of mixed must be of type boolean"},
		"a fraction":          {`{"id": 7.5, "text": "x"}`, "must be a whole number"},
		"too big":             {`{"id": 1e30, "text": "x"}`, "must be a whole number"},
		"not in the list":     {`{"id": 7, "text": "x", "mode": "loud"}`, "must be one of soft, hard"},
		"unknown":             {`{"id": 7, "text": "x", "colour": "red"}`, `mixed has no argument "colour"`},
		"another case":        {`{"id": 7, "Text": "x"}`, `mixed has no argument "Text"`},
		"twice":               {`{"id": 7, "text": "x", "id": 8}`, `"id" is there twice`},
		"twice, escaped":      {`{"id": 7, "text": "x", "\u0069d": 8}`, `"id" is there twice`},
		"missing":             {`{"id": 7}`, "mixed needs the argument text"},
		"empty":               {`{"id": 7, "text": ""}`, "mixed needs the argument text"},
		"something behind":    {`{"id": 7, "text": "x"} and more`, "followed by something that is no JSON"},
		"two objects":         {`{"id": 7, "text": "x"}{"id": 8, "text": "y"}`, "followed by something that is no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Canonical(mixed, json.RawMessage(c.raw))
			if err == nil {
				t.Fatalf("%s became %s", c.raw, got)
			}
			contains(t, err.Error(), c.wrong, "mixed")
		})
	}
}

func TestLOOP13RefusalShowsWhatACallLooksLike(t *testing.T) {
	_, err := Canonical(mixed, json.RawMessage(`[]`))
	if err == nil {
		t.Fatal("a list is taken")
	}
	contains(t, err.Error(), `{"id": integer, "loud": boolean (optional), "mode": string (optional), "text": string}`)
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"id":7,"text":"x"}`, `"{\"id\": 7, \"text\": \"x\"}"`, `{"id":7,"text":"x","loud":null}`, `null`, `[]`, `{"id":1e3,"text":"\ud800"}`, `{"id":7,"text":"x"`, `{"id":7,"id":8}`,
		"{\"id\":1,\"text\":\"\xff\"}", strings.Repeat("[", 2000), `{"text":"<&>","id":-0}`, `{"id":"7","text":"x",}`, "```{}```", `{"id":-0.0,"text":"\\\",}"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Canonical(mixed, raw)
		if err != nil {
			if got != nil {
				t.Errorf("%q is refused and yet gives %s", raw, got)
			}
			return
		}
		again, err := Canonical(mixed, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s is not canonical: %s, %v", got, again, err)
		}
		var args struct {
			ID   *int64  `json:"id"`
			Text *string `json:"text"`
			Loud *bool   `json:"loud"`
			Mode *string `json:"mode"`
		}
		dec := json.NewDecoder(bytes.NewReader(got))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&args); err != nil || args.ID == nil || args.Text == nil || *args.Text == "" {
			t.Errorf("%q became %s, which does not hold what is required: %v", raw, got, err)
		}
	})
}
