package brain

import (
	"net/netip"
	"strings"
)

// shared is the range of RFC 6598, which private overlay networks use.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// LocalHost reports whether a host is this machine or one in the owner's own network: a loopback, private or link-local
// address, a name without a dot, or one under a name that is never public (RFC 6761, 6762, 8375, and what routers use).
// Nothing is looked up: who answers for a name can change.
func LocalHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || shared.Contains(ip)
	}
	if host == "" {
		return false
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, top := range []string{".localhost", ".local", ".lan", ".home", ".internal", ".intranet", ".home.arpa", ".fritz.box"} {
		if strings.HasSuffix(host, top) {
			return true
		}
	}
	return false
}
