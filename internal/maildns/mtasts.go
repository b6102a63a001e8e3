package maildns

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxMTASTSID is the longest id of a policy (RFC 8461, section 3.1).
const maxMTASTSID = 32

// MTASTS announces the MTA-STS policy of a domain (RFC 8461).
type MTASTS struct {
	// ID tells the versions of the policy apart: 1 to 32 letters and digits.
	ID string
}

// Record returns the record, for the name _mta-sts of the domain.
func (m MTASTS) Record() (string, error) {
	var ps Problems
	switch {
	case m.ID == "":
		ps.add("id", whole, "must not be empty; expected 1 to %d letters and digits, such as 20260131T120000", maxMTASTSID)
	case len(m.ID) > maxMTASTSID:
		ps.add("id", whole, "must not be longer than %d characters", maxMTASTSID)
	case strings.ContainsFunc(m.ID, func(r rune) bool { return r > 'z' || !isLabelByte(byte(r)) || r == '-' || r == '_' }):
		ps.add("id", whole, "must have ASCII letters and digits only, not %s", shorten(m.ID))
	}
	return ps.finish("id", "v=STSv1; id="+m.ID+";")
}

// MTASTSID returns an id for the text of a policy, which is another for every
// other text: senders fetch a policy again only when its id has changed. A text
// that is no policy has problems of the field policy.
func MTASTSID(policy string) (string, error) {
	if _, err := parseMTASTSPolicy(policy); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(policy))
	return hex.EncodeToString(sum[:])[:maxMTASTSID], nil
}
