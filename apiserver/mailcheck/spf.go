package mailcheck

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// The limits of RFC 7208, section 4.6.4, and the size up to which an answer fits into one packet.
const (
	maxSPFLookups = 10
	maxSPFVoid    = 2
	maxSPFOctets  = 450
)

// spfCount is what the evaluation of a policy costs.
type spfCount struct {
	*checker
	f       *finding
	lookups int
	// void are the names that do not exist.
	void []string
	// unseen are the terms whose lookups can't be counted.
	unseen []string
	seen   map[string]bool
}

// spf checks the policy of who may send for the domain.
func (c *checker) spf() Result {
	f := begin("spf", "RFC 7208")
	policies, err := c.policies(c.domain, spfVersion)
	switch {
	case err != nil:
		return f.unseen(c.domain, err)
	case len(policies) == 0:
		f.fail("there is no SPF record, so that anybody may send in the domain's name")
		return f.end("")
	case len(policies) > 1:
		f.fail("there are %d SPF records, so that receivers use none of them (section 4.5); merge them into one", len(policies))
		return f.end("")
	}
	count := &spfCount{checker: c, f: f, seen: map[string]bool{}}
	switch all := count.evaluate(c.domain, policies[0]); all {
	case "+all":
		f.fail("+all lets every server send for the domain")
	case "?all", "":
		f.warn("it says nothing about other servers; end it with ~all or -all")
	}
	atLeast := ""
	if len(count.unseen) > 0 {
		atLeast = ", beside those of " + strings.Join(count.unseen, ", ")
	}
	if count.lookups > maxSPFLookups {
		f.fail("it needs %d lookups%s, and receivers make at most %d", count.lookups, atLeast, maxSPFLookups)
	}
	switch void := strings.Join(count.void, ", "); {
	case len(count.void) > maxSPFVoid:
		f.fail("%d of its names do not exist, and receivers permit %d: %s", len(count.void), maxSPFVoid, void)
	case void != "":
		f.warn("it names what does not exist: %s", void)
	}
	if n := len(policies[0]); n > maxSPFOctets {
		f.warn("its %d octets may not fit into one packet; keep it below %d", n, maxSPFOctets)
	}
	return f.end(fmt.Sprintf("%d of at most %d lookups%s", count.lookups, maxSPFLookups, atLeast))
}

// The beginnings of records. That of SPF is the same in upper and lower case (RFC 7208, section
// 4.5); DMARC permits white space (RFC 9989, section 4.8), and the other two do not.
var (
	spfVersion   = regexp.MustCompile(`(?i)^v=spf1( |$)`)
	dmarcVersion = regexp.MustCompile(`(?i)^v[ \t]*=[ \t]*DMARC1[ \t]*(;|$)`)
	stsVersion   = regexp.MustCompile(`^v=STSv1[ \t]*;`)
	tlsVersion   = regexp.MustCompile(`^v=TLSRPTv1[ \t]*;`)
)

// policies returns the TXT records of a name that begin with a version. Receivers ignore others.
func (c *checker) policies(name string, version *regexp.Regexp) (found []string, err error) {
	values, err := c.lookup(name, dnsdata.TypeTXT)
	for _, v := range values {
		if version.MatchString(v) {
			found = append(found, v)
		}
	}
	return found, err
}

var (
	spfModifier = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_.-]*)=(.*)$`)
	// spfTarget is a name with macros (RFC 7208, section 7.1), and prefixes the two that an a or
	// mx may end with.
	spfTarget   = regexp.MustCompile(`^([^%]|%%|%_|%-|%\{[SLODIPHCRTVslodiphcrtv][0-9]*r?[.+,/_=-]*\})+$`)
	spfPrefixes = regexp.MustCompile(`^(/([0-9]|[12][0-9]|3[0-2]))?(//([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?$`)
)

// afterAll are the modifiers that have an effect after all (RFC 7208, section 6.2; RFC 6652).
var afterAll = []string{"exp", "ra", "rp", "rr"}

// evaluate counts the lookups of a policy and reports its mistakes. It returns the term all with
// its qualifier, or "" if the policy has none.
func (s *spfCount) evaluate(domain, policy string) (all string) {
	s.seen[domain] = true
	modifiers := map[string]string{}
	for _, term := range strings.Fields(policy)[1:] {
		m := spfModifier.FindStringSubmatch(term)
		if all != "" && (m == nil || !slices.Contains(afterAll, strings.ToLower(m[1]))) {
			s.f.warn("%.60q follows %s, and is ignored", term, all)
			continue
		}
		if m != nil {
			s.modifier(modifiers, term, strings.ToLower(m[1]), m[2])
			continue
		}
		qualifier, mechanism := "+", term
		if strings.ContainsRune("+-~?", rune(term[0])) {
			qualifier, mechanism = term[:1], term[1:]
		}
		end := strings.IndexAny(mechanism+":", ":/")
		name, argument := strings.ToLower(mechanism[:end]), strings.TrimPrefix(mechanism[end:], ":")
		switch {
		case name == "all" && mechanism[end:] == "":
			all = qualifier + "all"
		case name == "ip4" || name == "ip6":
			s.address(name, argument)
		case name == "a" || name == "mx":
			s.names(term, map[string]string{"a": dnsdata.TypeA, "mx": dnsdata.TypeMX}[name], domain, argument)
		case name == "ptr":
			s.lookups++
			s.f.warn("ptr must not be used (section 5.5)")
			s.target(term, argument)
		case name == "exists" && argument != "":
			s.lookups++
			s.target(term, argument)
		case name == "include":
			s.include(term, argument, false)
		default:
			s.f.fail("the term %.60q is none of SPF", term)
		}
	}
	if redirect := modifiers["redirect"]; redirect != "" && all == "" {
		return s.include("redirect="+redirect, redirect, true)
	}
	return all
}

// modifier notes a modifier. redirect and exp may occur once (section 6); others are ignored.
func (s *spfCount) modifier(modifiers map[string]string, term, name, value string) {
	if name != "redirect" && name != "exp" {
		return
	}
	if _, twice := modifiers[name]; twice {
		s.f.fail("%s occurs twice, so that the whole policy fails", name)
	}
	modifiers[name] = value
	s.target(term, value)
}

// target checks the macros of a name.
func (s *spfCount) target(term, name string) {
	if name != "" && !spfTarget.MatchString(name) {
		s.f.fail("%.60q has a macro that SPF does not have", term)
	}
}

func (s *spfCount) address(family, text string) {
	p, err := netip.ParsePrefix(text)
	if !strings.Contains(text, "/") {
		var a netip.Addr
		a, err = netip.ParseAddr(text)
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if err != nil || p.Addr().Is4() != (family == "ip4") {
		s.f.fail("%s:%.60s is no address", family, text)
	}
}

// names counts the lookup of a or mx.
func (s *spfCount) names(term, recordType, domain, argument string) {
	s.lookups++
	name, prefixes := argument, ""
	if i := strings.IndexByte(argument, '/'); i >= 0 && !strings.Contains(argument[:i], "%") {
		name, prefixes = argument[:i], argument[i:]
	}
	if !spfPrefixes.MatchString(prefixes) {
		s.f.fail("the term %.60q has a prefix that no address has", term)
	}
	if s.target(term, name); strings.Contains(name, "%") {
		return
	}
	if name == "" {
		name = domain
	}
	values, err := s.lookup(name, recordType)
	switch {
	case err == nil && len(values) == 0 && (recordType != dnsdata.TypeA || !s.hasAddress(name)):
		s.void = append(s.void, term)
	case recordType == dnsdata.TypeMX && len(values) > maxSPFLookups:
		s.f.fail("%.60q has %d hosts, and receivers look up at most %d", term, len(values), maxSPFLookups)
	}
}

// include counts the lookups of another domain's policy.
func (s *spfCount) include(term, domain string, isRedirect bool) (all string) {
	s.lookups++
	domain = strings.ToLower(strings.TrimSuffix(domain, "."))
	switch {
	case domain == "":
		s.f.fail("%s names no domain", term)
		return ""
	case strings.Contains(domain, "%"):
		if !isRedirect { // whose modifier was checked
			s.target(term, domain)
		}
		s.unseen = append(s.unseen, term)
		return "-all" // whatever it is
	case s.seen[domain]:
		s.f.fail("%s leads back to a policy that has included it", term)
		return ""
	case s.lookups > 3*maxSPFLookups:
		return "-all"
	}
	policies, err := s.policies(domain, spfVersion)
	switch {
	case err != nil:
		s.unseen = append(s.unseen, term)
		return "-all"
	case len(policies) != 1:
		s.f.fail("%s: %s has %d SPF records, not one, so that the whole policy fails", term, domain, len(policies))
		return ""
	}
	all = s.evaluate(domain, policies[0])
	delete(s.seen, domain)
	if !isRedirect {
		return ""
	}
	return all
}
