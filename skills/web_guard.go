package skills

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// What a model may fetch is decided on the address that is really connected to, at every connection: a name can point
// anywhere, and a redirect too.

// errPrivate says that an address is not of the public internet.
var errPrivate = errors.New("this address is not on the public internet, so it is not fetched; the owner can allow a host with skills.web.allow_hosts")

// reserved are the ranges beside those that netip knows as private, loopback, link-local or multicast.
// Source: https://www.iana.org/assignments/iana-ipv4-special-registry and the same for IPv6.
var reserved = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10")

func prefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, s := range all {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// public reports whether an address is one of the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// guarded makes a client whose connections are checked. allow names the hosts, with or without a port, that may be private;
// it is asked each time.
func guarded(allow func() []string, limit time.Duration) *http.Client {
	transport := &http.Transport{
		Proxy: nil, // a proxy would connect where we cannot check
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dial(ctx, network, address, allow())
		},
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: limit, MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second, DisableKeepAlives: true,
	}
	return &http.Client{Transport: transport, Timeout: limit, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return errors.New("the page redirects too often")
		}
		return checkURL(req.URL)
	}}
}

const maxRedirects = 5

func dial(ctx context.Context, network, address string, allowed []string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	if !hostAllowed(address, allowed) {
		d.ControlContext = func(_ context.Context, _, real string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(real)
			if err != nil || !public(at.Addr()) {
				return errPrivate
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// hostAllowed compares the host as it was asked for, not what it resolves to: the owner has named it.
func hostAllowed(address string, allowed []string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.ContainsFunc(allowed, func(a string) bool {
		a = strings.ToLower(strings.TrimSpace(a))
		return a == host || a == strings.ToLower(address) || strings.Trim(a, "[]") == host
	})
}

// checkURL refuses what is no plain web address.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("only http and https addresses can be read, not %q", u.Scheme)
	case u.User != nil:
		return errors.New("an address with a name or password in it is not read")
	case u.Hostname() == "":
		return errors.New("the address names no host")
	}
	return nil
}
