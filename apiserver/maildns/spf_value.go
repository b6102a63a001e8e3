package maildns

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// domainSpec returns the domain of a term (RFC 7208, section 7.1) in canonical form: a host name,
// optionally with macros.
func domainSpec(s string) (string, error) {
	if s == "" {
		return "", errors.New("the domain name is missing; expected one such as _spf.example.com")
	}
	if strings.Contains(s, "%") {
		return macroSpec(s)
	}
	return domainname.NormalizeHost(s)
}

// macro matches a macro of a domain (RFC 7208, section 7.1), except the macros for explanations
// only (c, r and t). macroDomain matches a name with macros. The RFC allows any printable character
// between macros; only characters of names make sense.
var (
	macro       = regexp.MustCompile(`%[%_-]|%\{[slodiphvSLODIPHV](?:[1-9][0-9]*)?[rR]?[-.+,/_=]*\}`)
	macroDomain = regexp.MustCompile(`^(?:[A-Za-z0-9_.-]|` + macro.String() + `)+$`)
	// macroString matches the value of an unknown modifier, with any macro.
	macroString = regexp.MustCompile(`^(?:[!-$&-~]|%\{[crtCRT]|` + macro.String() + `)*$`)
)

// macroSpec returns a domain name with macros in canonical form. The text around the macros follows
// the rules of names, but a macro may replace the top-level domain.
func macroSpec(s string) (string, error) {
	if !macroDomain.MatchString(s) {
		return "", fmt.Errorf("%.60q is no domain name with macros; expected letters, digits, hyphens, underscores, dots, and macros such as %%{i} and %%{d2} of the letters s, l, o, d, i, h and v (RFC 7208, section 7)", s)
	}
	const placeholder = "\x00"
	shape := strings.ToLower(macro.ReplaceAllLiteralString(strings.TrimSuffix(s, "."), placeholder))
	last := shape[strings.LastIndexByte(shape, '.')+1:]
	name := shape
	switch {
	case strings.HasSuffix(last, placeholder):
		name += ".example"
	case strings.Contains(last, placeholder):
		return "", fmt.Errorf("%.60q must end in a macro, or in a dot and a top-level domain such as .com", s)
	}
	if _, err := domainname.NormalizeHost(strings.ReplaceAll(name, placeholder, "m")); err != nil {
		return "", fmt.Errorf("%.60q: %w", s, err)
	}
	for _, m := range macro.FindAllString(s, -1) {
		shape = strings.Replace(shape, placeholder, m, 1)
	}
	return shape, nil
}

var errWholeInternet = errors.New("a prefix length of 0 lets every host of the internet send for the domain; expected the network of your own hosts")

// parseNetwork returns the network of ip4 or ip6 in canonical form (RFC 7208, section 5.6). pass
// means that its hosts may send.
func parseNetwork(name, s string, pass bool) (string, error) {
	address, length, hasLength := strings.Cut(s, "/")
	addr, err := netip.ParseAddr(address)
	switch {
	case err != nil || addr.Zone() != "" || addr.Is4() != (name == "ip4"):
		return "", fmt.Errorf("%.60q is no IPv%s address; expected one such as %s", address, strings.TrimPrefix(name, "ip"), spfExamples[name])
	case addr.Is4In6():
		return "", fmt.Errorf("%.60q is an IPv4 address in IPv6 form, which never matches (RFC 7208, section 5); write ip4:%s", address, addr.Unmap())
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
	return netip.PrefixFrom(addr, bits).Masked().String(), nil
}

// prefixLength parses the text after a slash.
func prefixLength(s string, limit int, pass bool) (int, error) {
	n, _ := strconv.Atoi(s)
	if n < 0 || n > limit || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("prefix length %.60q must be a number from 0 to %d, without leading zeros", s, limit)
	}
	if n == 0 && pass {
		return 0, errWholeInternet
	}
	return n, nil
}
