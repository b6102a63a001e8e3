package maildns

import (
	"math"
)

// DMARC is a DMARC policy (RFC 9989). Empty and nil fields are omitted from the record;
// the RFC defines their defaults.
type DMARC struct {
	// P, SP and NP are the policies for mail that fails: from the domain, from its
	// subdomains, and from subdomains that don't exist. Each is none, quarantine or
	// reject. P is required; its problems have the field policy.
	P, SP, NP string
	// RUA and RUF are the addresses for aggregate and failure reports, with or
	// without mailto:. Until 1.0 they may have a maximum size, as in
	// dmarc@example.com!10m, which RFC 9989 has removed.
	RUA, RUF []string
	// ADKIM and ASPF are the alignment modes: r (relaxed) or s (strict).
	ADKIM, ASPF string
	// T is y while the policy is only tested, or n.
	T string
	// PSD is whether the domain is a public suffix: y, n or u (unknown).
	PSD string
	// FO lists the failures to report: 0, 1, d, s.
	FO []string
	// RI, RF and Pct are tags of RFC 7489 that RFC 9989 has removed, and accepted until 1.0:
	// the interval between aggregate reports in seconds, the formats of failure reports (afrf),
	// and the share of mail to which the policy applies, in percent.
	RI  *int64
	RF  []string
	Pct *int64
}

// Record returns the record, with v and p first, because receivers of RFC 7489 rely on it.
func (d DMARC) Record() (string, error) {
	var ps Problems
	policies := []string{"none", "quarantine", "reject"}
	ps.oneOf("policy", whole, d.P, policies...)
	ps.optional("sp", d.SP, policies...)
	ps.optional("np", d.NP, policies...)
	ps.optional("adkim", d.ADKIM, "r", "s")
	ps.optional("aspf", d.ASPF, "r", "s")
	ps.optional("t", d.T, "y", "n")
	ps.optional("psd", d.PSD, "y", "n", "u")
	ps.inRange("ri", d.RI, 0, math.MaxUint32)
	ps.inRange("pct", d.Pct, 0, 100)

	tags := tagList{"v=DMARC1"}
	for _, tag := range [][2]string{
		{"p", d.P}, {"sp", d.SP}, {"np", d.NP},
		{"rua", ps.uris("rua", d.RUA, sizedMailtoURI)}, {"ruf", ps.uris("ruf", d.RUF, sizedMailtoURI)},
		{"adkim", d.ADKIM}, {"aspf", d.ASPF}, {"t", d.T}, {"psd", d.PSD}, {"ri", decimal(d.RI)},
		{"fo", ps.words("fo", d.FO, "0", "1", "d", "s")}, {"rf", ps.words("rf", d.RF, "afrf")}, {"pct", decimal(d.Pct)},
	} {
		tags.add(tag[0], tag[1])
	}
	return ps.finish("rua", tags.String())
}
