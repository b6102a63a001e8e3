package maildns

import (
	"math"
)

// DMARC is a DMARC policy (RFC 7489). Empty and nil fields are omitted from the record;
// RFC 7489 defines their defaults.
type DMARC struct {
	// P, SP and NP are the policies for mail that fails: from the domain, from its
	// subdomains, and from subdomains that don't exist (RFC 9091). Each is none,
	// quarantine or reject. P is required; its problems have the field policy.
	P, SP, NP string
	// RUA and RUF are the addresses for aggregate and failure reports, with or
	// without mailto:, and optionally with a maximum size, as in
	// dmarc@example.com!10m.
	RUA, RUF []string
	// ADKIM and ASPF are the alignment modes: r (relaxed) or s (strict).
	ADKIM, ASPF string
	// RI is the requested interval between aggregate reports, in seconds.
	RI *int64
	// FO lists the failures to report: 0, 1, d, s.
	FO []string
	// RF are the formats of failure reports: afrf.
	RF []string
	// Pct is the share of mail to which the policy applies, in percent.
	Pct *int64
}

// Record returns the record. Its tags are in the order of RFC 7489, section 6.4,
// because receivers rely on v and p being the first two.
func (d DMARC) Record() (string, error) {
	var ps Problems
	policies := []string{"none", "quarantine", "reject"}
	ps.oneOf("policy", whole, d.P, policies...)
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
