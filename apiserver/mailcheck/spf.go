package mailcheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

// A limit of RFC 7208, section 4.6.4, and the size up to which a DNS response fits into one packet.
const (
	maxSPFVoid   = 2
	maxSPFOctets = 450
)

// spfCount is the cost of evaluating a policy.
type spfCount struct {
	*checker
	f       *finding
	lookups int
	// void lists the terms with names that do not exist.
	void []string
	// unseen lists the terms with an unknown number of lookups.
	unseen []string
	seen   map[string]bool
	// within names the included policy for messages, or is empty.
	within  string
	senders senders
}

// senders describes who may send by a policy. A domain whose policy lets nobody send, such as v=spf1 -all,
// sends no mail, even if it receives mail.
type senders int

const (
	nobody senders = iota
	// unknown means that at most policies that can't be seen let somebody send.
	unknown
	somebody
)

func (s *spfCount) fail(format string, args ...any) {
	s.f.fail("%s%s", s.within, fmt.Sprintf(format, args...))
}

func (s *spfCount) warn(format string, args ...any) {
	s.f.warn("%s%s", s.within, fmt.Sprintf(format, args...))
}

// spf checks the policy that lists the senders for the domain.
func (c *checker) spf() (Result, senders) {
	f := begin("spf", "RFC 7208")
	policy, ok := c.policy(f, c.domain, spfVersion, f.fail, "there is no SPF record, so that anybody may send in the domain's name")
	if !ok {
		r := f.end("")
		if r.Status == Skipped {
			return r, unknown
		}
		return r, somebody
	}
	count := &spfCount{checker: c, f: f, seen: map[string]bool{}}
	all := count.evaluate(c.domain, policy)
	switch all {
	case "+all":
		f.fail("+all lets every server send for the domain")
	case "?all", "":
		f.warn("it says nothing about other servers; end it with ~all or -all")
	}
	atLeast := ""
	if len(count.unseen) > 0 {
		atLeast = ", beside those of " + strings.Join(count.unseen, ", ")
	}
	if count.lookups > maildns.MaxLookups {
		f.fail("it needs %d lookups%s, and receivers make at most %d", count.lookups, atLeast, maildns.MaxLookups)
	}
	switch void := strings.Join(count.void, ", "); {
	case len(count.void) > maxSPFVoid:
		f.fail("%d of its names do not exist, and receivers permit %d: %s", len(count.void), maxSPFVoid, void)
	case void != "":
		f.warn("it names what does not exist: %s", void)
	}
	if n := len(policy); n > maxSPFOctets {
		f.warn("its %d octets may not fit into one packet; keep it below %d", n, maxSPFOctets)
	}
	r := f.end(fmt.Sprintf("%d of at most %d lookups%s", count.lookups, maildns.MaxLookups, atLeast))
	if all != "-all" || r.Status == Failed {
		return r, somebody
	}
	return r, count.senders
}

// afterAll lists the modifiers that take effect after all (RFC 7208, section 6.2; RFC 6652).
var afterAll = []string{"exp", "ra", "rp", "rr"}

// evaluate counts the lookups of a policy and reports its mistakes. It returns the term all with
// its qualifier, or "" without one.
func (s *spfCount) evaluate(domain, policy string) (all string) {
	s.seen[domain] = true
	modifiers := map[string]string{}
	for _, text := range strings.Split(policy, " ")[1:] {
		if text == "" {
			continue
		}
		term, err := maildns.ParseSPFTerm(text)
		if err != nil {
			s.fail("%s", err)
			continue
		}
		if _, twice := modifiers[term.Name]; twice && (term.Name == "redirect" || term.Name == "exp") {
			s.fail("%s occurs twice, so that the whole policy fails", term.Name)
		}
		if term.IsModifier() {
			modifiers[term.Name] = term.Value
		}
		if all != "" && !slices.Contains(afterAll, term.Name) {
			s.warn("%.60q follows %s, and is ignored", text, all)
			continue
		}
		if err := term.Deprecated(); err != nil {
			s.warn("%s", err)
		}
		before := s.senders
		if !term.IsModifier() && term.Name != "include" {
			s.senders = somebody
		}
		switch {
		case term.Name == "all":
			all = cmp.Or(term.Qualifier, "+") + "all"
			if redirect := modifiers["redirect"]; redirect != "" {
				s.warn("redirect=%.60s is ignored beside %s", redirect, all)
			}
		case term.Name == "include":
			s.include(text, term.Value, false)
		case term.NeedsLookup() && !term.IsModifier():
			s.lookups++
			s.names(text, term, domain)
		}
		if term.Qualifier != "" { // only + lets a host send
			s.senders = before
		}
	}
	if redirect := modifiers["redirect"]; redirect != "" && all == "" {
		return s.include("redirect="+redirect, redirect, true)
	}
	return all
}

// names looks up the hosts of the term a or mx, or the name of exists.
func (s *spfCount) names(text string, term maildns.SPFTerm, domain string) {
	recordType := map[string]string{"a": dnsdata.TypeA, "exists": dnsdata.TypeA, "mx": dnsdata.TypeMX}[term.Name]
	name := cmp.Or(term.Value, domain)
	if recordType == "" || strings.Contains(name, "%") {
		return
	}
	values, err := s.lookup(name, recordType)
	found := len(values) > 0
	if term.Name == "a" && !found {
		found, err = s.resolves(name)
	}
	s.f.unresolved(s.within+text, err)
	switch {
	case err == nil && !found:
		s.void = append(s.void, text)
	case recordType == dnsdata.TypeMX && len(values) > maildns.MaxLookups:
		s.fail("%.60q has %d hosts, and receivers look up at most %d", text, len(values), maildns.MaxLookups)
	}
}

// include counts the lookups of another domain's policy.
func (s *spfCount) include(term, domain string, isRedirect bool) (all string) {
	s.lookups++
	switch {
	case strings.Contains(domain, "%"):
		s.unseen, s.senders = append(s.unseen, term), max(s.senders, unknown)
		return "-all" // whatever the policy says
	case s.seen[domain]:
		s.fail("%s leads back to a policy that has included it", term)
		return ""
	case s.lookups > 3*maildns.MaxLookups:
		return "-all"
	}
	policies, err := s.policies(domain, spfVersion)
	switch {
	case err != nil:
		s.f.unresolved(s.within+term, err)
		s.unseen, s.senders = append(s.unseen, term), max(s.senders, unknown)
		return "-all"
	case len(policies) != 1:
		s.fail("%s: %s has %d SPF records, not one, so that the whole policy fails", term, domain, len(policies))
		return ""
	}
	if err := foreign(policies[0]); err != nil {
		s.fail("%s: %s", term, err)
		return ""
	}
	outer := s.within
	s.within = term + ": "
	all = s.evaluate(domain, policies[0])
	s.within = outer
	delete(s.seen, domain)
	if !isRedirect {
		return ""
	}
	return all
}
