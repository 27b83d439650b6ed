package vault

import (
	"context"
	"database/sql"
	"errors"
)

// keptReaders is how many connections for reading stay open while nothing is read.
const keptReaders = 4

// Shrink gives back the memory in which SQLite keeps pages of the file, up to 2 MB a connection: the system has them in its
// own cache as well. It is for times when nothing is to be done.
func (v *Vault) Shrink(ctx context.Context) error {
	var errs []error
	shrink := func(c interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	},
	) {
		_, err := c.ExecContext(ctx, `PRAGMA shrink_memory`)
		errs = append(errs, err)
	}
	for range keptReaders { // held until all have been asked, or the same one would be asked each time
		c, err := v.rdb.Conn(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		defer func() { _ = c.Close() }() // back to the pool
		shrink(c)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.writer != nil {
		shrink(v.writer)
	}
	return errors.Join(errs...)
}
