package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Shelf is the folder in which skills are installed, each a folder with a SKILL.md in it. Only a person puts one there;
// reading one runs nothing. Names that a model gives are looked up among those that were found and never become a path.
type Shelf struct {
	dir string
	log *slog.Logger

	mu    sync.Mutex
	known map[string]shelved // by folder, so that a file is parsed once for each change
	told  string             // the problems that were logged last
}

type shelved struct {
	stamp string
	skill skill
	err   error
}

// Bounds on what is looked at and listed.
const (
	maxSkills     = 200 // folders
	maxCatalogue  = 2000
	maxSkillAbout = 160 // characters of a description in the list
)

// NewShelf makes a shelf of a folder, which need not be there. Skills that cannot be read are logged, once for the same
// mistakes.
func NewShelf(dir string, log *slog.Logger) *Shelf {
	return &Shelf{dir: dir, log: log, known: map[string]shelved{}}
}

// Installed names the skills that can be used, sorted, and says in a sentence each what is wrong with the others.
func (s *Shelf) Installed() (names, problems []string) {
	found, problems := s.look()
	for _, k := range found {
		names = append(names, k.name)
	}
	return names, problems
}

// look reads the folder as it is now. Files that have not changed are not read again.
func (s *Shelf) look() (found []skill, problems []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) || s.dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("The folder of skills cannot be opened: %v.", err)}
	}
	defer func() { _ = root.Close() }()
	entries, err := readDir(root, ".")
	if err != nil {
		return nil, []string{fmt.Sprintf("The folder of skills cannot be read: %v.", err)}
	}
	known := map[string]shelved{}
	for i, e := range entries {
		if i == maxSkills {
			problems = append(problems, fmt.Sprintf("There are more than %d folders of skills; the others are left out.", maxSkills))
			break
		}
		if strings.HasPrefix(e.Name(), ".") || e.Type().IsRegular() {
			continue // a file beside the skills, such as a README
		}
		k := s.read(root, e)
		known[e.Name()] = k
		if k.err != nil {
			problems = append(problems, fmt.Sprintf("The skill %s is left out: %v.", visible(shown(e.Name())), k.err))
			continue
		}
		found = append(found, k.skill)
	}
	s.known = known
	if now := strings.Join(problems, "\n"); now != s.told {
		s.told = now
		for _, p := range problems {
			s.log.Warn("a skill cannot be used", "why", p)
		}
	}
	return found, problems
}

// read reads one folder.
func (s *Shelf) read(root *os.Root, e fs.DirEntry) shelved {
	name := e.Name()
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return shelved{err: errors.New("it is a link, and links are not followed; put the folder itself there")}
	case !e.IsDir():
		return shelved{err: errors.New("it is no folder")}
	case len(name) > maxSkillName || !skillName.MatchString(name):
		return shelved{err: fmt.Errorf("its folder needs a name of small letters, digits and single hyphens, at most %d of them", maxSkillName)}
	}
	folder, err := root.OpenRoot(name)
	if err != nil {
		return shelved{err: errors.New("its folder cannot be opened")}
	}
	defer func() { _ = folder.Close() }()
	info, err := folder.Lstat(skillFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return shelved{err: errors.New("there is no SKILL.md in its folder")}
	case err != nil:
		return shelved{err: errors.New("its SKILL.md cannot be looked at")}
	case !info.Mode().IsRegular():
		return shelved{err: errors.New("its SKILL.md is a link or a device, not an ordinary file")}
	case info.Size() > maxSkillFile:
		return shelved{err: fmt.Errorf("its SKILL.md has %s bytes and may have %s", thousands(info.Size()), thousands(maxSkillFile))}
	}
	stamp := fmt.Sprintf("%d %d", info.ModTime().UnixNano(), info.Size())
	if old, ok := s.known[name]; ok && old.stamp == stamp {
		return old
	}
	data, _, err := content(folder, "its folder", skillFile)
	if err != nil {
		return shelved{err: errors.New("its SKILL.md cannot be read")}
	}
	k := shelved{stamp: stamp}
	if k.skill, err = parseSkill(name, data[:min(len(data), maxSkillFile)]); err != nil {
		k.err = fmt.Errorf("in its SKILL.md %w", err)
	}
	return k
}

// catalogue is what every prompt says of the skills: a name and a line each, always in the same order and bounded, since
// it is paid for with each request. "" when there are none.
func (s *Shelf) catalogue() string {
	found, _ := s.look()
	if len(found) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("Installed:")
	for i, k := range found {
		line := "\n- " + k.name + ": "
		about, cut := clip(k.about, maxSkillAbout)
		if line += about; cut {
			line += "…"
		}
		if out.Len()+len(line) > maxCatalogue {
			fmt.Fprintf(&out, "\n- and %d more; use_skill with the name list names all", len(found)-i)
			break
		}
		out.WriteString(line)
	}
	return out.String()
}

// find gives an installed skill. The error names those that there are.
func (s *Shelf) find(name string) (skill, error) {
	found, _ := s.look()
	names := make([]string, 0, len(found))
	for _, k := range found {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	if len(names) == 0 {
		return skill{}, errors.New("no skills are installed; only the owner can put one into the folder of skills")
	}
	return skill{}, fmt.Errorf("no skill of this name is installed; there are: %s", strings.Join(names, ", "))
}

// folders are those of the skills that can be used, for the sandbox.
func (s *Shelf) folders() []string {
	found, _ := s.look()
	var out []string
	for _, k := range found {
		out = append(out, filepath.Join(s.dir, k.name))
	}
	return out
}

// open opens a skill's folder for reading.
func (s *Shelf) open(name string) (*os.Root, error) {
	k, err := s.find(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of skills: %w", err)
	}
	defer func() { _ = root.Close() }()
	folder, err := root.OpenRoot(k.name)
	if err != nil {
		return nil, errors.New("the folder of this skill cannot be opened")
	}
	return folder, nil
}
