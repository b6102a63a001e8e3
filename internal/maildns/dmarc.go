package maildns

import (
	"math"
	"strconv"
	"strings"
)

// DMARC is a DMARC policy (RFC 7489), and how receivers report on it. What is
// empty or nil is left out of the record, for which RFC 7489 has defaults.
type DMARC struct {
	// P, SP and NP say what to do with mail that fails, from the domain, from its
	// subdomains, and from subdomains that don't exist (RFC 9091): none,
	// quarantine or reject. P is required.
	P, SP, NP string
	// RUA and RUF are the addresses for aggregate and failure reports, with
	// mailto: in front or without, and perhaps a largest size after an
	// exclamation point, as in dmarc@example.com!10m.
	RUA, RUF []string
	// ADKIM and ASPF are how closely names must agree: r (relaxed) or s (strict).
	ADKIM, ASPF string
	// RI is the wished-for time between aggregate reports, in seconds.
	RI *int64
	// FO says of which failures to report: 0, 1, d, s.
	FO []string
	// RF are the formats of failure reports: afrf.
	RF []string
	// Pct is the share of mail that the policy is for, in percent.
	Pct *int64
}

// Record returns the policy as a record, its tags in the order of RFC 7489,
// section 6.4: receivers rely on v and p being the first two.
func (d DMARC) Record() (string, error) {
	var ps Problems
	policies := []string{"none", "quarantine", "reject"}
	ps.oneOf("p", whole, d.P, policies...)
	ps.optional("sp", d.SP, policies...)
	ps.optional("np", d.NP, policies...)
	ps.optional("adkim", d.ADKIM, "r", "s")
	ps.optional("aspf", d.ASPF, "r", "s")
	ps.inRange("ri", d.RI, 0, math.MaxUint32)
	ps.inRange("pct", d.Pct, 0, 100)

	tags := tagList{"v=DMARC1"}
	tags.add("p", d.P)
	tags.add("sp", d.SP)
	tags.add("np", d.NP)
	tags.add("rua", ps.uris("rua", d.RUA, sizedMailtoURI))
	tags.add("ruf", ps.uris("ruf", d.RUF, sizedMailtoURI))
	tags.add("adkim", d.ADKIM)
	tags.add("aspf", d.ASPF)
	tags.add("ri", decimal(d.RI))
	tags.add("fo", ps.words("fo", d.FO, "0", "1", "d", "s"))
	tags.add("rf", ps.words("rf", d.RF, "afrf"))
	tags.add("pct", decimal(d.Pct))
	return ps.finish("rua", tags.String())
}

// optional is oneOf for a value that may be absent.
func (ps *Problems) optional(field, value string, allowed ...string) {
	if value != "" {
		ps.oneOf(field, whole, value, allowed...)
	}
}

// words checks a list of words, and returns it as it stands in a record.
func (ps *Problems) words(field string, given []string, allowed ...string) string {
	for i, s := range given {
		ps.oneOf(field, i, s, allowed...)
	}
	ps.duplicates(field, given)
	return strings.Join(given, ":")
}

func (ps *Problems) inRange(field string, n *int64, low, high int64) {
	if n != nil && (*n < low || *n > high) {
		ps.add(field, whole, "must be a whole number from %d to %d, not %d", low, high, *n)
	}
}

// decimal returns an optional number in text.
func decimal(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
