package mailer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/wneessen/go-mail"
)

// redacted stands in place of the password.
const redacted = "[redacted]"

// isPermanent reports whether sending again would change nothing: after a 5yz
// reply that is about the message. A login that fails and a certificate that does
// not hold are the operator's to mend, and whatever else goes wrong may be better
// a little later.
func isPermanent(err error) bool {
	code := replyCode(err)
	return code >= 500 && !isOfLogin(err) && !isAboutLogin(code)
}

// replyCode returns the code of the reply that an error is about; 0: of none.
func replyCode(err error) int {
	if failure, ok := errors.AsType[*mail.SendError](err); ok {
		return failure.ErrorCode()
	}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return reply.Code
	}
	return 0
}

// isAboutLogin reports whether a code says that a login is missing or has failed,
// to whatever command (RFC 4954, sections 4 and 6): 530, 534, 535, 538.
func isAboutLogin(code int) bool { return code >= 530 && code <= 538 }

// failedLogin begins what go-mail says of a failed AUTH; it has no type for it.
const failedLogin = "SMTP AUTH failed: "

// isOfLogin reports whether an error came while logging in.
func isOfLogin(err error) bool { return strings.HasPrefix(err.Error(), failedLogin) }

// said returns what an error tells, without the recipient, whom go-mail names at
// the end, and without the password: a server may quote what it was sent.
func (m *Mailer) said(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", affected ")
	if !isOfLogin(err) {
		return m.server.withoutPassword(text)
	}
	// A quotation can have any form here, so nothing of the reply's text is kept.
	if code := replyCode(err); code != 0 {
		return fmt.Sprintf("%sthe server answers %d; check the user and the password", failedLogin, code)
	}
	return failedLogin + "the server's answer is not one of the protocol, or the connection broke off"
}

// withoutPassword returns a text with the password redacted, as it is and as
// AUTH PLAIN and LOGIN send it (RFC 4616).
func (s server) withoutPassword(text string) string {
	if s.password == "" {
		return text
	}
	encode := base64.StdEncoding.EncodeToString
	return strings.NewReplacer(
		encode([]byte("\x00"+s.user+"\x00"+s.password)), redacted,
		encode([]byte(s.password)), redacted,
		s.password, redacted,
	).Replace(text)
}
