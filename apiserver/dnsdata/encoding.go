package dnsdata

import (
	"fmt"
	"regexp"
	"strings"
)

// versions are the versions of mail's policies.
const versions = `(?:spf1|DMARC1|DKIM1|STSv1|TLSRPTv1|BIMI1)`

// encodings are the traces of encodings that programs use for the texts of TXT records in files and on
// their pages. No policy of mail contains them.
var encodings = []struct {
	trace *regexp.Regexp
	// format describes the trace for a message.
	format string
}{
	{regexp.MustCompile(`^(?:"|'|` + "`" + `|[\x{2018}-\x{201f}«»])|(?:"|'|` + "`" + `|[\x{2018}-\x{201f}«»])$`), "begins or ends with the quotation mark %s"},
	{regexp.MustCompile(`"[ \t]*"`), "contains the quotation marks %s, with which a zone file joins strings"},
	{escape, "contains %s, an escape of zone files"},
	{regexp.MustCompile(`\\[nrt]|\\u[0-9a-fA-F]{4}`), "contains %s, an escape of JSON"},
	{regexp.MustCompile(`&(?:quot|apos|amp|lt|gt|nbsp|#[0-9]+|#[xX][0-9a-fA-F]+);`), "contains %s, an escape of HTML"},
	{regexp.MustCompile(`(?i)^v(?:=|%3D)` + versions + `(?:%20|%3B|\+)`), "begins with %s, as in a URL"},
	{regexp.MustCompile(`(?i)^v=` + versions + `[^ \t;0-9]`), "begins with %s, and so lacks the blank or semicolon after its version, as if a zone file had it without quotation marks"},
	{regexp.MustCompile(`(?i)^v=` + versions + `;[ \t]*$|^v=(?:DMARC1|DKIM1|STSv1|TLSRPTv1|BIMI1)$`), "is only %s, as if a zone file had it without quotation marks, so that the semicolon begins a comment"},
}

// ForeignEncoding describes the trace of another program's encoding in the text of a TXT record, such as
// a backslash before a semicolon, to complete a sentence that begins with "The text". It returns "" for a
// text without one, for JSON, and for a value that is invalid.
func ForeignEncoding(value string) string {
	text, err := Text(value)
	if err != nil || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return ""
	}
	for _, e := range encodings {
		if trace := e.trace.FindString(text); trace != "" {
			return fmt.Sprintf(e.format, trace)
		}
	}
	return ""
}
