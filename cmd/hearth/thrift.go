package main

import (
	"context"
	"runtime/debug"
	"strings"
	"time"
)

// quietTimes are how long nothing must happen before memory is given back, and how much longer before that is done again: a
// messenger has things to do after the last event of the vault.
var quietTimes = []time.Duration{2 * time.Second, 8 * time.Second, time.Minute}

// generosity is how much garbage may pile up before it is collected, in percent of what is in use (GOGC says otherwise, if it
// is set). An answer leaves a good deal, and collecting it at Go's own 100 took a third of the time of each; what piles up is
// given back in the next quiet moment.
const generosity = 300

func (a *agent) generous() {
	for _, set := range a.env {
		if strings.HasPrefix(set, "GOGC=") {
			return
		}
	}
	debug.SetGCPercent(generosity)
}

// thrift gives back to the system what a burst of work has taken, once it is over: most of life is waiting, and the machine
// has other things to do.
func (a *agent) thrift(ctx context.Context) error {
	woken, cancel := a.vault.SubscribeLater()
	defer cancel()
	timer := time.NewTimer(quietTimes[0])
	defer timer.Stop()
	for done := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
			done = 0
			timer.Reset(quietTimes[0])
		case <-timer.C:
			if done++; done < len(quietTimes) {
				timer.Reset(quietTimes[done])
			}
			if err := a.vault.Shrink(ctx); err != nil && ctx.Err() == nil {
				a.log.Debug("cannot give back memory of the vault", "error", err)
			}
			debug.FreeOSMemory()
			trimHeaps()
			unmapIdleCode()
		}
	}
}
