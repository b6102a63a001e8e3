package maildns

import (
	"slices"
	"strings"
)

// maxLookups is how many terms of a policy receivers look up before they give it
// up with permerror (RFC 7208, section 4.6.4).
const maxLookups = 10

// SPF is a sender policy (RFC 7208): which hosts may send mail for a domain.
type SPF struct {
	// Terms are the mechanisms in the order in which receivers try them. An exp
	// modifier may be among them, in any place.
	Terms []string
	// Default says what holds for all other hosts: the mechanism all with its
	// qualifier, or the modifier redirect.
	Default string
}

// The fields of SPF, as they are named in a [Problem].
const (
	spfTerms   = "terms"
	spfDefault = "default"
)

// Record returns the policy as a record: mechanisms, the default, exp, and
// redirect at the very end (RFC 7208, section 6.1). Names are in ASCII and lower
// case, and networks in the form of RFC 5952, without bits beyond their prefix.
//
// Besides the syntax of each term it checks that at most 10 of them need a
// look-up, those in the policies that they include not counted, as only the DNS
// can tell. It holds a record to what a TXT record can have. Whether the answer
// fits a UDP packet (section 3.4 advises 450 octets for all TXT records of a
// name) depends on what else is published there.
func (s SPF) Record() (string, error) {
	var ps Problems
	var mechanisms, modifiers []string
	var lookups []string
	seen := map[string]int{}
	for i, given := range s.Terms {
		t, err := parseSPFTerm(given)
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
		ps.add(spfTerms, whole, "%d terms need a DNS look-up, and receivers give up after %d (RFC 7208, section 4.6.4): %s; name addresses by ip4 and ip6 instead, which need none",
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
