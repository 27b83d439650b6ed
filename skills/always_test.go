package skills

import (
	"encoding/json"
	"testing"
)

func TestAlwaysCoversNoMoreThanWasShown(t *testing.T) {
	for _, c := range []struct {
		of         func(json.RawMessage) string
		args, want string
	}{
		{everyLetter, `{"person":"Bob","text":"hi"}`, "message to Bob"},
		{everyLetter, `{"person":" bOB ","text":"other words"}`, "message to Bob"},
		{everyLetter, `{"person":"Eve","text":"hi"}`, "message to Eve"},
		{everyLetter, `{"person":"émile","text":"hi"}`, "message to Émile"},
		{everyLetter, `{"person":" "}`, `use of {"person":" "}`},
		{everyLetter, `[]`, "use of []"},
		{everyPage, `{"url":"https://Example.org/a?b=c"}`, "page of example.org"},
		{everyPage, `{"url":"http://example.org.evil.net/"}`, "page of example.org.evil.net"},
		{everyPage, `{"url":"https://example.org@evil.net/"}`, "page of evil.net"},
		{everyPage, `{"url":"::"}`, `use of {"url":"::"}`},
		{everyPage, `7`, "use of 7"},
		{everyCommand, `{"command":"ls -l"}`, "run of exactly ls -l"},
		{everyCommand, `{"command":"ls  -l "}`, "run of exactly ls  -l "},
		{everyCommand, `{"command":"ls\nrm"}`, "run of exactly the command whose SHA-256 begins with 28cf719593eeab233fddf8a6d8c26f46"},
		{everyCommand, `7`, "use of 7"},
	} {
		if got := c.of(json.RawMessage(c.args)); got != c.want {
			t.Errorf("%s covers every %s, want %s", c.args, got, c.want)
		}
	}
}
