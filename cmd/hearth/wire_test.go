package main

import (
	"os"
	"path/filepath"
	"testing"

	"hearth/config"
)

// A model may be asked in the background unless the owner says no.
func TestBackgroundWorkIsTheOwnersToSwitchOff(t *testing.T) {
	for text, want := range map[string]bool{"{}": true, "{background: true}": true, "{background: false}": false, "{background: off}": false} {
		path := filepath.Join(t.TempDir(), "hearth.yaml")
		if err := os.WriteFile(path, []byte("brain: "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(path, []string{"HOME=" + t.TempDir()}, config.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := (&agent{}).brainSettings(t.Context(), cfg).Background; got != want {
			t.Errorf("brain: %s gives %v, want %v", text, got, want)
		}
	}
}
