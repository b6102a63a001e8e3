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

// TLSRPTRecord returns the record that asks senders to report on TLS connections to a domain (RFC
// 8460), to publish at _smtp._tls. rua lists at least one recipient of reports: an address, with or
// without mailto:, or an https URL.
func TLSRPTRecord(rua []string) (string, error) {
	var ps Problems
	if len(rua) == 0 {
		ps.add("rua", whole, "must contain at least one address, such as tls@example.com")
	}
	tags := tagList{"v=TLSRPTv1"}
	tags.add("rua", ps.uris("rua", rua, func(s string) (string, error) {
		if scheme, _, ok := strings.Cut(s, "://"); ok && !strings.EqualFold(scheme, "mailto") {
			return httpsURI(s)
		}
		return mailtoURI(s)
	}))
	return ps.finish("rua", strings.Join(tags, "; "))
}

const mailto = "mailto:"

// mailtoURI returns an address, with or without mailto:, as a mailto URI (RFC 6068). The local part
// keeps its case, because only its host may interpret the case.
func mailtoURI(s string) (string, error) {
	address := s
	if scheme, escaped, ok := strings.Cut(s, ":"); ok && strings.EqualFold(scheme+":", mailto) {
		var err error
		if address, err = url.PathUnescape(escaped); err != nil {
			return "", fmt.Errorf("%.60q has a percent sign that does not begin an escape; expected an address such as dmarc@example.com", s)
		}
	}
	switch {
	case strings.Contains(address, "://"), strings.HasPrefix(address, "//"):
		return "", fmt.Errorf("%.60q is not an address; expected one such as dmarc@example.com", s)
	case strings.ContainsAny(address, ", "):
		return "", fmt.Errorf("%.60q must be a single address; write each address as its own element", s)
	}
	parsed, err := emailaddr.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%.60q: %w", s, err)
	}
	local := address[:strings.LastIndexByte(address, '@')]
	return mailto + localEscapes.Replace(url.QueryEscape(local)) + "@" + parsed.Domain, nil
}

// localEscapes undoes the escapes of characters without a meaning in a record's mailto URI. The
// delimiters of RFC 6068, section 2, and the exclamation point of RFC 7489, section 6.4, stay
// escaped.
var localEscapes = strings.NewReplacer("%2B", "+", "%24", "$", "%27", "'", "%2A", "*")

// reportSize matches the maximum size of a report (RFC 7489, section 6.4).
var reportSize = regexp.MustCompile(`^[1-9][0-9]*[kmgt]?$`)

// sizedMailtoURI is mailtoURI for an address with an optional exclamation point and size at its
// end.
func sizedMailtoURI(s string) (string, error) {
	address, size, err := cutSize(s)
	if err != nil {
		return "", err
	}
	uri, err := mailtoURI(address)
	if err != nil || size == "" {
		return uri, err
	}
	return uri + "!" + size, nil
}

// cutSize cuts the optional maximum size from the end of an address.
func cutSize(s string) (address, size string, err error) {
	at := strings.LastIndexByte(s, '@')
	domain, size, sized := strings.Cut(s[at+1:], "!")
	size = strings.ToLower(size)
	if sized && !reportSize.MatchString(size) {
		return "", "", fmt.Errorf("%.60q has an invalid size; expected a number and k, m, g or t after the exclamation point, as in !10m", s)
	}
	return s[:at+1] + domain, size, nil
}

// ReportURI is a recipient of reports in a published record.
type ReportURI struct {
	// Scheme is in lower case, such as mailto or https.
	Scheme string
	// Domain is the domain of a mailto address in canonical form. Other URIs have none.
	Domain string
	// Size is the maximum size of a report, which DMARC permitted until RFC 9989, or empty.
	Size string
}

// ParseReportURI parses a URI of the tags rua and ruf of DMARC and TLS-RPT. A mailto URI must name
// one address (RFC 6068), and may have a query such as ?subject=DMARC.
func ParseReportURI(s string) (ReportURI, error) {
	scheme, rest, ok := strings.Cut(s, ":")
	u := ReportURI{Scheme: strings.ToLower(scheme)}
	switch {
	case !ok:
		return u, fmt.Errorf("%.80q is no mailto: address; write mailto: before the address", s)
	case strings.ContainsAny(s, " \t"):
		return u, fmt.Errorf("%.80q must not contain white space; write a comma between two addresses", s)
	case strings.HasPrefix(rest, "//") && u.Scheme+":" == mailto:
		return u, fmt.Errorf("%.80q must have the address right after mailto:, without slashes", s)
	case u.Scheme == "https":
		_, err := httpsURI(s)
		return u, err
	case u.Scheme+":" != mailto:
		if other, err := url.Parse(s); err != nil || other.Host == "" {
			return u, fmt.Errorf("%.80q is no mailto: address", s)
		}
		return u, nil
	}
	rest, _, _ = strings.Cut(rest, "?")
	uri, size, err := cutSize(rest)
	if err != nil {
		return u, err
	}
	address, err := url.PathUnescape(uri)
	if err != nil {
		return u, fmt.Errorf("%.80q has a percent sign that does not begin an escape", s)
	}
	// Only an escaped comma gets here, which a quoted local part may contain.
	parsed, err := emailaddr.Parse(strings.ReplaceAll(address, ",", "_"))
	if err != nil {
		return u, fmt.Errorf("%.80q is no mailto: address: %w", s, err)
	}
	u.Domain, u.Size = parsed.Domain, size
	return u, nil
}

// recordEscapes escapes the characters that separate fields and URIs in a TLS-RPT
// record (RFC 8460, section 3).
var recordEscapes = strings.NewReplacer("!", "%21", ",", "%2C", ";", "%3B")

// httpsURI normalizes a URL to which senders post reports.
func httpsURI(s string) (string, error) {
	const expected = "expected one such as https://reports.example.com/tls"
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "https", u.Opaque != "":
		return "", fmt.Errorf("%.60q is not an https URL; %s", s, expected)
	case u.User != nil:
		return "", errors.New("a URL in the DNS must not have a user or password; " + expected)
	case strings.Contains(s, "#"):
		return "", fmt.Errorf("%.60q must not have a fragment; %s", s, expected)
	}
	host, err := domainname.Normalize(u.Hostname())
	if err != nil {
		return "", fmt.Errorf("%.60q: invalid host: %w", s, err)
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", fmt.Errorf("%.60q: port must be a number up to 65535", s)
		}
		host += ":" + port
	}
	u.Host = host
	uri := recordEscapes.Replace(u.String())
	if strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%.60q must have spaces and non-ASCII characters escaped, as in %%20", s)
	}
	return uri, nil
}

// uris checks a list of URIs and joins them with commas, as in a record.
func (ps *Problems) uris(field string, values []string, parse func(string) (string, error)) string {
	out := make([]string, len(values))
	targets := make([]string, len(values))
	for i, s := range values {
		uri, err := parse(s)
		ps.addErr(field, i, err)
		out[i] = uri
		targets[i], _, _ = strings.Cut(uri, "!") // two sizes for one target contradict each other
	}
	ps.duplicates(field, targets)
	return strings.Join(out, ",")
}
