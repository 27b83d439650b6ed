package vault

import (
	"context"
	"fmt"
	"os"
)

// Hold takes the lock of the vault in dir without opening its file, so that the file can be replaced, also one that can
// no longer be opened. release gives the lock back. Errors: *LockedError.
func Hold(ctx context.Context, dir string, opt Options) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create vault folder: %w", err)
	}
	v := &Vault{dir: dir}
	if err := v.takeLock(ctx, opt); err != nil {
		return nil, err
	}
	return v.lock.Unlock, nil
}
