package maildns

import (
	"math"
	"strings"
)

// DMARC is a DMARC policy (RFC 9989). Empty and nil fields are omitted from the record; the RFC
// defines their defaults.
type DMARC struct {
	// P, SP and NP are the policies for failing mail from the domain, from its subdomains, and from
	// subdomains that don't exist. Each is none, quarantine or reject. P is required; its problems
	// are reported for the field policy.
	P, SP, NP string
	// RUA and RUF are the addresses for aggregate and failure reports, with or without mailto:.
	// Until 1.0 an address may include a maximum size, as in dmarc@example.com!10m, which RFC 9989
	// removed.
	RUA, RUF []string
	// ADKIM and ASPF are the alignment modes: r (relaxed) or s (strict).
	ADKIM, ASPF string
	// T is y while the policy is being tested, or n.
	T string
	// PSD states whether the domain is a public suffix: y, n or u (unknown).
	PSD string
	// FO lists the failures to report: 0, 1, d, s.
	FO []string
	// RI, RF and Pct are tags of RFC 7489 that RFC 9989 removed. They are accepted until 1.0: the
	// interval between aggregate reports in seconds, the formats of failure reports (afrf), and the
	// percentage of mail to which the policy applies.
	RI  *int64
	RF  []string
	Pct *int64
}

// DMARCChoices maps each tag with fixed choices to the choices.
var DMARCChoices = map[string][]string{
	"p": dmarcPolicies, "sp": dmarcPolicies, "np": dmarcPolicies, "psd": {"y", "n", "u"}, "t": {"y", "n"}, "adkim": {"r", "s"}, "aspf": {"r", "s"},
}

// DMARCFailures are the words of the tag fo.
var DMARCFailures = []string{"0", "1", "d", "s"}

var dmarcPolicies = []string{"none", "quarantine", "reject"}

// Record returns the record. v and p come first, because receivers of RFC 7489 rely on it.
func (d DMARC) Record() (string, error) {
	var ps Problems
	ps.oneOf("policy", whole, d.P, dmarcPolicies...)
	tags := tagList{"v=DMARC1", "p=" + d.P}
	for _, tag := range [][2]string{
		{"sp", d.SP}, {"np", d.NP},
		{"rua", ps.uris("rua", d.RUA, sizedMailtoURI)}, {"ruf", ps.uris("ruf", d.RUF, sizedMailtoURI)},
		{"adkim", d.ADKIM}, {"aspf", d.ASPF}, {"t", d.T}, {"psd", d.PSD}, {"ri", decimal(d.RI)},
		{"fo", ps.words("fo", d.FO, DMARCFailures...)}, {"rf", ps.words("rf", d.RF, "afrf")}, {"pct", decimal(d.Pct)},
	} {
		name, value := tag[0], tag[1]
		if choice := DMARCChoices[name]; choice != nil {
			ps.optional(name, value, choice...)
		}
		tags.add(name, value)
	}
	ps.inRange("ri", d.RI, 0, math.MaxUint32)
	ps.inRange("pct", d.Pct, 0, 100)
	return ps.finish("rua", strings.Join(tags, "; "))
}
