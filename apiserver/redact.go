package apiserver

import "regexp"

var oneTimeLink = regexp.MustCompile(`(?is)` + regexp.QuoteMeta(verificationPath) + `.+`)

// RedactPath returns the path of a request as it may be told: whoever has the
// one-time link in it may use it.
func RedactPath(path string) string {
	return oneTimeLink.ReplaceAllLiteralString(path, verificationPath+"[redacted]")
}
