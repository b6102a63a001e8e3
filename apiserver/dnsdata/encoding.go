package dnsdata

import (
	"fmt"
	"regexp"
	"strings"
)

// versions are the versions of mail's policies.
const versions = `(?:spf1|DMARC1|DKIM1|STSv1|TLSRPTv1|BIMI1)`

// policy matches the start of one of mail's policies. Some keys of DKIM lack the version.
const policy = `(?i)^(?:v=` + versions + `\b|[kp]=)`

// encodings are the traces of encodings that programs use for the texts of TXT records in files and on
// their pages. No policy of mail contains them.
var encodings = []struct {
	// trace matches the trace, with its last group if it contains one.
	trace *regexp.Regexp
	// format describes the trace for a message.
	format string
}{
	{regexp.MustCompile(`^(?:"|'|` + "`" + `|[\x{2018}-\x{201f}«»])|(?:"|'|` + "`" + `|[\x{2018}-\x{201f}«»])$`), "begins or ends with the quotation mark %s"},
	{regexp.MustCompile(`"[ \t]*"`), "contains the quotation marks %s, with which a zone file joins strings"},
	{regexp.MustCompile(policy + `.*?(["'` + "`" + `][ \t,;]*["'` + "`" + `])`), "contains the quotation marks %s, with which programs join strings"},
	{regexp.MustCompile(policy + `.*?([\x{2010}-\x{201f}\x{2026}«»])`), "contains %s, a character of word processors"},
	{regexp.MustCompile(policy + `.*?([\x{a0}\x{2000}-\x{200f}\x{2028}-\x{202f}\x{2060}\x{3000}\x{feff}])`), "contains %+q, an invisible character that is no blank"},
	{regexp.MustCompile(policy + `.*?(</?[a-zA-Z]+ ?/?>)`), "contains %s, a tag of HTML"},
	{escape, "contains %s, an escape of zone files"},
	{regexp.MustCompile(`\\[nrt]|\\u[0-9a-fA-F]{4}`), "contains %s, an escape of JSON"},
	{regexp.MustCompile(`&(?:quot|apos|amp|lt|gt|nbsp|#[0-9]+|#[xX][0-9a-fA-F]+);`), "contains %s, an escape of HTML"},
	{regexp.MustCompile(`(?i)^v(?:=|%3D)` + versions + `(?:%20|%3B|\+)`), "begins with %s, as in a URL"},
	{regexp.MustCompile(`(?i)^v=3D` + versions + `\b`), "begins with %s, as in quoted-printable mail"},
	{regexp.MustCompile(`(?i)^v=spf1[ \t].*(;)[ \t]*$`), "ends with %s, which SPF does not have"},
	{regexp.MustCompile(`(?i)^v=` + versions + `[^ \t;0-9]`), "begins with %s, and so lacks the blank or semicolon after its version, as if a zone file had it without quotation marks"},
	{regexp.MustCompile(`(?i)^v=` + versions + `;[ \t]*$|^v=(?:DMARC1|DKIM1|STSv1|TLSRPTv1|BIMI1)$`), "is only %s, as if a zone file had it without quotation marks, so that the semicolon begins a comment"},
	{regexp.MustCompile(`(?i)^(.+?)\bv=` + versions + `\b`), "contains %.40q before the version, with which a policy begins"},
}

var listOfPolicies = regexp.MustCompile(`(?i)^\[\s*"v=` + versions + `\b`)

// ForeignEncoding describes the trace of another program's encoding in the text of a TXT record, such as
// a backslash before a semicolon, to complete a sentence that begins with "The text". It returns "" for a
// text without one, for JSON except a list of policies, and for a value that is invalid.
func ForeignEncoding(value string) string {
	text, err := Text(value)
	if err != nil || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") && !listOfPolicies.MatchString(text) {
		return ""
	}
	for _, e := range encodings {
		if m := e.trace.FindStringSubmatch(text); m != nil {
			return fmt.Sprintf(e.format, m[len(m)-1])
		}
	}
	return ""
}
