package apiserver

import (
	"regexp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
)

var oneTimeLink = regexp.MustCompile(`(?is)` + regexp.QuoteMeta(mail.VerificationPath) + `.+`)

// RedactPath returns the path of a request as it may be told: whoever has the
// one-time link in it may use it.
func RedactPath(path string) string {
	return oneTimeLink.ReplaceAllLiteralString(path, mail.VerificationPath+"[redacted]")
}
