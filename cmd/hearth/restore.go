package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// verifyBackup unpacks a backup beside itself, looks whether it holds a sound vault, and takes it away again.
func verifyBackup(ctx context.Context, path string) (err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(path), ".hearth-verify-")
	if err != nil {
		return fmt.Errorf("verify backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := unpack(path, scratch); err != nil {
		return err
	}
	return verifyCopy(ctx, path, filepath.Join(scratch, "vault.db"))
}

// verifyCopy checks the database taken out of a backup; the sentences name the backup.
func verifyCopy(ctx context.Context, backup, copied string) error {
	err := vault.VerifyFile(ctx, copied)
	var newer *vault.NewerError
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.As(err, &newer):
		return &failure{code: exitDamaged, sentence: fmt.Sprintf("%s was written by a newer Hearth (its schema is %d, this program knows up to %d): install the newer program. Nothing was changed.", backup, newer.Have, newer.Can), cause: err}
	}
	return &failure{code: exitDamaged, sentence: fmt.Sprintf("The vault in %s is damaged, so it is not brought back. Nothing was changed; try an older backup.", backup), cause: err}
}

// errNoBackup says that a file is neither a backup nor a vault.
var errNoBackup = errors.New("it is neither a backup nor a vault")

// unpack takes a backup apart into a folder: vault.db and media. A bare database, as the folder backups holds, counts as a
// backup without media.
func unpack(path, dir string) error {
	file, err := os.Open(path)
	if err != nil {
		return &failure{code: exitFailed, sentence: fmt.Sprintf("Cannot read %s: %v.", path, unwrapPath(err)), cause: err}
	}
	defer func() { _ = file.Close() }() // only read from
	head := make([]byte, 16)
	if _, err := io.ReadFull(file, head); err != nil {
		return notABackup(path, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if string(head) == "SQLite format 3\x00" {
		return writeFile(root, "vault.db", file)
	}
	if err := unpackTar(root, tar.NewReader(file)); err != nil {
		return notABackup(path, err)
	}
	return nil
}

func notABackup(path string, err error) error {
	return &failure{code: exitFailed, sentence: fmt.Sprintf("%s is not a whole backup: `hearth backup` writes such a file. Nothing was changed.", path), cause: err}
}

// unpackTar writes what a backup may hold, and refuses what it may not. The root keeps every name inside its folder.
func unpackTar(root *os.Root, in *tar.Reader) error {
	found := false
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			if !found {
				return errNoBackup
			}
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || header.Name != "vault.db" && !strings.HasPrefix(header.Name, "media/") {
			return fmt.Errorf("unpack %q: %w", header.Name, errNoBackup)
		}
		found = found || header.Name == "vault.db"
		if err := writeFile(root, filepath.FromSlash(header.Name), in); err != nil {
			return err
		}
	}
}

// writeFile writes one file below a root and flushes it.
func writeFile(root *os.Root, name string, from io.Reader) error {
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, from); err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(file.Sync(), file.Close())
}

// cmdRestore brings a backup back. Nothing may have the vault open; what was there is kept aside.
func cmdRestore(ctx context.Context, in *invocation) (err error) {
	cfg, err := in.load()
	if err != nil {
		return err
	}
	clock, err := newClock(in.lookup(clockVariable))
	if err != nil {
		return err
	}
	from, dir := in.words[0], cfg.Vault.Dir
	release, err := vault.Hold(ctx, dir, vault.Options{Holder: "hearth restore"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	scratch, err := os.MkdirTemp(dir, "restoring-")
	if err != nil {
		return fmt.Errorf("unpack backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := unpack(from, scratch); err != nil {
		return err
	}
	if err := verifyCopy(ctx, from, filepath.Join(scratch, "vault.db")); err != nil {
		return err
	}
	lost, err := vault.MarkRestored(ctx, filepath.Join(scratch, "vault.db"), from, clock.now())
	if err != nil {
		return fmt.Errorf("put the backup in place: %w", err)
	}
	aside, err := swap(dir, scratch, clock.now())
	if err != nil {
		return fmt.Errorf("put the backup in place: %w", err)
	}
	forgetDamage(dir)
	words := fmt.Sprintf("Restored %s from %s.", filepath.Join(dir, "vault.db"), from)
	if !lost.From.IsZero() {
		words += fmt.Sprintf(" What happened after %s is missing; the owner is told at the next start.", when.Format(lost.From.In(cfg.Location()).Truncate(time.Minute)))
	}
	if aside != "" {
		words += fmt.Sprintf(" The old vault is kept as %s: delete it when all is well.", aside)
	}
	return say(in.out, "%s", words)
}

// swap moves what a vault's folder holds aside and what was unpacked in its place. The database goes first: SQLite deletes
// a log that it finds without one, and would mix a log up with a database that is not its own.
func swap(dir, scratch string, now time.Time) (aside string, err error) {
	mark := ".before-restore-" + now.Format("20060102-150405")
	db := filepath.Join(dir, "vault.db")
	for _, side := range []string{"", "-wal", "-shm"} {
		kept := db + mark + side
		moved, err := moveAside(db+side, kept)
		if err != nil {
			return "", err
		}
		if moved && side == "" {
			aside = kept
		}
	}
	if err := os.Rename(filepath.Join(scratch, "vault.db"), db); err != nil {
		return aside, err
	}
	media := filepath.Join(dir, "media")
	if _, err := os.Stat(filepath.Join(scratch, "media")); err == nil {
		if _, err := moveAside(media, media+mark); err != nil {
			return aside, err
		}
		if err := os.Rename(filepath.Join(scratch, "media"), media); err != nil {
			return aside, err
		}
	}
	return aside, syncFolder(dir)
}

func moveAside(from, to string) (moved bool, err error) {
	if _, err := os.Lstat(to); err == nil {
		return false, fmt.Errorf("keep %s: %s exists already", from, to)
	}
	err = os.Rename(from, to)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
