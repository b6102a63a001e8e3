package mailer

import (
	"encoding/base64"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wneessen/go-mail"
)

// The ports of message submission (RFC 6409, section 3.1, and RFC 8314, section 3.3).
const (
	submissionPort  = "587"
	submissionsPort = "465"
)

type server struct {
	// scheme is smtps for TLS from the first byte, or smtp with the policy starttls.
	scheme, host, port string
	starttls           mail.TLSPolicy
	// user is empty without a login.
	user, password string
}

// parseServer parses the URL of a mail server. Its errors never contain the URL, which may contain
// a password.
func parseServer(text string) (server, error) {
	u, err := url.Parse(text)
	if err != nil {
		return server{}, errURL
	}
	s := server{scheme: u.Scheme, host: u.Hostname(), port: submissionPort}
	switch {
	case u.Scheme == "smtps":
		s.starttls, s.port = mail.NoTLS, submissionsPort
	case u.Scheme != "smtp":
		return server{}, errURL
	case s.isLoopback():
		s.starttls = mail.TLSOpportunistic
	}
	if s.host == "" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
		return server{}, errURL
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return server{}, errors.New("the port must be between 1 and 65535")
		}
		s.port = port
	}
	s.user = u.User.Username()
	s.password, _ = u.User.Password()
	if (s.user == "") != (s.password == "") {
		return server{}, errors.New("a user needs a password and a password a user, as in smtp://user:password@host; escape special characters as in %40 for @")
	}
	switch {
	case u.RawQuery == "":
	case u.RawQuery == "tls=starttls" && s.scheme == "smtp":
		s.starttls = mail.TLSMandatory
	case u.RawQuery == "tls=none" && s.scheme == "smtp":
		s.starttls = mail.NoTLS
	default:
		return server{}, errors.New("the only option is ?tls=starttls or ?tls=none, and only for smtp://")
	}
	if s.user != "" && s.starttls == mail.NoTLS && s.scheme == "smtp" && !s.isLoopback() {
		return server{}, errors.New("with tls=none the password would be sent in plain text; remove tls=none or the password")
	}
	return s, nil
}

var errURL = errors.New("must be smtp://[user:password@]host[:port] or smtps://[user:password@]host[:port]; escape special characters in the password as in %40 for @")

func (s server) isLoopback() bool {
	address, _ := netip.ParseAddr(s.host) // the zero address is no loopback address
	return strings.EqualFold(s.host, "localhost") || address.IsLoopback()
}

func (s server) address() string { return net.JoinHostPort(s.host, s.port) }

// String returns the URL without user and password.
func (s server) String() string { return s.scheme + "://" + s.address() }

const redacted = "[redacted]"

// minSecret is the length from which a password is replaced inside words too. A shorter one is part
// of many words, and is replaced only as a word.
const minSecret = 8

// redactPassword replaces the password, plain and as encoded by AUTH PLAIN and LOGIN (RFC 4616).
func (s server) redactPassword(text string) string {
	if s.password == "" {
		return text
	}
	encode, quoted := base64.StdEncoding.EncodeToString, strconv.Quote(s.password)
	if quoted = quoted[1 : len(quoted)-1]; quoted != s.password { // go-mail quotes replies
		text = strings.ReplaceAll(text, quoted, redacted)
	}
	text = strings.NewReplacer(encode([]byte("\x00"+s.user+"\x00"+s.password)), redacted, encode([]byte(s.password)), redacted).Replace(text)
	if len(s.password) >= minSecret {
		return strings.ReplaceAll(text, s.password, redacted)
	}
	return redactWord(text, s.password)
}

// redactWord replaces a secret where neither a letter nor a digit stands before or after it.
func redactWord(text, secret string) string {
	isWord := func(r rune, _ int) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], secret) && !isWord(utf8.DecodeLastRuneInString(text[:i])) && !isWord(utf8.DecodeRuneInString(text[i+len(secret):])) {
			b.WriteString(redacted)
			i += len(secret)
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}
