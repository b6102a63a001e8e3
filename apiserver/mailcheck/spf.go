package mailcheck

import (
	"fmt"
	"net/netip"
	"regexp"
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
	void    int
	// unseen are the terms whose lookups can't be counted.
	unseen []string
	seen   map[string]bool
}

// spf checks the policy of who may send for the domain.
func (c *checker) spf() Result {
	f := begin("spf", "RFC 7208")
	policies, err := c.policies(c.domain, "v=spf1", " ")
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
	if count.void > maxSPFVoid {
		f.fail("%d of its names do not exist, and receivers permit %d", count.void, maxSPFVoid)
	}
	if n := len(policies[0]); n > maxSPFOctets {
		f.warn("its %d octets may not fit into one packet; keep it below %d", n, maxSPFOctets)
	}
	return f.end(fmt.Sprintf("%d of at most %d lookups%s", count.lookups, maxSPFLookups, atLeast))
}

// policies returns the TXT records of a name that begin with a version and a separator, or are
// the version.
func (c *checker) policies(name, version, separators string) (found []string, err error) {
	values, err := c.lookup(name, dnsdata.TypeTXT)
	for _, v := range values {
		if len(v) >= len(version) && strings.EqualFold(v[:len(version)], version) && (len(v) == len(version) || strings.ContainsRune(separators, rune(v[len(version)]))) {
			found = append(found, v)
		}
	}
	return found, err
}

var spfModifier = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_.-]*)=(.*)$`)

// evaluate counts the lookups of a policy and reports its mistakes. It returns the term all with
// its qualifier, or "" if the policy has none.
func (s *spfCount) evaluate(domain, policy string) (all string) {
	s.seen[domain] = true
	redirect := ""
	for _, term := range strings.Fields(policy)[1:] {
		if m := spfModifier.FindStringSubmatch(term); m != nil {
			if strings.EqualFold(m[1], "redirect") {
				redirect = m[2]
			}
			continue
		}
		qualifier, mechanism := "+", term
		if strings.ContainsRune("+-~?", rune(term[0])) {
			qualifier, mechanism = term[:1], term[1:]
		}
		name, argument, _ := strings.Cut(mechanism, ":")
		name, prefix, hasPrefix := strings.Cut(name, "/")
		if argument == "" && hasPrefix {
			argument = "/" + prefix
		}
		switch strings.ToLower(name) {
		case "all":
			return qualifier + "all"
		case "ip4", "ip6":
			s.address(strings.ToLower(name), argument)
		case "a", "mx":
			s.names(map[string]string{"a": dnsdata.TypeA, "mx": dnsdata.TypeMX}[strings.ToLower(name)], domain, argument)
		case "ptr":
			s.lookups++
			s.f.warn("ptr must not be used (section 5.5)")
		case "exists":
			s.lookups++
		case "include":
			s.include(term, argument, false)
		default:
			s.f.fail("the term %.60q is none of SPF", term)
		}
	}
	if redirect != "" {
		return s.include("redirect="+redirect, redirect, true)
	}
	return ""
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
func (s *spfCount) names(recordType, domain, argument string) {
	s.lookups++
	name, _, _ := strings.Cut(argument, "/")
	if name == "" {
		name = domain
	}
	if strings.Contains(name, "%") { // a macro
		return
	}
	values, err := s.lookup(name, recordType)
	if err == nil && len(values) == 0 && (recordType != dnsdata.TypeA || !s.hasAddress(name)) {
		s.void++
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
		s.unseen = append(s.unseen, term)
		return "-all" // whatever it is
	case s.seen[domain]:
		s.f.fail("%s leads back to a policy that has included it", term)
		return ""
	case s.lookups > 3*maxSPFLookups:
		return "-all"
	}
	policies, err := s.policies(domain, "v=spf1", " ")
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
