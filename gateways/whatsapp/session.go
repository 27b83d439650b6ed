package whatsapp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"

	_ "github.com/mattn/go-sqlite3" // the driver, the vault's own
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// session is the library's own file: keys, and for a while the words of what was just received.
type session struct {
	db        *sql.DB
	container *sqlstore.Container
}

// pragmas of the file. Without _txlock=immediate a transaction that begins by reading fails as "database is locked" in spite
// of the busy timeout (whatsmeow#838, #298).
const pragmas = "?_foreign_keys=on&_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_txlock=immediate&_secure_delete=on&_cache_size=-256"

// openSession opens the file, making it readable to nobody else.
func openSession(ctx context.Context, path string, log *slog.Logger) (*session, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // the files beside it get the same mode
	if err != nil {
		return nil, fmt.Errorf("open WhatsApp session: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return nil, fmt.Errorf("open WhatsApp session: %w", err)
	}
	where := &url.URL{Scheme: "file", OmitHost: true, Path: path} // #, ? and % mean something there
	db, err := sql.Open("sqlite3", where.String()+pragmas)
	if err != nil {
		return nil, fmt.Errorf("open WhatsApp session: %w", err)
	}
	db.SetMaxIdleConns(2)
	s := &session{db: db, container: sqlstore.NewWithDB(db, "sqlite3", library(log))}
	if err := s.container.Upgrade(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open WhatsApp session: %w", err), db.Close())
	}
	return s, nil
}

func (s *session) close() error { return s.db.Close() }

// Linked tells which number a session file is linked to, as + and digits; "" when there is none. It changes nothing.
func Linked(ctx context.Context, path string) (account string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	s, err := openSession(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	device, err := s.container.GetFirstDevice(ctx)
	if err != nil {
		return "", fmt.Errorf("read WhatsApp session: %w", err)
	}
	return accountOf(device), nil
}

// accountOf is the number that a device belongs to; "" when it is not linked.
func accountOf(device *store.Device) string {
	if device.ID == nil {
		return ""
	}
	return "+" + device.ID.User
}

// forget deletes what was linked. The library does so as well, but after it told that the device was logged out: whoever
// reads the session in between finds the old device, and goes on with it.
func (s *session) forget(ctx context.Context) error {
	devices, err := s.container.GetAllDevices(ctx)
	for _, d := range devices {
		err = errors.Join(err, d.Delete(ctx))
	}
	return err
}

// client makes the library's client for the device of the session.
func (s *session) client(ctx context.Context, g *Gateway) (*whatsmeow.Client, error) {
	device, err := s.container.GetFirstDevice(ctx)
	if err != nil {
		return nil, fmt.Errorf("read WhatsApp session: %w", err)
	}
	c := whatsmeow.NewClient(device, library(g.opt.Log))
	c.EnableAutoReconnect = false // receive.go does it: the library's waits grow without end, and it follows every failure
	c.DisableLoginAutoReconnect = true
	c.SynchronousAck = true             // what is acknowledged has been handled
	c.EnableDecryptedEventBuffer = true // else what is delivered again cannot be read again, and is acknowledged unread
	c.UseRetryMessageStore = true       // else who could not read a message before a restart never will (wacli#86)
	c.ManualHistorySyncDownload = true  // old messages are no input
	c.BackgroundEventCtx = context.WithoutCancel(ctx)
	if g.opt.Hook != nil {
		g.opt.Hook(c)
	}
	return c, nil
}

// library writes the library's log into ours. What it calls a warning is its daily life, and its lower levels hold whole
// stanzas, which no log may.
func library(log *slog.Logger) waLog.Logger { return quiet{log} }

type quiet struct{ log *slog.Logger }

func (q quiet) Errorf(msg string, args ...any) {
	q.log.Info("the WhatsApp library complains", "what", clip(fmt.Sprintf(msg, args...), 300))
}

func (q quiet) Warnf(msg string, args ...any) {
	q.log.Debug("the WhatsApp library warns", "what", clip(fmt.Sprintf(msg, args...), 300))
}

func (quiet) Infof(string, ...any) {}

func (quiet) Debugf(string, ...any) {}

func (q quiet) Sub(string) waLog.Logger { return q }

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
