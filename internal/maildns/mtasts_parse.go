package maildns

import (
	"regexp"
	"strconv"
	"strings"
)

// The key of a line, and the value of max_age (RFC 8461, section 3.2,
// sts-policy-ext-name and sts-policy-max-age-value).
var (
	policyKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)
	policyAge = regexp.MustCompile(`^[0-9]{1,10}$`)
)

// parseMTASTSPolicy reads the text of a policy (RFC 8461, section 3.2), whose
// lines end in CRLF or LF. Keys that it does not know are skipped, as they are by
// senders. Every problem is one of the field policy.
func parseMTASTSPolicy(text string) (MTASTSPolicy, error) {
	const field = "policy"
	var p MTASTSPolicy
	var ps Problems
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
		value = strings.Trim(value, " \t")
		switch {
		case !ok || !policyKey.MatchString(key):
			ps.add(field, whole, "line %d must be a key and a value, such as mode: enforce, not %s", i+1, shorten(line))
			continue
		case key != "mx" && seen[key]:
			ps.add(field, whole, "line %d has %s again, of which senders take only the first", i+1, key)
			continue
		}
		seen[key] = true
		switch key {
		case "version":
			if value != stsVersion {
				ps.add(field, whole, "line %d must be version: %s, not %s", i+1, stsVersion, shorten(value))
			}
		case "mode":
			p.Mode = value
		case "mx":
			p.MX = append(p.MX, value)
		case "max_age":
			if !policyAge.MatchString(value) {
				ps.add(field, whole, "line %d must have a number of seconds, not %s", i+1, shorten(value))
			}
			p.MaxAge, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	for _, key := range []string{"version", "mode", "max_age"} {
		if !seen[key] {
			ps.add(field, whole, "there is no line %s, which every policy must have", key)
		}
	}
	if len(ps) > 0 {
		return MTASTSPolicy{}, ps
	}
	if _, err := p.Text(); err != nil {
		ps.add(field, whole, "%s", err)
		return MTASTSPolicy{}, ps
	}
	return p, nil
}
