package config

import (
	"path/filepath"
	"strings"
)

// checkFolders keeps what tools may touch apart from what they must not. A tool's files are all in the workspace and in the
// folder of skills; whatever else lies in there is theirs too.
func (c *Config) checkFolders(r *reader) {
	own, _ := c.File()
	for _, f := range []struct{ path, dir string }{{"skills.workspace", c.Skills.Workspace}, {"skills.dir", c.Skills.Dir}} {
		switch {
		case f.dir == "":
		case c.Vault.Dir != "" && holds(f.dir, c.Vault.Dir):
			r.mind(f.path, "holds the vault ("+c.Vault.Dir+"), which no tool may reach; choose a folder for nothing else", "")
		case own != "" && holds(f.dir, own):
			r.mind(f.path, "holds this file, whose tokens no tool may reach; choose a folder for nothing else", "")
		}
	}
	if c.Skills.Dir == "" || c.Skills.Workspace == "" {
		return
	}
	if holds(c.Skills.Workspace, c.Skills.Dir) || holds(c.Skills.Dir, c.Skills.Workspace) {
		r.mind("skills.dir", "and skills.workspace lie one in the other, so that a model could write itself skills; keep them apart", "")
	}
}

// holds reports whether a path is a folder or lies in it, wherever their links lead.
func holds(folder, path string) bool {
	rel, err := filepath.Rel(onDisk(folder), onDisk(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// onDisk follows the links of a path as far as it is there.
func onDisk(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for rest := ""; ; {
		if there, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(there, rest)
		}
		if path == filepath.Dir(path) {
			return filepath.Join(path, rest)
		}
		rest, path = filepath.Join(filepath.Base(path), rest), filepath.Dir(path)
	}
}
