package maildns

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxLookups is how many terms with DNS lookups receivers allow before they return
// permerror (RFC 7208, section 4.6.4).
const maxLookups = 10

// SPF is the policy that lists the hosts that may send mail for a domain (RFC 7208).
type SPF struct {
	// Terms are the mechanisms in the order in which receivers try them, and
	// optionally an exp modifier in any position.
	Terms []string
	// Default is the term for all other hosts: the mechanism all with its
	// qualifier, or the modifier redirect.
	Default string
}

const (
	spfTerms   = "terms"
	spfDefault = "default"
)

// Record returns the record: mechanisms, the default, exp, and redirect at the very end
// (RFC 7208, section 6.1). Names are in ASCII and lower case, and networks in the form
// of RFC 5952, without bits after their prefix.
//
// It checks the syntax of each term, that at most 10 terms need a lookup, and that the
// record fits a TXT record. It can't count the lookups of included policies, nor check that
// the DNS response fits a UDP packet (section 3.4).
func (s SPF) Record() (string, error) {
	var ps Problems
	var mechanisms, modifiers, lookups []string
	seen := map[string]int{}
	for i, term := range s.Terms {
		t, err := parseSPFTerm(term)
		if err == nil {
			err = t.checkPlace()
		}
		if err != nil {
			ps.addErr(spfTerms, i, err)
			continue
		}
		if j, ok := seen[t.key()]; ok {
			ps.add(spfTerms, i, "%s", t.repeated(j))
			continue
		}
		seen[t.key()] = i
		if t.needsLookup() {
			lookups = append(lookups, t.String())
		}
		if t.isModifier() {
			modifiers = append(modifiers, t.String())
		} else {
			mechanisms = append(mechanisms, t.String())
		}
	}
	fallback, err := parseSPFDefault(s.Default)
	ps.addErr(spfDefault, whole, err)
	if err == nil && fallback.needsLookup() {
		lookups = append(lookups, fallback.String())
	}
	if len(lookups) > maxLookups {
		ps.add(spfTerms, whole, "%d terms need a DNS lookup, and receivers give up after %d (RFC 7208, section 4.6.4): %s; list addresses with ip4 and ip6 instead, which need none",
			len(lookups), maxLookups, strings.Join(lookups, ", "))
	}
	all := slices.Concat([]string{"v=spf1"}, mechanisms)
	if fallback.isModifier() {
		all = append(append(all, modifiers...), fallback.String())
	} else {
		all = append(append(all, fallback.String()), modifiers...)
	}
	return ps.finish(spfTerms, strings.Join(all, " "))
}

type spfTerm struct {
	qualifier string // "" for +, the default
	name      string
	separator string // between name and value: ":", "=" or nothing
	value     string // canonical
	cidr      string // canonical, with its slashes
}

func (t spfTerm) String() string { return t.qualifier + t.name + t.separator + t.value + t.cidr }

// key is equal for two terms if the second has no effect: mechanisms that differ at
// most in their qualifier, and modifiers with the same name.
func (t spfTerm) key() string {
	if t.isModifier() {
		return t.name
	}
	t.qualifier = ""
	return t.String()
}

func (t spfTerm) isModifier() bool { return t.separator == "=" }

// needsLookup reports whether a term counts towards maxLookups.
func (t spfTerm) needsLookup() bool {
	switch t.name {
	case "include", "a", "mx", "exists", "redirect":
		return true
	}
	return false // all, ip4, ip6, exp; ptr counts, but is refused
}

// checkPlace refuses a term that belongs in [SPF.Default].
func (t spfTerm) checkPlace() error {
	switch t.name {
	case "all":
		return fmt.Errorf("%s belongs in default: receivers ignore all terms after it (RFC 7208, section 5.1)", t)
	case "redirect":
		return fmt.Errorf("%s belongs in default: it replaces all, and receivers ignore it beside all (RFC 7208, section 6.1)", t)
	}
	return nil
}

// repeated describes the problem of a term with the same key as element i.
func (t spfTerm) repeated(i int) string {
	if t.isModifier() {
		return fmt.Sprintf("%s must not occur twice (RFC 7208, section 6); element %d is the first", t.name, i)
	}
	return fmt.Sprintf("%s never matches, because element %d is the same mechanism", t, i)
}

// parseSPFDefault parses the term for all other hosts.
func parseSPFDefault(s string) (spfTerm, error) {
	const expected = "expected -all, ~all or ?all, or redirect=<domain>"
	if s == "" {
		return spfTerm{}, errors.New("a policy must have a result for all other hosts; " + expected)
	}
	t, err := parseSPFTerm(s)
	switch {
	case errors.Is(err, errNotSPF):
		return spfTerm{}, fmt.Errorf("%s %w; %s", shorten(s), errNotSPF, expected)
	case err != nil:
		return spfTerm{}, err
	case t.name == "redirect":
		return t, nil
	case t.name != "all":
		return spfTerm{}, fmt.Errorf("%s does not cover all other hosts; %s", t, expected)
	case t.qualifier == "":
		return spfTerm{}, errors.New("all without a qualifier means +all, which lets every host of the internet send for the domain; " + expected)
	}
	return t, nil
}

// parseSPFTerm parses one term (RFC 7208, section 4.6.1).
func parseSPFTerm(s string) (spfTerm, error) {
	switch {
	case s == "":
		return spfTerm{}, errors.New("a term must not be empty; expected one such as include:_spf.example.com")
	case strings.HasPrefix(strings.ToLower(s), "v=spf1"):
		return spfTerm{}, errors.New("the record gets v=spf1 automatically; write only the terms after it")
	case strings.ContainsAny(s, " \t\r\n"):
		return spfTerm{}, fmt.Errorf("%s has white space; write each term as its own element", shorten(s))
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
		return spfTerm{}, fmt.Errorf("%s needs a colon, as in %s:%s; with an equals sign receivers ignore it", t.name, t.name, spfExamples[t.name])
	}
	return spfTerm{}, errUnknownTerm(s, t.name)
}

// parseMechanism parses rest, the text after the name of a mechanism.
func (t spfTerm) parseMechanism(s, rest string) (spfTerm, error) {
	var err error
	switch t.name {
	case "all":
		if rest != "" {
			err = errors.New("nothing may follow its name")
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
		return spfTerm{}, errors.New("ptr must not be used: it is slow and unreliable, and many receivers skip it (RFC 7208, section 5.5); list the hosts with a, mx, ip4 or ip6")
	case "redirect", "exp":
		return spfTerm{}, fmt.Errorf("%s needs an equals sign, as in %s=%s", t.name, t.name, spfExamples[t.name])
	default:
		return spfTerm{}, errUnknownTerm(s, t.name)
	}
	if err != nil {
		return spfTerm{}, fmt.Errorf("%s: %w", t.name, err)
	}
	return t, nil
}

// hosts matches what follows a and mx: a domain, which may have macros with slashes, and
// prefix lengths, one for IPv4 after one slash and one for IPv6 after two (RFC 7208, section 5.3).
var hosts = regexp.MustCompile(`^(?::(.*?))?(?:/([0-9]*))?(?://([0-9]*))?$`)

// parseHosts parses the optional domain and prefix lengths of a and mx. Full lengths are left
// out.
func (t *spfTerm) parseHosts(rest string) error {
	m := hosts.FindStringSubmatchIndex(rest)
	if m == nil {
		return fmt.Errorf("%s is not of the form :mail.example.com, /24, //64 or /24//64", shorten(rest))
	}
	for i, bits := range []int{32, 128} {
		from, to := m[4+2*i], m[5+2*i]
		if from < 0 {
			continue
		}
		n, err := prefixLength(rest[from:to], bits, t.qualifier == "")
		if err != nil {
			return err
		}
		if n < bits {
			t.cidr += strings.Repeat("/", i+1) + strconv.Itoa(n)
		}
	}
	if m[2] < 0 {
		return nil
	}
	t.separator = ":"
	var err error
	t.value, err = domainSpec(rest[m[2]:m[3]])
	return err
}

// spfExamples are sample values for messages, by the name of the term.
var spfExamples = map[string]string{
	"include": "_spf.example.com", "exists": "%{i}._spf.example.com", "a": "mail.example.com", "mx": "example.com",
	"ip4": "192.0.2.0/24", "ip6": "2001:db8::/32", "redirect": "_spf.example.com", "exp": "explain._spf.example.com",
}

var errNotSPF = errors.New("is not an SPF term")

// errUnknownTerm suggests a correction for a term that RFC 7208 does not define.
// Receivers return permerror for an unknown mechanism and ignore an unknown modifier,
// so both are errors here.
func errUnknownTerm(s, name string) error {
	switch name {
	case "ip", "ipv4", "ipv6", "ip4address", "ip6address":
		return fmt.Errorf("%s %w; expected ip4:%s or ip6:%s", shorten(s), errNotSPF, spfExamples["ip4"], spfExamples["ip6"])
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
		return fmt.Errorf("%s %w; write %s%s:%s", shorten(s), errNotSPF, qualifier, mechanism, bare)
	}
	if host, err := domainSpec(bare); err == nil {
		return fmt.Errorf("%s %w; expected %[3]sinclude:%[4]s for the policy of that name, or %[3]sa:%[4]s or %[3]smx:%[4]s for its hosts", shorten(s), errNotSPF, qualifier, host)
	}
	return fmt.Errorf("%s %w; expected one of include, a, mx, ip4, ip6, exists and exp", shorten(s), errNotSPF)
}
