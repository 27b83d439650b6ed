package main

import (
	"context"
	"runtime/debug"
	"time"
)

// quietTime is how long nothing must happen before memory is given back.
const quietTime = 2 * time.Second

// thrift gives back to the system what a burst of work has taken, once it is over: most of life is waiting, and the machine
// has other things to do.
func (a *agent) thrift(ctx context.Context) error {
	woken, cancel := a.vault.Subscribe()
	defer cancel()
	timer := time.NewTimer(quietTime)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
			timer.Reset(quietTime)
		case <-timer.C:
			if err := a.vault.Shrink(ctx); err != nil && ctx.Err() == nil {
				a.log.Debug("cannot give back memory of the vault", "error", err)
			}
			debug.FreeOSMemory()
			trimHeaps()
			unmapIdleCode()
		}
	}
}
