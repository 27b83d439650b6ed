package config

import "strings"

// Example is a file with every key, each with its comment. Keys with a default are set to it; the others are switched off
// by a # at the left edge. It loads as it is, and loads with every # before a setting taken away.
func Example() []byte {
	e := &example{}
	e.comment("Hearth's settings. Everything is optional: without this file the agent talks in the terminal and needs no model.", "")
	e.comment("A setting that is switched off has its # at the very left; take that away and keep the spaces behind it.", "")
	e.comment("${NAME} takes a value from the environment, and HEARTH_BRAIN__MODEL=cloud overrides brain.model. `hearth check` finds mistakes.", "")
	for _, f := range schema.fields {
		e.text.WriteString("\n")
		e.write(f, "", false)
	}
	return []byte(e.text.String())
}

// moreModels are further entries below the one that shows the keys one by one; they have what only the cloud needs.
var moreModels = []string{
	"cloud:",
	"  provider: openai",
	"  url: https://api.openai.com/v1",
	"  model: some-model",
	`  api_key: "${OPENAI_API_KEY}"`,
	"  price: {input: 0.25, output: 2.00, cache_read: 0.03, cache_write: 0.25}",
	"other:",
	"  provider: anthropic",
	"  model: some-model",
	`  api_key: "${ANTHROPIC_API_KEY}"`,
}

type example struct{ text strings.Builder }

// write writes a key and what is below it. A section is off when nothing in it has a default.
func (e *example) write(f *field, indent string, off bool) {
	off = off || !showsPreset(f)
	e.comment(f.doc, indent)
	switch f.shape {
	case section:
		e.line(f.name+":", indent, off)
		e.below(f, indent+"  ", off)
	case rows:
		e.line(f.name+":", indent, off)
		for i, c := range f.fields {
			e.comment(c.doc, indent+"    ")
			lead := "    "
			if i == 0 {
				lead = "  - "
			}
			e.line(lead+c.name+": "+exampleOf(c), indent, off)
		}
	case entries:
		e.line(f.name+":", indent, off)
		e.line("  home:", indent, off)
		for _, c := range f.fields {
			if !inMoreModels(c) {
				e.write(c, indent+"    ", off)
			}
		}
		for _, more := range moreModels {
			name, _, _ := strings.Cut(strings.TrimSpace(more), ":")
			if c := f.child(name); c != nil && inMoreModels(c) {
				e.comment(c.doc, indent+"    ")
			}
			e.line("  "+more, indent, off)
		}
	default:
		e.line(f.name+": "+exampleOf(f), indent, off)
	}
}

func inMoreModels(f *field) bool { return f.name == "api_key" || f.name == "price" }

func (e *example) below(f *field, indent string, off bool) {
	for _, c := range f.fields {
		e.write(c, indent, off)
	}
}

// showsPreset reports whether the key, or a key in the section, is set in the example.
func showsPreset(f *field) bool {
	switch f.shape {
	case rows, entries:
		return false
	case section:
		for _, c := range f.fields {
			if showsPreset(c) {
				return true
			}
		}
		return false
	default:
		return f.preset != ""
	}
}

func exampleOf(f *field) string {
	if f.example != "" {
		return f.example
	}
	return f.preset
}

func (e *example) line(text, indent string, off bool) {
	if off {
		e.text.WriteString("#")
	}
	e.text.WriteString(indent + text + "\n")
}

// comment wraps a text.
func (e *example) comment(text, indent string) {
	const width = 118
	line := ""
	flush := func() { e.line("# "+line, indent, false); line = "" }
	for _, word := range strings.Fields(text) {
		if line != "" && len(indent)+len(line)+len(word)+3 > width {
			flush()
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		flush()
	}
}
