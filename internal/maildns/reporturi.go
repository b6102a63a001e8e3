package maildns

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

const mailto = "mailto:"

// mailtoURI returns an address, with mailto: in front or without, as a URI of
// mailto (RFC 6068). The local part keeps its case, which is its host's to judge.
func mailtoURI(s string) (string, error) {
	address := s
	if len(s) >= len(mailto) && strings.EqualFold(s[:len(mailto)], mailto) {
		var err error
		if address, err = url.PathUnescape(s[len(mailto):]); err != nil {
			return "", fmt.Errorf("%s has a percent sign that escapes nothing; expected an address such as dmarc@example.com", shorten(s))
		}
	}
	switch {
	case strings.Contains(address, "://"), strings.HasPrefix(address, "//"):
		return "", fmt.Errorf("%s is no address; expected one such as dmarc@example.com", shorten(s))
	case strings.ContainsAny(address, ", "):
		return "", fmt.Errorf("%s must be a single address; write each as an element of its own", shorten(s))
	}
	parsed, err := emailaddr.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%s: %w", shorten(s), err)
	}
	local := address[:strings.LastIndexByte(address, '@')]
	return mailto + escapeLocal(local) + "@" + parsed.Domain, nil
}

// escapeLocal escapes what a local part may have and a mailto URI in a record may
// not: the delimiters of RFC 6068, section 2, and the exclamation point of RFC
// 7489, section 6.4.
func escapeLocal(local string) string {
	var b strings.Builder
	for i := range len(local) {
		if c := local[i]; isLabelByte(c) || strings.IndexByte(".~+$'*", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// reportSize is the size at which a receiver is to give up sending a report (RFC
// 7489, section 6.4).
var reportSize = regexp.MustCompile(`^[1-9][0-9]*[kmgt]?$`)

// sizedMailtoURI is mailtoURI for an address that may end in ! and a size.
func sizedMailtoURI(s string) (string, error) {
	at := strings.LastIndexByte(s, '@')
	mark := strings.IndexByte(s[at+1:], '!')
	if at < 0 || mark < 0 {
		return mailtoURI(s)
	}
	mark += at + 1
	size := strings.ToLower(s[mark+1:])
	if !reportSize.MatchString(size) {
		return "", fmt.Errorf("%s ends in no size; expected a number and k, m, g or t after the exclamation point, as in !10m", shorten(s))
	}
	uri, err := mailtoURI(s[:mark])
	if err != nil {
		return "", err
	}
	return uri + "!" + size, nil
}

// recordEscapes are what separates fields and URIs in a TLS-RPT record (RFC 8460,
// section 3).
var recordEscapes = strings.NewReplacer("!", "%21", ",", "%2C", ";", "%3B")

// httpsURI returns the URL to which a report is posted.
func httpsURI(s string) (string, error) {
	const expected = "expected one such as https://reports.example.com/tls"
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "https", u.Opaque != "":
		return "", fmt.Errorf("%s is no https URL; %s", shorten(s), expected)
	case u.User != nil:
		return "", errors.New("a URL in the DNS must not have a user or password; " + expected)
	case u.Fragment != "" || strings.HasSuffix(s, "#"):
		return "", fmt.Errorf("%s must not have a fragment; %s", shorten(s), expected)
	}
	host, err := domainname.Normalize(u.Hostname())
	if err != nil {
		return "", fmt.Errorf("%s: invalid host: %w", shorten(s), err)
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", fmt.Errorf("%s: port must be a number up to 65535", shorten(s))
		}
		host += ":" + port
	}
	u.Host = host
	uri := recordEscapes.Replace(u.String())
	if strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s must have spaces and other than ASCII characters escaped, as in %%20", shorten(s))
	}
	return uri, nil
}

// uris checks a list of URIs, and returns them as they stand in a record.
func (ps *Problems) uris(field string, given []string, parse func(string) (string, error)) string {
	out := make([]string, len(given))
	targets := make([]string, len(given))
	for i, s := range given {
		uri, err := parse(s)
		ps.addErr(field, i, err)
		out[i] = uri
		targets[i], _, _ = strings.Cut(uri, "!") // two sizes for one target contradict each other
	}
	ps.duplicates(field, targets)
	return strings.Join(out, ",")
}
