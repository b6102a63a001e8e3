package maildns

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// maxMTASTSID is the maximum length of an id (RFC 8461, section 3.1).
const maxMTASTSID = 32

var mtastsID = regexp.MustCompile(`^[A-Za-z0-9]{1,32}$`)

// MTASTSRecord returns the record that announces the MTA-STS policy of a domain (RFC 8461), to
// publish at _mta-sts. The id, of 1 to 32 letters and digits, identifies the version of the policy.
func MTASTSRecord(id string) (string, error) {
	var ps Problems
	if !mtastsID.MatchString(id) {
		ps.add("id", whole, "must be 1 to %d ASCII letters and digits, such as 20260131T120000, not %.60q", maxMTASTSID, id)
	}
	return ps.finish("id", "v=STSv1; id="+id+";")
}

// MTASTSID derives an id from the text of a policy. Different texts get different ids, because
// senders fetch a policy again only after its id changed. The problems of an invalid text are
// reported for the field policy.
func MTASTSID(policy string) (string, error) {
	if err := checkMTASTSPolicy(policy); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(policy))
	return hex.EncodeToString(sum[:])[:maxMTASTSID], nil
}

const (
	stsVersion = "STSv1"
	// maxMTASTSAge is a year, the maximum max_age (RFC 8461, section 3.2).
	maxMTASTSAge = 31557600
	// modeNone removes a policy (RFC 8461, section 8.3).
	modeNone = "none"
)

// MTASTSPolicy is the policy that a domain serves at
// https://mta-sts.<domain>/.well-known/mta-sts.txt (RFC 8461).
type MTASTSPolicy struct {
	// Mode is enforce, testing or none.
	Mode string
	// MX lists the mail hosts. Each is a name, optionally with * as its first label. The list may
	// be empty only in the mode none.
	MX []string
	// MaxAge is how long senders may cache the policy, in seconds.
	MaxAge int64
}

// Text returns the policy to serve. Its lines end in CRLF (RFC 8461, section 3.2).
func (p MTASTSPolicy) Text() (string, error) {
	var ps Problems
	ps.oneOf("mode", whole, p.Mode, "enforce", "testing", modeNone)
	if len(p.MX) == 0 && p.Mode != modeNone {
		ps.add("mx", whole, "must contain at least one mail host unless the mode is none; expected names such as mail.example.com or *.example.net")
	}
	ps.inRange("max_age", &p.MaxAge, 0, maxMTASTSAge)
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

// mxPattern normalizes the name of a mail host. The first label may be a wildcard.
func mxPattern(s string) (string, error) {
	name, wild := strings.CutPrefix(s, "*.")
	if strings.Contains(name, "*") {
		return "", fmt.Errorf("%.60q must have a wildcard only as its whole first label, as in *.example.net", s)
	}
	host, err := domainname.Normalize(name)
	if err != nil {
		return "", fmt.Errorf("%.60q: %w", s, err)
	}
	if wild {
		return "*." + host, nil
	}
	return host, nil
}

// policyKey matches the key of a line (RFC 8461, section 3.2, sts-policy-ext-name).
var policyKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)

// checkMTASTSPolicy returns the problems of a policy's text (RFC 8461, section 3.2). Lines end in
// CRLF or LF. Like senders it skips unknown keys. All problems are reported for the field policy.
func checkMTASTSPolicy(text string) error {
	const field = "policy"
	var ps Problems
	values := map[string][]string{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
		if !ok || !policyKey.MatchString(key) {
			ps.add(field, whole, "line %d must be a key and a value, such as mode: enforce, not %.60q", i+1, line)
		}
		values[key] = append(values[key], strings.Trim(value, " \t"))
	}
	for _, key := range []string{"version", "mode", "max_age"} {
		if n := len(values[key]); n != 1 {
			ps.add(field, whole, "there must be one line %s, not %d", key, n)
		}
	}
	if len(ps) > 0 {
		return ps
	}
	if version := values["version"][0]; version != stsVersion {
		ps.add(field, whole, "version must be %s, not %.60q", stsVersion, version)
	}
	maxAge, err := strconv.ParseUint(values["max_age"][0], 10, 63)
	if err != nil {
		ps.add(field, whole, "max_age must be a number of seconds, not %.60q", values["max_age"][0])
	}
	_, err = MTASTSPolicy{Mode: values["mode"][0], MX: values["mx"], MaxAge: int64(maxAge)}.Text()
	ps.addErr(field, whole, err)
	if len(ps) > 0 {
		return ps
	}
	return nil
}
