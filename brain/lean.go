package brain

import (
	_ "embed" // lean.md
	"encoding/json"
	"strings"
)

//go:embed lean.md
var leanInstructions string

// The lean profile is for models that read 4,096 tokens or less: there the full instructions and tools would take half of
// what there is. It holds the same tools and the same arguments, told in fewer words. It is chosen by the context alone, so
// that it is the same for every request to a model.
const (
	leanContext = 4096
	leanPersona = 300 // characters
	leanAbout   = 90  // characters
)

func isLean(b Backend) bool { return b.Context > 0 && b.Context <= leanContext }

// leanSpec keeps a tool's first sentence, and of its arguments the names, types and choices. The last bytes of what is told
// of it are a list of what there is, which stays.
func leanSpec(spec ToolSpec, last int) ToolSpec {
	list := spec.About[len(spec.About)-last:]
	about := strings.Join(strings.Fields(spec.About[:len(spec.About)-last]), " ")
	if end := strings.Index(about, ". "); end >= 0 {
		about = about[:end+1]
	}
	spec.About = shorten(about, leanAbout) + list
	var full struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type string `json:"type"`
			Enum []any  `json:"enum,omitempty"`
		} `json:"properties"`
		Required []string `json:"required,omitempty"`
	}
	if json.Unmarshal(spec.Schema, &full) != nil || full.Type != "object" {
		return spec
	}
	if short, err := json.Marshal(full); err == nil {
		spec.Schema = short
	}
	return spec
}
