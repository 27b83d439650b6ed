package skills

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// maxWrite bounds what one call writes, in bytes.
const maxWrite = 1 << 20

type writeFileArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (w workspace) writeFile(_ context.Context, c Call, a writeFileArgs) (_ Result, err error) {
	name, err := localPath(a.Path)
	if err != nil {
		return Result{}, err
	}
	if name == "." {
		return Result{}, errors.New("the path names the workspace itself; give the name of a file, such as notes.txt")
	}
	if len(a.Content) > maxWrite {
		return Result{}, fmt.Errorf("the content has %s bytes and may have %s; write less, or several files", thousands(len(a.Content)), thousands(maxWrite))
	}
	root, err := w.open()
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := replaceable(root, name); err != nil {
		return Result{}, err
	}
	if err := replace(root, name, c.Key, []byte(a.Content)); err != nil {
		return Result{}, refusal(root, theWorkspace, name, err)
	}
	return confirm(fmt.Sprintf("Wrote %s (%s bytes).", name, thousands(len(a.Content))), ""), nil
}

// replaceable reports why a path cannot become the file: something else stands there.
func replaceable(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return refusal(root, theWorkspace, name, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder; give the name of a file", shown(name))
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, and nothing is written through links; give another name", shown(name))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a pipe or a device, not an ordinary file; give another name", shown(name))
	}
	return nil
}

// replace makes the file hold exactly the data, or leaves it as it was, also in a power cut. The name of the half-written
// file follows from the call, so that a repeat after a crash leaves none behind.
func replace(root *os.Root, name, key string, data []byte) (err error) {
	dir := path.Dir(name)
	if dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	temp := path.Join(dir, tempName(key, name))
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	folder, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func tempName(key, name string) string {
	sum := sha256.Sum256([]byte(key + "\x00" + name))
	return fmt.Sprintf("%s%x%s", tempPrefix, sum[:8], tempSuffix)
}
