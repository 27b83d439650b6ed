package config

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCFG13EveryListedZoneLoads(t *testing.T) {
	t.Parallel()
	if n := len(zones()); n < 500 {
		t.Fatalf("only %d zones are listed", n)
	}
	for _, zone := range zones() {
		if _, err := time.LoadLocation(zone); err != nil {
			t.Errorf("load %s: %v", zone, err)
		}
	}
}

func TestCFG13TheListIsWhatGoBuildsIn(t *testing.T) {
	t.Parallel()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command here")
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib/time/zoneinfo.zip"))
	if err != nil {
		t.Skip(err)
	}
	defer archive.Close() //nolint:errcheck // only read from
	var names []string
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, zones()); diff != "" {
		t.Errorf("zones.txt is not this Go's list; run go generate (-built in +listed):\n%s", diff)
	}
}

// In a process of its own, whose Go looks nowhere but inside itself.
func TestCFG13ZonesNeedNoFiles(t *testing.T) {
	if os.Getenv("ZONEINFO") != "/nonexistent.zip" {
		run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCFG13ZonesNeedNoFiles$")
		run.Env = []string{"ZONEINFO=/nonexistent.zip", "GOROOT=/nonexistent", "HOME=" + t.TempDir()}
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	c := load(t, "timezone: Europe/Zurich\n")
	if at := time.Date(2026, 7, 1, 9, 0, 0, 0, c.Location()).Format(time.RFC3339); at != "2026-07-01T09:00:00+02:00" {
		t.Errorf("nine o'clock in Zurich is %s", at)
	}
	got := problems(t, "timezone: Europe/Zurch\n")
	if !strings.HasSuffix(got[0], "(did you mean Europe/Zurich?)") {
		t.Error(got[0])
	}
}

func TestCFG13MisspeltZones(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"Europe/Zurch": {"Europe/Zurich"}, "Zurich": {"Europe/Zurich"}, "europe/berlin": {"Europe/Berlin"}, "Europe/Lisboa": {"Europe/Lisbon"},
		"America/New York": {"America/New_York"}, "new york": {"America/New_York"}, "utc": {"UTC", "Etc/UTC"}, "Amercia/Chicago": {"America/Chicago"},
		"": nil, "xyzzy-plugh": nil, "q": nil,
	} {
		got := nearZones(name)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

func TestZonesAreSpeltOneWay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"Europe/Lisbon": true, "europe/lisbon": false, "EUROPE/LISBON": false, "Mars/Newer_Than_Us": true} {
		if got := wellSpelt(name); got != want {
			t.Errorf("%s is well spelt: %v", name, got)
		}
	}
	for _, name := range []string{"", "Local", "posix/Europe/Lisbon", "posixrules", "right/UTC", "../etc/passwd", "/etc/localtime", "Europe"} {
		if isZone(name) {
			t.Errorf("%q is taken for a zone", name)
		}
	}
}

func TestTheSystemsZone(t *testing.T) {
	t.Parallel()
	etc := func(localtime, timezone string) string {
		dir := t.TempDir()
		if localtime != "" {
			if err := os.Symlink(localtime, filepath.Join(dir, "localtime")); err != nil {
				t.Fatal(err)
			}
		}
		if timezone != "" {
			if err := os.WriteFile(filepath.Join(dir, "timezone"), []byte(timezone), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	for _, c := range []struct {
		name string
		env  []string
		etc  string
		want string
		warn bool
	}{
		{"TZ", []string{"TZ=Asia/Tokyo"}, etc("/usr/share/zoneinfo/Europe/Berlin", ""), "Asia/Tokyo", false},
		{"TZ with colon", []string{"TZ=:Asia/Tokyo"}, etc("", ""), "Asia/Tokyo", false},
		{"TZ as a path", []string{"TZ=/usr/share/zoneinfo/Asia/Tokyo"}, etc("", ""), "Asia/Tokyo", false},
		{"TZ empty", []string{"TZ="}, etc("/usr/share/zoneinfo/Europe/Berlin", ""), "UTC", false},
		{"TZ as a rule", []string{"TZ=CET-1CEST"}, etc("/usr/share/zoneinfo/Europe/Berlin", ""), "Europe/Berlin", false},
		{"localtime", nil, etc("/nonexistent/zoneinfo/Europe/Berlin", "Asia/Tokyo"), "Europe/Berlin", false},
		{"relative localtime", nil, etc("../usr/share/zoneinfo/Europe/Berlin", ""), "Europe/Berlin", false},
		{"timezone", nil, etc("", "Asia/Tokyo\n"), "Asia/Tokyo", false},
		{"neither", nil, etc("", ""), "UTC", true},
	} {
		got, err := Load("", append(c.env, "HOME=/home/ana"), Options{Etc: c.etc})
		if err != nil {
			t.Fatal(err)
		}
		if got.Timezone != c.want || (len(got.Warnings()) > 0) != c.warn {
			t.Errorf("%s: %s with warnings %v, want %s", c.name, got.Timezone, got.Warnings(), c.want)
		}
	}
}
