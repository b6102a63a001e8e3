package maildns

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

const (
	bitsV4 = 32
	bitsV6 = 128
)

var errWholeInternet = errors.New("a prefix length of 0 lets every host of the internet send for the domain; expected the network of your own hosts")

// parseNetwork reads the network of ip4 or ip6 (RFC 7208, section 5.6). pass says
// that hosts in it may send.
func parseNetwork(name, s string, pass bool) (string, error) {
	address, length, hasLength := strings.Cut(s, "/")
	addr, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s is no address; expected one such as %s", shorten(address), spfExamples[name])
	case addr.Is4In6():
		return "", fmt.Errorf("%s is an IPv4 address in IPv6 form, which never matches (RFC 7208, section 5); write ip4:%s", shorten(address), addr.Unmap())
	case name == "ip4" && !addr.Is4():
		return "", fmt.Errorf("%s is an IPv6 address, which belongs in ip6", shorten(address))
	case name == "ip6" && addr.Is4():
		return "", fmt.Errorf("%s is an IPv4 address, which belongs in ip4", shorten(address))
	case addr.Zone() != "":
		return "", fmt.Errorf("%s has a zone, which means nothing to others; expected an address such as %s", shorten(address), spfExamples[name])
	case !hasLength:
		return addr.String(), nil
	}
	bits, err := prefixLength(length, addr.BitLen(), pass)
	if err != nil {
		return "", err
	}
	if bits == addr.BitLen() {
		return addr.String(), nil
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return "", fmt.Errorf("%s is no network: %w", shorten(s), err)
	}
	return prefix.String(), nil
}

// prefixLength reads what follows a slash.
func prefixLength(s string, limit int, pass bool) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > limit || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("prefix length %s must be a number from 0 to %d, without leading zeros", shorten(s), limit)
	}
	if n == 0 && pass {
		return 0, errWholeInternet
	}
	return n, nil
}

// dualCIDR is the end of a and mx: the prefix length for IPv4 addresses, that for
// IPv6 addresses after two slashes, or both (RFC 7208, section 5.3).
var dualCIDR = regexp.MustCompile(`^(?:/([^/]*))?(?://([^/]*))?$`)

// cutDualCIDR takes the prefix lengths off the end of a or mx, and returns them in
// canonical form, in which a full length is left out.
func cutDualCIDR(s string, pass bool) (rest, cidr string, err error) {
	macros := strings.LastIndexByte(s, '}') + 1 // which may have slashes of their own
	slash := strings.IndexByte(s[macros:], '/')
	if slash < 0 {
		return s, "", nil
	}
	rest, lengths := s[:macros+slash], s[macros+slash:]
	m := dualCIDR.FindStringSubmatchIndex(lengths)
	if m == nil {
		return "", "", fmt.Errorf("%s is of another form than /24, //64 or /24//64", shorten(lengths))
	}
	for i, slashes := range []string{"/", "//"} {
		limit := []int{bitsV4, bitsV6}[i]
		from, to := m[2+2*i], m[3+2*i]
		if from < 0 {
			continue
		}
		bits, err := prefixLength(lengths[from:to], limit, pass)
		if err != nil {
			return "", "", err
		}
		if bits != limit {
			cidr += slashes + lengths[from:to]
		}
	}
	return rest, cidr, nil
}
