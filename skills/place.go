package skills

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// skillScheme begins the path of a file that belongs to a skill: skill:NAME/FILE.
const skillScheme = "skill:"

// place is a file or folder that may be read, in the workspace or in a skill.
type place struct {
	root  *os.Root // the caller closes it
	where string   // what the root is, in a sentence
	name  string   // in the root
	label string   // the path as the model writes it
	skill bool
}

// place finds what a path is about. What it names is for os.Root to judge.
func (w workspace) place(given string) (place, error) {
	inSkill, ok := strings.CutPrefix(strings.TrimSpace(given), skillScheme)
	if !ok {
		name, err := localPath(given)
		if err != nil {
			return place{}, err
		}
		root, err := w.open()
		return place{root: root, where: theWorkspace, name: name, label: name}, err
	}
	path, err := localPath(inSkill)
	if err != nil {
		return place{}, err
	}
	skill, name, _ := strings.Cut(path, "/")
	if name == "" {
		name = "."
	}
	root, err := w.shelf.open(skill)
	return place{root: root, where: "the skill " + skill, name: name, label: skillScheme + path, skill: true}, err
}

// offset is what may stand behind a file's name: how many characters have been read already.
var offset = regexp.MustCompile(`^(.+)#([0-9]{1,9})$`)

// goOn takes an offset off the name, unless there is a file that is called like that.
func (p *place) goOn() int {
	m := offset.FindStringSubmatch(p.name)
	if m == nil {
		return 0
	}
	if _, err := p.root.Lstat(p.name); !errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	skip, err := strconv.Atoi(m[2])
	if err != nil {
		return 0
	}
	p.name, p.label = m[1], strings.TrimSuffix(p.label, "#"+m[2])
	return skip
}

// fenced gives the text of a file; that of a skill is marked as somebody else's.
func (p place) fenced(text string) string {
	if p.skill {
		return quoted(text)
	}
	return "\n" + text
}
