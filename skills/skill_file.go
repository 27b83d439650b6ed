package skills

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// skillFile is the name of a skill's own file, in exactly this spelling.
const skillFile = "SKILL.md"

// Bounds of a SKILL.md, in bytes.
const (
	maxSkillFile  = 256 << 10
	maxSkillFront = 16 << 10
)

// skill is what a SKILL.md says of itself.
type skill struct {
	name  string // of its folder too
	about string // one line
	text  string // the whole file
	body  int    // where the instructions begin in it, in bytes
}

// skillName is the form of a name in the public Agent Skills format: small letters, digits and single hyphens.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const maxSkillName = 64

// parseSkill reads a SKILL.md: front matter between lines of three hyphens, then the instructions. An error is a clause
// that says what is wrong with the file.
func parseSkill(folder string, data []byte) (skill, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return skill{}, errors.New("it is not text")
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return skill{}, errors.New("its first line is not ---, so it says neither its name nor what it is for")
	}
	front, body, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		if front, ok = strings.CutSuffix("\n"+rest, "\n---"); !ok {
			return skill{}, errors.New("the second --- is missing, which ends the part with name and description")
		}
	}
	if len(front) > maxSkillFront {
		return skill{}, fmt.Errorf("the part above the second --- has %s bytes and may have %s", thousands(len(front)), thousands(maxSkillFront))
	}
	name, about, err := frontMatter(front)
	if err != nil {
		return skill{}, err
	}
	switch {
	case name != folder:
		return skill{}, fmt.Errorf("its name is %s and its folder is called %s; they must be the same", visible(shown(oneLine(name))), folder)
	case about == "":
		return skill{}, errors.New("its description is missing")
	case strings.TrimSpace(body) == "":
		return skill{}, errors.New("it holds no instructions")
	}
	return skill{name: name, about: about, text: text, body: len(text) - len(body)}, nil
}

// frontMatter reads the two fields that count; the others of the format are for other programs.
func frontMatter(front string) (name, about string, err error) {
	defer func() {
		if recover() != nil { // the parser has been seen to break on odd texts
			name, about, err = "", "", errors.New("the part above the second --- cannot be read as YAML")
		}
	}()
	file, err := parser.ParseBytes([]byte(front), 0)
	if err != nil {
		return "", "", fmt.Errorf("the part above the second --- cannot be read as YAML (a value that holds a colon needs quotes): %s", oneLine(yaml.FormatError(err, false, false)))
	}
	fields := map[string]string{}
	for _, doc := range file.Docs {
		pairs, ok := doc.Body.(ast.MapNode)
		if !ok {
			continue
		}
		// Only the two are looked at, and nothing is unfolded: a few bytes can be made to stand for gigabytes.
		for it := pairs.MapRange(); it.Next(); {
			if key := it.Key().String(); key == "name" || key == "description" {
				fields[key] = scalar(it.Value())
			}
		}
	}
	about = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, oneLine(fields["description"]))
	return strings.TrimSpace(fields["name"]), about, nil
}

// scalar is a value that is one text; "" for anything else.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode:
		return n.GetToken().Value
	}
	return ""
}
