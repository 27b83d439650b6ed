package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// maxListed bounds one list.
const maxListed = 200

type listFilesArgs struct {
	Path string `json:"path"`
}

func (w workspace) listFiles(_ context.Context, _ Call, a listFilesArgs) (_ Result, err error) {
	if strings.TrimSpace(a.Path) == "" || strings.TrimSpace(a.Path) == "/" { // how some models name the top
		a.Path = "."
	}
	at, err := w.place(a.Path)
	if err != nil {
		return Result{}, err
	}
	root, dir := at.root, at.name
	defer func() { err = errors.Join(err, root.Close()) }()
	entries, err := readDir(root, dir)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return Result{}, fmt.Errorf("%s is no folder; read_file shows a file", shown(at.label))
	case err != nil:
		return Result{}, refusal(root, at.where, dir, err)
	}
	where := at.where
	if dir != "." {
		where = at.label
	}
	if len(entries) == 0 {
		return Result{Text: fmt.Sprintf("There are no files in %s.", where)}, nil
	}
	lines := []string{fmt.Sprintf("Files in %s:", where)}
	for i, e := range entries {
		if i == maxListed {
			lines = append(lines, fmt.Sprintf("and %s more", thousands(len(entries)-i)))
			break
		}
		line := visible(e.Name())
		info, err := root.Lstat(path.Join(dir, e.Name()))
		switch {
		case err != nil:
			continue // gone since
		case info.IsDir():
			line += "/"
		case info.Mode()&fs.ModeSymlink != 0:
			line += " (a link)"
		case info.Mode().IsRegular():
			line += fmt.Sprintf(" (%s bytes)", thousands(info.Size()))
		default:
			line += " (no ordinary file)"
		}
		lines = append(lines, line)
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}
