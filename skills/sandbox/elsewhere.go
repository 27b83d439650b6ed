//go:build !linux || !(amd64 || arm64 || arm)

package sandbox

import (
	"context"
	"errors"
	"runtime"
)

// Main does nothing: there are no sandboxes on this system.
func Main() {}

// Run gives *UnavailableError.
func (b Box) Run(context.Context, string) (Report, error) {
	return Report{}, &UnavailableError{
		Stage: "start", Mend: "Commands need Linux on amd64, arm64 or arm.", Err: errors.New("there is none for " + runtime.GOOS + "/" + runtime.GOARCH),
	}
}

func machineMemory() int64 { return 1 << 30 }
