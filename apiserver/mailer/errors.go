package mailer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/wneessen/go-mail"
)

const redacted = "[redacted]"

// isPermanent reports whether a retry can't succeed: after a 5yz reply about the
// message. Failed logins and invalid certificates are temporary, because the operator
// can fix them, and so are all other errors.
func isPermanent(err error) bool {
	code := replyCode(err)
	return code >= 500 && !isLoginError(err) && !isLoginCode(code)
}

// replyCode returns the code of the server's reply in an error, or 0.
func replyCode(err error) int {
	if failure, ok := errors.AsType[*mail.SendError](err); ok {
		return failure.ErrorCode()
	}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return reply.Code
	}
	return 0
}

// isLoginCode reports whether a reply to any command means that a login is missing or
// has failed: 530, 534, 535 or 538 (RFC 4954, sections 4 and 6).
func isLoginCode(code int) bool { return code >= 530 && code <= 538 }

// loginErrorPrefix is the prefix of go-mail's errors about AUTH, which have no type.
const loginErrorPrefix = "SMTP AUTH failed: "

func isLoginError(err error) bool { return strings.HasPrefix(err.Error(), loginErrorPrefix) }

// describe returns an error's message without the recipient, which go-mail appends,
// and without the password, because a server may quote its input.
func (m *Mailer) describe(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", affected ")
	if !isLoginError(err) {
		return m.server.redactPassword(text)
	}
	// The reply may quote the password in any encoding, so its text is left out.
	if code := replyCode(err); code != 0 {
		return fmt.Sprintf("%sthe server's reply is %d; check the user and the password", loginErrorPrefix, code)
	}
	return loginErrorPrefix + "the server's reply is not valid SMTP, or the connection was closed"
}

// redactPassword replaces the password, also as AUTH PLAIN and LOGIN encode it (RFC
// 4616).
func (s server) redactPassword(text string) string {
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
