package maildns

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MaxLookups limits the terms with DNS lookups. Beyond the limit, receivers return permerror (RFC
// 7208, section 4.6.4).
const MaxLookups = 10

// SPF is the policy that lists the hosts allowed to send mail for a domain (RFC 7208).
type SPF struct {
	// Terms are the mechanisms in the order in which receivers try them, and optionally an exp
	// modifier in any position.
	Terms []string
	// Default is the term for all other hosts: the mechanism all with its qualifier, or the
	// modifier redirect.
	Default string
}

const (
	spfTerms   = "terms"
	spfDefault = "default"
)

// Record returns the record: mechanisms, the default, exp, and redirect at the very end (RFC 7208,
// section 6.1). Names are in ASCII and lower case, and networks in the form of RFC 5952, without
// bits after their prefix.
//
// It checks the syntax of each term, that at most 10 terms need a lookup, and that the record fits
// a TXT record. It can't count the lookups of included policies, nor check that the DNS response
// fits a UDP packet (section 3.4).
func (s SPF) Record() (string, error) {
	var ps Problems
	var mechanisms, modifiers, lookups []string
	add := func(t SPFTerm) {
		if t.NeedsLookup() {
			lookups = append(lookups, t.String())
		}
		if t.IsModifier() {
			modifiers = append(modifiers, t.String())
		} else {
			mechanisms = append(mechanisms, t.String())
		}
	}
	seen := map[string]int{}
	for i, term := range s.Terms {
		t, err := parseConfigured(term)
		first, again := seen[t.key()]
		switch why := onlyInDefault[t.Name]; {
		case err != nil:
			ps.addErr(spfTerms, i, err)
		case why != "":
			ps.add(spfTerms, i, "%s belongs in default: %s", t, why)
		case again && t.IsModifier():
			ps.add(spfTerms, i, "%s must not occur twice (RFC 7208, section 6); element %d is the first", t.Name, first)
		case again:
			ps.add(spfTerms, i, "%s never matches, because element %d is the same mechanism", t, first)
		default:
			seen[t.key()] = i
			add(t)
		}
	}
	fallback, err := parseSPFDefault(s.Default)
	ps.addErr(spfDefault, whole, err)
	add(fallback)
	if len(lookups) > MaxLookups {
		ps.add(spfTerms, whole, "%d terms need a DNS lookup, and receivers give up after %d (RFC 7208, section 4.6.4): %s; list addresses with ip4 and ip6 instead, which need none",
			len(lookups), MaxLookups, strings.Join(lookups, ", "))
	}
	return ps.finish(spfTerms, strings.Join(slices.Concat([]string{"v=spf1"}, mechanisms, modifiers), " "))
}

// onlyInDefault maps the terms that belong in [SPF.Default] to the reason.
var onlyInDefault = map[string]string{
	"all":      "receivers ignore all terms after it (RFC 7208, section 5.1)",
	"redirect": "it replaces all, and receivers ignore it beside all (RFC 7208, section 6.1)",
}

// SPFTerm is one term of a policy, in canonical form.
type SPFTerm struct {
	// Qualifier is -, ~ or ?, or "" for +, the default.
	Qualifier string
	// Name is the name of the mechanism or modifier, in lower case.
	Name string
	// Value is the domain, network or text after the name, or "".
	Value string

	separator string // between name and value: ":", "=" or nothing
	cidr      string // prefix lengths of a and mx, with their slashes
}

func (t SPFTerm) String() string { return t.Qualifier + t.Name + t.separator + t.Value + t.cidr }

// key is equal for two terms if the second one is ignored: mechanisms that differ at most in their
// qualifier, and modifiers with the same name.
func (t SPFTerm) key() string {
	if t.IsModifier() {
		return t.Name
	}
	t.Qualifier = ""
	return t.String()
}

// IsModifier reports whether a term is a modifier, such as redirect.
func (t SPFTerm) IsModifier() bool { return t.separator == "=" }

// NeedsLookup reports whether a term counts towards MaxLookups.
func (t SPFTerm) NeedsLookup() bool {
	switch t.Name {
	case "include", "a", "mx", "exists", "ptr", "redirect":
		return true
	}
	return false // all, ip4, ip6, exp
}

// parseSPFDefault parses the term for all other hosts.
func parseSPFDefault(s string) (SPFTerm, error) {
	const expected = "expected -all, ~all or ?all, or redirect=<domain>"
	if s == "" {
		return SPFTerm{}, errors.New("a policy must have a result for all other hosts; " + expected)
	}
	t, err := parseConfigured(s)
	switch {
	case err != nil:
		return SPFTerm{}, err
	case t.Name == "redirect":
		return t, nil
	case t.Name != "all":
		return SPFTerm{}, fmt.Errorf("%s does not cover all other hosts; %s", t, expected)
	case t.Qualifier == "":
		return SPFTerm{}, errors.New("all without a qualifier means +all, which lets every host of the internet send for the domain; " + expected)
	}
	return t, nil
}

// parseConfigured parses a term for a new policy, and refuses terms that nobody should publish.
func parseConfigured(s string) (SPFTerm, error) {
	switch {
	case s == "":
		return SPFTerm{}, errors.New("a term must not be empty; expected one such as include:_spf.example.com")
	case strings.HasPrefix(strings.ToLower(s), "v=spf1"):
		return SPFTerm{}, errors.New("the record gets v=spf1 automatically; write only the terms after it")
	case strings.ContainsAny(s, " \t\r\n"):
		return SPFTerm{}, fmt.Errorf("%.60q has white space; write each term as its own element", s)
	}
	t, err := ParseSPFTerm(s)
	switch {
	case err != nil:
		return SPFTerm{}, err
	case t.IsModifier() && spfExamples[t.Name] == "":
		return SPFTerm{}, errUnknownTerm(s)
	}
	return t, t.Deprecated()
}

// Deprecated returns an error for a term that receivers know but that must not be published.
func (t SPFTerm) Deprecated() error {
	const why = "must not be used: it is slow and unreliable, and many receivers skip it (RFC 7208, section 5.5)"
	switch {
	case t.Name == "ptr":
		return errors.New("ptr " + why + "; list the hosts with a, mx, ip4 or ip6")
	case strings.Contains(strings.ToLower(t.Value), "%{p"):
		return fmt.Errorf("%s: the macro p %s", t.Name, why)
	}
	return nil
}

var spfTerm = regexp.MustCompile(`^([-+~?]?)([A-Za-z][A-Za-z0-9_.-]*)(?:([:=])(.*)|(/.*))?$`)

// ParseSPFTerm parses one term (RFC 7208, section 4.6.1). Receivers ignore modifiers other than
// redirect and exp.
func ParseSPFTerm(s string) (SPFTerm, error) {
	m := spfTerm.FindStringSubmatch(s)
	if m == nil {
		return SPFTerm{}, errUnknownTerm(s)
	}
	t := SPFTerm{Qualifier: strings.TrimPrefix(m[1], "+"), Name: strings.ToLower(m[2]), separator: m[3]}
	value, example := m[4]+m[5], spfExamples[t.Name]
	isModifier := t.Name == "redirect" || t.Name == "exp"
	switch {
	case t.IsModifier() && m[1] != "":
		return SPFTerm{}, fmt.Errorf("%.60q is a modifier, which has no qualifier; write it without %s", s, m[1])
	case isModifier && !t.IsModifier():
		return SPFTerm{}, fmt.Errorf("%s needs an equals sign, as in %[1]s=%s", t.Name, example)
	case !isModifier && t.IsModifier() && example != "":
		return SPFTerm{}, fmt.Errorf("%s needs a colon, as in %[1]s:%s; with an equals sign receivers ignore it", t.Name, example)
	}
	var err error
	switch t.Name {
	case "include", "exists", "redirect", "exp":
		t.Value, err = domainSpec(value)
	case "a", "mx":
		err = t.parseHosts(t.separator + value)
	case "ip4", "ip6":
		t.Value, err = parseNetwork(t.Name, value, t.Qualifier == "")
	case "ptr":
		if t.separator+value != "" {
			t.Value, err = domainSpec(value)
		}
	case "all":
		if t.separator+value != "" {
			err = errors.New("nothing may follow its name")
		}
	default:
		if !t.IsModifier() {
			return SPFTerm{}, errUnknownTerm(s)
		}
		if !macroString.MatchString(value) {
			err = fmt.Errorf("%.60q is no text with macros such as %%{i}, so that the whole policy fails", value)
		}
		t.Value = value
	}
	if err != nil {
		return SPFTerm{}, fmt.Errorf("%s: %w", t.Name, err)
	}
	return t, nil
}

// hosts matches the text after a and mx: a domain, which may contain macros with slashes, and
// prefix lengths, for IPv4 after one slash and for IPv6 after two (RFC 7208, section 5.3).
var hosts = regexp.MustCompile(`^(:.*?)?(/[0-9]*)?(//[0-9]*)?$`)

// parseHosts parses the optional domain and prefix lengths of a and mx. It omits full lengths.
func (t *SPFTerm) parseHosts(rest string) (err error) {
	m := hosts.FindStringSubmatch(rest)
	if m == nil {
		return fmt.Errorf("%.60q is not of the form :mail.example.com, /24, //64 or /24//64", rest)
	}
	for i, bits := range []int{32, 128} {
		length := m[2+i]
		if length == "" {
			continue
		}
		n, err := prefixLength(strings.TrimLeft(length, "/"), bits, t.Qualifier == "")
		if err != nil {
			return err
		}
		if n < bits {
			t.cidr += length
		}
	}
	if domain, ok := strings.CutPrefix(m[1], ":"); ok {
		t.Value, err = domainSpec(domain)
	}
	return err
}

// spfExamples maps the name of a term to a sample value for messages.
var spfExamples = map[string]string{
	"include": "_spf.example.com", "exists": "%{i}._spf.example.com", "a": "mail.example.com", "mx": "example.com",
	"ip4": "192.0.2.0/24", "ip6": "2001:db8::/32", "redirect": "_spf.example.com", "exp": "explain._spf.example.com",
}

// errUnknownTerm is for a term that RFC 7208 does not define. Receivers return permerror for an
// unknown mechanism and ignore an unknown modifier, so both are errors here.
func errUnknownTerm(s string) error {
	return fmt.Errorf("%.60q is not an SPF term; expected include, a, mx, ip4, ip6, exists, exp, redirect or all, as in include:%s or ip4:%s", s, spfExamples["include"], spfExamples["ip4"])
}
