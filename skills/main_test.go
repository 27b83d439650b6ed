package skills

import (
	"os"
	"testing"

	"hearth/skills/sandbox"
)

// TestMain lets the test binary be the first process of a sandbox.
func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}
