package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
)

// Scrub leaves no word in a session file of what was sent: the library keeps messages for a while, to send them again to a
// phone that could not read them, which is over with this. It may be in use. A received message that is not stored yet
// keeps its words: without them it would be lost. No file is no error.
func Scrub(ctx context.Context, path string) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s, err := openSession(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	// What is deleted is overwritten, but not what SQLite left behind when it moved a row: only building the file anew drops that.
	for _, query := range []string{`DELETE FROM whatsmeow_retry_buffer`, `VACUUM`} {
		if _, err := s.db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("sweep the WhatsApp session: %w", err)
		}
	}
	var busy, log, done int
	if err := s.db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done); err != nil {
		return fmt.Errorf("empty the log of the WhatsApp session: %w", err)
	}
	if busy != 0 {
		return errors.New("empty the log of the WhatsApp session: it was being read for too long")
	}
	return nil
}
