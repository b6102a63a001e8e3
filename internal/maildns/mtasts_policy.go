package maildns

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

const (
	stsVersion = "STSv1"
	// maxMTASTSAge is a year, the longest time to keep a policy (RFC 8461, section
	// 3.2).
	maxMTASTSAge = 31557600
	// modeNone withdraws a policy (RFC 8461, section 8.3).
	modeNone = "none"
)

// MTASTSPolicy is the policy that a domain serves at
// https://mta-sts.<domain>/.well-known/mta-sts.txt (RFC 8461).
type MTASTSPolicy struct {
	// Mode is enforce, testing or none.
	Mode string
	// MX are the mail hosts, each a name, or one with * as its first label. Only
	// the mode none does without.
	MX []string
	// MaxAge is how long senders may keep the policy, in seconds.
	MaxAge int64
}

// Text returns the policy as it is to be served, its lines ended by CRLF (RFC
// 8461, section 3.2).
func (p MTASTSPolicy) Text() (string, error) {
	var ps Problems
	p.check(&ps)
	hosts := make([]string, len(p.MX))
	for i, s := range p.MX {
		var err error
		hosts[i], err = mxPattern(s)
		ps.addErr("mx", i, err)
	}
	ps.duplicates("mx", hosts)
	if len(ps) > 0 {
		return "", ps
	}
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\r\n", key, value) }
	line("version", stsVersion)
	line("mode", p.Mode)
	for _, host := range hosts {
		line("mx", host)
	}
	line("max_age", strconv.FormatInt(p.MaxAge, 10))
	return b.String(), nil
}

func (p MTASTSPolicy) check(ps *Problems) {
	ps.oneOf("mode", whole, p.Mode, "enforce", "testing", modeNone)
	if len(p.MX) == 0 && p.Mode != modeNone {
		ps.add("mx", whole, "must have a mail host at least, as the mode is not none; expected names such as mail.example.com or *.example.net")
	}
	ps.inRange("max_age", &p.MaxAge, 0, maxMTASTSAge)
}

// mxPattern reads the name of a mail host, whose first label may be a wildcard.
func mxPattern(s string) (string, error) {
	name, wild := strings.CutPrefix(s, "*.")
	if strings.Contains(name, "*") {
		return "", fmt.Errorf("%s may have a wildcard as its whole first label only, as in *.example.net", shorten(s))
	}
	host, err := domainname.Normalize(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", shorten(s), err)
	}
	if wild {
		return "*." + host, nil
	}
	return host, nil
}
