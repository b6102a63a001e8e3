package maildns

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// spfTerm is a directive or modifier of a sender policy.
type spfTerm struct {
	qualifier string // "" for +, the default
	name      string
	separator string // what is between name and value: ":", "=" or nothing
	value     string // canonical
	cidr      string // canonical, with its slashes
}

// String returns the term as it stands in a record.
func (t spfTerm) String() string { return t.qualifier + t.name + t.separator + t.value + t.cidr }

// key is the same for two terms of which the second has no effect: mechanisms
// that differ in their qualifier at most, and modifiers of one name.
func (t spfTerm) key() string {
	if t.isModifier() {
		return t.name
	}
	t.qualifier = ""
	return t.String()
}

func (t spfTerm) isModifier() bool { return t.separator == "=" }

// needsLookup reports whether a term counts against the limit of RFC 7208,
// section 4.6.4.
func (t spfTerm) needsLookup() bool {
	switch t.name {
	case "include", "a", "mx", "exists", "redirect":
		return true
	}
	return false // all, ip4, ip6, exp; ptr counts, but is refused
}

// checkPlace refuses what belongs into [SPF.Default].
func (t spfTerm) checkPlace() error {
	switch t.name {
	case "all":
		return fmt.Errorf("%s is the default, which has an argument of its own: nothing after it would count (RFC 7208, section 5.1)", t)
	case "redirect":
		return fmt.Errorf("%s is the default, which has an argument of its own: it stands in for all, and with all it would not count (RFC 7208, section 6.1)", t)
	}
	return nil
}

// repeated says why a term that has the key of element i is wrong.
func (t spfTerm) repeated(i int) string {
	if t.isModifier() {
		return fmt.Sprintf("%s must not be there twice (RFC 7208, section 6); element %d is the first", t.name, i)
	}
	return fmt.Sprintf("%s never matches, as element %d is the same mechanism", t, i)
}

// parseSPFDefault reads the term that ends a policy.
func parseSPFDefault(s string) (spfTerm, error) {
	const expected = "expected -all, ~all or ?all, or redirect=<domain>"
	if s == "" {
		return spfTerm{}, errors.New("a policy must say what holds for all other hosts; " + expected)
	}
	t, err := parseSPFTerm(s)
	switch {
	case errors.Is(err, errNoTerm):
		return spfTerm{}, fmt.Errorf("%s %w; %s", shorten(s), errNoTerm, expected)
	case err != nil:
		return spfTerm{}, err
	case t.name == "redirect":
		return t, nil
	case t.name != "all":
		return spfTerm{}, fmt.Errorf("%s does not cover all other hosts; %s", t, expected)
	case t.qualifier == "":
		return spfTerm{}, errors.New("all without a qualifier, which is +all, lets every host of the internet send for the domain; " + expected)
	}
	return t, nil
}

// parseSPFTerm reads one term (RFC 7208, section 4.6.1).
func parseSPFTerm(s string) (spfTerm, error) {
	switch {
	case s == "":
		return spfTerm{}, errors.New("a term must not be empty; expected one such as include:_spf.example.com")
	case strings.HasPrefix(strings.ToLower(s), "v=spf1"):
		return spfTerm{}, errors.New("v=spf1 is added to the record; expected only the terms after it")
	case strings.ContainsAny(s, " \t\r\n"):
		return spfTerm{}, fmt.Errorf("%s has white space; write each term as an element of its own", shorten(s))
	}
	var t spfTerm
	rest := s
	qualified := strings.ContainsRune("+-~?", rune(s[0]))
	if qualified {
		t.qualifier, rest = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	t.name = rest
	if i := strings.IndexAny(rest, ":=/"); i >= 0 {
		t.name, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	t.name = strings.ToLower(t.name)
	value, isModifier := strings.CutPrefix(rest, "=")
	switch {
	case isModifier && qualified:
		return spfTerm{}, fmt.Errorf("%s is a modifier, which has no qualifier; write it without %s", shorten(s), s[:1])
	case isModifier:
		return t.parseModifier(s, value)
	}
	return t.parseMechanism(s, rest)
}

// parseModifier reads the value of redirect or exp.
func (t spfTerm) parseModifier(s, value string) (spfTerm, error) {
	t.separator = "="
	var err error
	switch t.name {
	case "redirect", "exp":
		if t.value, err = domainSpec(value); err != nil {
			return spfTerm{}, fmt.Errorf("%s: %w", t.name, err)
		}
		return t, nil
	case "include", "a", "mx", "ip4", "ip6", "exists":
		return spfTerm{}, fmt.Errorf("%s takes a colon, as in %s:%s; with an equals sign receivers would ignore it", t.name, t.name, spfExamples[t.name])
	}
	return spfTerm{}, errUnknownTerm(s, t.name)
}

// parseMechanism reads what follows the name of a mechanism.
func (t spfTerm) parseMechanism(s, rest string) (spfTerm, error) {
	var err error
	switch t.name {
	case "all":
		if rest != "" {
			err = errors.New("it takes nothing after its name")
		}
	case "include", "exists":
		t.separator = ":"
		value, ok := strings.CutPrefix(rest, ":")
		if !ok {
			err = fmt.Errorf("it needs a domain name, as in %s:%s", t.name, spfExamples[t.name])
			break
		}
		t.value, err = domainSpec(value)
	case "a", "mx":
		err = t.parseHosts(rest)
	case "ip4", "ip6":
		t.separator = ":"
		value, ok := strings.CutPrefix(rest, ":")
		if !ok {
			err = fmt.Errorf("it needs an address or network, as in %s:%s", t.name, spfExamples[t.name])
			break
		}
		t.value, err = parseNetwork(t.name, value, t.qualifier == "")
	case "ptr":
		return spfTerm{}, errors.New("ptr must not be used: it is slow and unreliable, and many receivers skip it (RFC 7208, section 5.5); name the hosts by a, mx, ip4 or ip6")
	case "redirect", "exp":
		return spfTerm{}, fmt.Errorf("%s takes an equals sign, as in %s=%s", t.name, t.name, spfExamples[t.name])
	default:
		return spfTerm{}, errUnknownTerm(s, t.name)
	}
	if err != nil {
		return spfTerm{}, fmt.Errorf("%s: %w", t.name, err)
	}
	return t, nil
}

// parseHosts reads the optional domain and prefix lengths of a and mx.
func (t *spfTerm) parseHosts(rest string) error {
	domain, cidr, err := cutDualCIDR(rest, t.qualifier == "")
	if err != nil {
		return err
	}
	t.cidr = cidr
	if domain == "" {
		return nil
	}
	t.separator = ":"
	t.value, err = domainSpec(strings.TrimPrefix(domain, ":"))
	return err
}

// spfExamples are what a message shows after the name of a term.
var spfExamples = map[string]string{
	"include": "_spf.example.com", "exists": "%{i}._spf.example.com", "a": "mail.example.com", "mx": "example.com",
	"ip4": "192.0.2.0/24", "ip6": "2001:db8::/32", "redirect": "_spf.example.com", "exp": "explain._spf.example.com",
}

var errNoTerm = errors.New("is no term of SPF")

// errUnknownTerm names what was probably meant by a term that RFC 7208 does not
// know. Receivers end at an unknown mechanism with permerror, and ignore an
// unknown modifier, which is hardly better.
func errUnknownTerm(s, name string) error {
	switch name {
	case "ip", "ipv4", "ipv6", "ip4address", "ip6address":
		return fmt.Errorf("%s %w; expected ip4:%s or ip6:%s", shorten(s), errNoTerm, spfExamples["ip4"], spfExamples["ip6"])
	}
	bare := strings.TrimLeft(s, "+-~?")
	qualifier := s[:len(s)-len(bare)]
	if len(qualifier) > 1 {
		qualifier = ""
	}
	address, _, _ := strings.Cut(bare, "/")
	if addr, err := netip.ParseAddr(address); err == nil && addr.Zone() == "" {
		mechanism := "ip6"
		if addr.Is4() {
			mechanism = "ip4"
		}
		return fmt.Errorf("%s %w; write %s%s:%s", shorten(s), errNoTerm, qualifier, mechanism, bare)
	}
	if host, err := domainSpec(bare); err == nil {
		return fmt.Errorf("%s %w; expected %[3]sinclude:%[4]s for the policy of that name, or %[3]sa:%[4]s or %[3]smx:%[4]s for its hosts", shorten(s), errNoTerm, qualifier, host)
	}
	return fmt.Errorf("%s %w; expected one of include, a, mx, ip4, ip6, exists and exp", shorten(s), errNoTerm)
}
