package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"hearth/vault"
)

// A backup is a tar of vault.db and the folder media. It is written as a stream, so that the daemon need not be able to
// reach the place where it is kept.

// writeBackup streams a consistent copy of the vault, taken now, and of its media.
func writeBackup(ctx context.Context, v *vault.Vault, w io.Writer, now time.Time) (err error) {
	folder := filepath.Join(v.Dir(), "backups")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create folder for the copy: %w", err)
	}
	scratch, err := os.MkdirTemp(folder, "backup-")
	if err != nil {
		return fmt.Errorf("create folder for the copy: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	copied := filepath.Join(scratch, "vault.db")
	if err := v.Backup(ctx, copied); err != nil {
		return err
	}
	out := tar.NewWriter(w)
	if err := addFile(out, copied, "vault.db", now); err != nil {
		return err
	}
	media := filepath.Join(v.Dir(), "media")
	err = filepath.WalkDir(media, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // none yet, or deleted while we looked
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(v.Dir(), path)
		if err != nil {
			return err
		}
		return errors.Join(ctx.Err(), addFile(out, path, filepath.ToSlash(name), now))
	})
	if err != nil {
		return fmt.Errorf("copy media: %w", err)
	}
	return out.Close()
}

func addFile(out *tar.Writer, path, name string, now time.Time) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: now.Truncate(time.Second), Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.CopyN(out, file, info.Size())
	return err
}

// backup streams a backup to the command line. A stream that breaks off has no end mark.
func (a *api) backup(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-tar")
	if err := writeBackup(r.Context(), a.service.vault, w, a.service.now()); err != nil {
		if r.Context().Err() == nil {
			a.log.Error("a backup broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // the client must not take what it has for a whole one
	}
}

// cmdBackup writes a backup to a file that must not exist yet.
func cmdBackup(ctx context.Context, in *invocation) (err error) {
	target := in.words[0]
	if _, err := os.Lstat(target); err == nil {
		return failed("%s exists already: name a file that does not.", target)
	}
	s, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	partial := target + ".partial"
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return &failure{code: exitFailed, sentence: fmt.Sprintf("Cannot write %s: %v.", partial, unwrapPath(err)), cause: err}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(partial))
		}
	}()
	if err := s.backup(ctx, file); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Chmod(0o600), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if err := verifyBackup(ctx, partial); err != nil {
		return err
	}
	if err := os.Rename(partial, target); err != nil {
		return fmt.Errorf("name backup: %w", err)
	}
	if err := syncFolder(filepath.Dir(target)); err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	return say(in.out, "Backup written and verified: %s (%d kB). Keep it where this machine's disk cannot take it along; `hearth restore` brings it back.", target, (info.Size()+1023)/1024)
}

func (s *session) backup(ctx context.Context, w io.Writer) error {
	if s.local != nil {
		return writeBackup(ctx, s.local.vault, w, s.clock.now())
	}
	answer, err := s.remote.do(ctx, http.MethodGet, "/api/backup", nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return readAnswer(answer, nil)
	}
	if _, err := io.Copy(w, answer.Body); err != nil {
		return &failure{code: exitFailed, sentence: "The backup broke off: look at the daemon's log. Nothing was kept.", cause: err}
	}
	return nil
}

// unwrapPath is what the system says, without the path that is told anyway.
func unwrapPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// syncFolder makes a rename in a folder survive a power cut.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
