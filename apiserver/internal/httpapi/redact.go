package httpapi

import (
	"regexp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/mail"
)

var oneTimeLink = regexp.MustCompile(`(?is)` + regexp.QuoteMeta(mail.VerificationPath) + `.+`)

// RedactPath returns the path of a request without the token of a verification link, so
// that it can be logged.
func RedactPath(path string) string {
	return oneTimeLink.ReplaceAllLiteralString(path, mail.VerificationPath+"[redacted]")
}
