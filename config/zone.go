package config

import (
	_ "embed" // the list of names
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The zone data that Go builds in cannot be listed, hence its names beside it; a test compares the two.
//
//go:generate sh -c "unzip -Z1 $(go env GOROOT)/lib/time/zoneinfo.zip | grep -v '/$' | LC_ALL=C sort > zones.txt"
//go:embed zones.txt
var zoneNames string

type zoneKind struct{}

func (zoneKind) wants() string { return "a zone such as Europe/Lisbon" }

var offsetText = regexp.MustCompile(`^(?i)(utc|gmt)?\s*[+-]\s*[0-9]`)

func (k zoneKind) read(v value, _ surroundings) (any, error) {
	name := clean(v)
	switch {
	case isZone(name):
		return name, nil
	case name == "":
		return nil, refuse("is empty; it takes ", k.wants())
	case strings.EqualFold(name, "local"), strings.EqualFold(name, "auto"), strings.EqualFold(name, "system"):
		return nil, refuse(v.quoted(), " is no time zone; leave timezone out to take this machine's")
	case offsetText.MatchString(name):
		return nil, refuse(v.quoted(), " is an offset, which knows no summer time; write the place, such as Europe/Lisbon")
	}
	return nil, &refusal{text: v.quoted() + " is no time zone; it takes " + k.wants(), suggest: strings.Join(nearZones(name), " or ")}
}

// isZone reports whether the name is one that loads everywhere: Go also takes "Local" and, on some systems, names that
// only that system has.
func isZone(name string) bool {
	if name == "" || name == "Local" || strings.HasPrefix(name, "posix") || strings.HasPrefix(name, "right/") {
		return false
	}
	if _, err := time.LoadLocation(name); err != nil {
		return false
	}
	return wellSpelt(name)
}

// wellSpelt refuses europe/lisbon, which loads where the file system ignores case, and nowhere else. A zone that the
// system knows and the list does not is newer than this program.
func wellSpelt(name string) bool {
	return slices.Contains(zones(), name) || !slices.ContainsFunc(zones(), func(zone string) bool { return strings.EqualFold(zone, name) })
}

// Zones gives the names of all zones that are built in, sorted.
func Zones() []string { return zones() }

func zones() []string { return strings.Fields(zoneNames) }

// nearZones finds up to three zones that a name was probably meant to be. A city alone will do.
func nearZones(name string) []string {
	name = plain(strings.ReplaceAll(name, " ", "_"))
	bestAt := likely(name) + 1
	var best []string
	for _, zone := range zones() {
		whole := plain(zone)
		at := distance(name, whole)
		if !strings.Contains(name, "/") {
			at = min(at, distance(name, whole[strings.LastIndexByte(whole, '/')+1:]))
		}
		if at >= len(name) { // nothing in common
			continue
		}
		if at < bestAt {
			best, bestAt = nil, at
		}
		if at == bestAt && len(best) < 3 {
			best = append(best, zone)
		}
	}
	return best
}

// systemZone finds the zone of this machine: $TZ, the link /etc/localtime, the text /etc/timezone. When none says, it is
// UTC, and sure is false.
func systemZone(env map[string]string, etc string) (name string, sure bool) {
	if tz, set := env["TZ"]; set {
		name := zoneOf(strings.TrimPrefix(tz, ":"))
		if tz == "" { // as the C library has it
			name = "UTC"
		}
		if isZone(name) {
			return name, true
		}
	}
	if target, err := filepath.EvalSymlinks(filepath.Join(etc, "localtime")); err == nil && isZone(zoneOf(target)) {
		return zoneOf(target), true
	}
	// Where the zone files are not installed the link leads nowhere, and still names the zone.
	if target, err := os.Readlink(filepath.Join(etc, "localtime")); err == nil && isZone(zoneOf(target)) {
		return zoneOf(target), true
	}
	if text, err := os.ReadFile(filepath.Join(etc, "timezone")); err == nil && isZone(strings.TrimSpace(string(text))) {
		return strings.TrimSpace(string(text)), true
	}
	return "UTC", false
}

// zoneOf takes the zone's name out of the path of its file.
func zoneOf(path string) string {
	if _, name, ok := strings.Cut(path, "zoneinfo/"); ok {
		return strings.TrimPrefix(name, "posix/")
	}
	return path
}
