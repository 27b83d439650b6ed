package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Bounds of a path, in bytes. The second is what file systems allow.
const (
	maxPath = 1000
	maxName = 255
)

// Our own half-written files. Lists leave them out.
const (
	tempPrefix = ".hearth-"
	tempSuffix = ".tmp"
)

// workspace is the one folder whose files the model may touch. Every access goes through os.Root, which refuses whatever
// leads out of it, also through a link that is put there between a check and its use.
type workspace struct {
	dir     string
	maxRead int // characters
	shelf   *Shelf
}

func (w workspace) open() (*os.Root, error) {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	return root, nil
}

// localPath checks the shape of a path. What it names is for os.Root to judge.
func localPath(given string) (string, error) {
	p := strings.TrimSpace(given)
	switch {
	case p == "":
		return "", errors.New("the path is empty; give one such as notes.txt or lists/shopping.txt")
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return "", errors.New("the path holds characters that no file name should have; give a plain one such as notes.txt")
	case strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~"):
		return "", fmt.Errorf("%s is outside the workspace; give a path inside it, such as notes.txt or lists/shopping.txt", shown(p))
	case strings.Contains(p, `\`):
		return "", fmt.Errorf(`%s holds a \; folders are divided by /`, shown(p))
	case !filepath.IsLocal(p):
		return "", fmt.Errorf("%s leads out of the workspace; give a path inside it, such as notes.txt", shown(p))
	case len(p) > maxPath:
		return "", fmt.Errorf("the path is %s bytes long and may have %s; give a shorter one", thousands(len(p)), thousands(maxPath))
	}
	p = path.Clean(p)
	for _, name := range strings.Split(p, "/") {
		if len(name) > maxName {
			return "", fmt.Errorf("the name %s is too long; give one of less than %d bytes", shown(name), maxName)
		}
		if strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix) {
			return "", fmt.Errorf("%s is a name that the program uses itself; give another", shown(name))
		}
	}
	return p, nil
}

// visible writes a file's name on one line, quoted if something in it could be taken for more than a name.
func visible(name string) string {
	quoted := strconv.Quote(name)
	if quoted == `"`+name+`"` {
		return name
	}
	return quoted
}

// shown is a path as it stands in a sentence, clipped.
func shown(p string) string {
	if r := []rune(p); len(r) > 80 {
		p = string(r[:80]) + "…"
	}
	return p
}

// theWorkspace is how the workspace is called in sentences.
const theWorkspace = "the workspace"

// refusal says in a sentence why a path in some folder cannot be used. It names nothing but what was asked for and what lies beside it.
func refusal(root *os.Root, where, p string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s in %s; %s", shown(p), where, nearby(root, p))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be used: its permissions forbid it", shown(p))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s cannot be: a part of it is a file, not a folder", shown(p))
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%s is too long a name; give a shorter one", shown(p))
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EIO):
		return fmt.Errorf("the disk did not take %s: %w", shown(p), err)
	}
	return fmt.Errorf("%s is not inside %s; links that lead out of it are not followed", shown(p), where)
}

// nearby names what there is where something was looked for.
func nearby(root *os.Root, p string) string {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if names, err := names(root, dir, 12); err == nil {
			where := "in " + dir + " there is"
			if dir == "." {
				where = "at its top there is"
			}
			if len(names) == 0 {
				return where + " nothing"
			}
			return where + ": " + strings.Join(names, ", ")
		}
		if dir == "." {
			return "and it cannot be listed"
		}
	}
}

// names lists a folder, sorted, with a slash behind folders; at most limit and then how many more.
func names(root *os.Root, dir string, limit int) ([]string, error) {
	entries, err := readDir(root, dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if len(out) == limit {
			return append(out, fmt.Sprintf("and %s more", thousands(len(entries)-limit))), nil
		}
		name := shown(visible(e.Name()))
		if e.IsDir() {
			name += "/"
		}
		out = append(out, name)
	}
	return out, nil
}

// readDir gives the entries of a folder, sorted, without our own half-written files.
func readDir(root *os.Root, dir string) ([]fs.DirEntry, error) {
	info, err := root.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() { // opening a pipe would wait for its writer
		return nil, syscall.ENOTDIR
	}
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), tempPrefix) && strings.HasSuffix(e.Name(), tempSuffix)
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// thousands writes a number with commas.
func thousands[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
