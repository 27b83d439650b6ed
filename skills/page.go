package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// page is what NAME.md says of a tool:
//
//	# NAME
//
//	What the model is told: the first paragraph, and nothing below it.
//
//	## Arguments
//	one block of JSON: the schema
//
//	## Effect
//	reads, sets or acts
//
//	## When the outcome is unknown
//	one sentence
//
// Everything else is for whoever maintains the tool.
type page struct {
	about   string
	schema  json.RawMessage // compact, so that its bytes do not depend on how the page is laid out
	effect  Effect
	unknown string
}

// The sections that a page must have.
const (
	sectionArguments = "Arguments"
	sectionEffect    = "Effect"
	sectionUnknown   = "When the outcome is unknown"
)

// parsePage reads a tool's page. What is missing, twice there or not as described is an error, since the page is part of
// the prompt and of what happens after a crash.
func parsePage(name, text string) (page, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	head, _, _ := strings.Cut(text, "\n## ")
	title, body, ok := strings.Cut(head, "\n")
	if !ok || title != "# "+name {
		return page{}, fmt.Errorf("read %s.md: its first line is not %q", name, "# "+name)
	}
	about, _, _ := strings.Cut(strings.TrimSpace(body), "\n\n")
	if about == "" {
		return page{}, fmt.Errorf("read %s.md: it does not tell the model what the tool is for", name)
	}
	sections, err := sectionsOf(text)
	if err != nil {
		return page{}, fmt.Errorf("read %s.md: %w", name, err)
	}
	p := page{about: oneLine(about)}
	if p.schema, err = jsonBlock(sections[sectionArguments]); err != nil {
		return page{}, fmt.Errorf("read %s.md: section %s: %w", name, sectionArguments, err)
	}
	if _, err := parseSchema(p.schema); err != nil {
		return page{}, fmt.Errorf("read %s.md: %w", name, err)
	}
	effect, _, _ := strings.Cut(strings.TrimSpace(sections[sectionEffect]), "\n")
	switch p.effect = Effect(effect); p.effect {
	case Reads, Sets, Acts:
	default:
		return page{}, fmt.Errorf("read %s.md: section %s begins with %q, not with reads, sets or acts", name, sectionEffect, effect)
	}
	unknown, _, _ := strings.Cut(strings.TrimSpace(sections[sectionUnknown]), "\n\n")
	if p.unknown = oneLine(unknown); !strings.HasSuffix(p.unknown, ".") {
		return page{}, fmt.Errorf("read %s.md: section %q holds no sentence", name, sectionUnknown)
	}
	return p, nil
}

// sectionsOf gives the text under each second-level heading. A heading inside a fenced block is none.
func sectionsOf(text string) (map[string]string, error) {
	sections, current, fenced := map[string]string{}, "", false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if heading, ok := strings.CutPrefix(line, "## "); ok && !fenced {
			current = strings.TrimSpace(heading)
			if _, twice := sections[current]; twice {
				return nil, fmt.Errorf("section %q is there twice", current)
			}
			sections[current] = ""
			continue
		}
		if current != "" {
			sections[current] += line + "\n"
		}
	}
	if fenced {
		return nil, errors.New("a block of code has no end")
	}
	for _, need := range []string{sectionArguments, sectionEffect, sectionUnknown} {
		if strings.TrimSpace(sections[need]) == "" {
			return nil, fmt.Errorf("section %q is missing or empty", need)
		}
	}
	return sections, nil
}

// jsonBlock gives the only block of JSON of a section.
func jsonBlock(section string) (json.RawMessage, error) {
	_, rest, ok := strings.Cut(section, "```json\n")
	if !ok {
		return nil, errors.New("it has no block of JSON")
	}
	block, rest, ok := strings.Cut(rest, "```\n")
	if !ok || strings.Contains(rest, "```") {
		return nil, errors.New("it has more than one block of code")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(block)); err != nil {
		return nil, fmt.Errorf("read its JSON: %w", err)
	}
	return compact.Bytes(), nil
}

// oneLine joins the lines of a paragraph.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
