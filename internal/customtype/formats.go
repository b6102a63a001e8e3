package customtype

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// EmailAddress is a mailbox address. It ignores case, and the form of the domain like [DomainName].
var EmailAddress = Type{format: &format{name: "EmailAddress", noun: "an e-mail address such as jane@example.com", normalize: emailaddr.Normalize}}

// LocalPart is the part of a mailbox address before the at sign. It ignores case.
var LocalPart = Type{format: &format{name: "LocalPart", noun: "the part of an address before the @, such as jane.doe", normalize: emailaddr.ParseLocalPart}}

// DomainName is the name of a domain. It ignores case, a trailing dot, and whether the
// name is in Unicode or in ASCII (IDNA).
var DomainName = Type{format: &format{name: "DomainName", noun: "a domain name such as example.com", normalize: domainname.Normalize}}

// DomainRef refers to a domain of the account by its UUID or by its name. It compares two UUIDs like
// [UUID] and two names like [DomainName]. Only the account knows whether a UUID and a name are the same
// domain, so a resource compares them with [RefersTo] and writes its state with [KeepDomainRef].
var DomainRef = Type{format: &format{name: "DomainRef", noun: "a domain's UUID or a domain name such as example.com", normalize: normalizeDomainRef}}

// normalizeDomainRef distinguishes the two by the dot: domain names contain one, UUIDs do not.
func normalizeDomainRef(s string) (string, error) {
	if id, err := normalizeUUID(s); err == nil {
		return id, nil
	}
	name, err := domainname.Normalize(s)
	if err != nil {
		return "", fmt.Errorf("it is not a UUID, and as a name: %w", err)
	}
	return name, nil
}

// RefersTo reports whether ref refers to the domain with this id and name.
func RefersTo(ref, id, name string) bool {
	return ref != "" && (DomainRef.Same(ref, id) || DomainRef.Same(ref, name))
}

// KeepDomainRef returns prior if it refers to the domain with this id and name, and
// otherwise the name, or the id if the name is empty.
func KeepDomainRef(prior String, id, name string) String {
	if RefersTo(prior.ValueString(), id, name) {
		return prior
	}
	if name == "" {
		name = id
	}
	return New(name)
}

// DNSName is the name of a DNS record: relative to its zone, absolute with a trailing dot, or @ for the
// zone itself. It ignores case, and whether the name is in Unicode or in ASCII. Only the resource knows
// the zone, and so whether www.example.com is the same as www, or example.com as @.
var DNSName = Type{format: &format{name: "DNSName", noun: "a record name such as www, or @ for the domain itself", normalize: normalizeDNSName}}

func normalizeDNSName(s string) (string, error) { return dnsdata.NormalizeName(s, "") }

const sampleUUID = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"

// UUID is the id of an object, as five groups of hexadecimal digits. It ignores case.
var UUID = Type{format: &format{name: "UUID", noun: "a UUID such as " + sampleUUID, normalize: normalizeUUID}}

func normalizeUUID(s string) (string, error) {
	// uuid.Parse also accepts forms of other lengths: a URN, braces, no hyphens.
	id, err := uuid.Parse(s)
	if err != nil || len(s) != len(sampleUUID) {
		return "", errors.New("must be a UUID such as " + sampleUUID)
	}
	return id.String(), nil
}

// Timestamp is a point in time in RFC 3339. Timestamps of the same microsecond are equal in any time
// zone, because the API stores microseconds.
var Timestamp = Type{format: &format{name: "Timestamp", noun: "a date and time of RFC 3339 such as 2027-01-01T00:00:00Z", normalize: normalizeTimestamp}}

// normalizeTimestamp returns the timestamp as the API formats it.
func normalizeTimestamp(s string) (string, error) {
	t, err := time.Parse(time.RFC3339, s)
	t = t.UTC()
	if year := t.Year(); err != nil || year < 0 || year > 9999 {
		return "", errors.New("must be a date and time of RFC 3339 with a time zone, such as 2027-01-01T00:00:00Z or 2027-01-01T01:00:00+01:00")
	}
	return t.Format(api.TimestampLayout), nil
}

// RedirectURL is the http or https URL to which a domain redirects web traffic. It
// ignores the case and form of the scheme and host, the default port, and whether an
// empty path is written as a slash (RFC 3986, section 6.2). "" means no redirect.
var RedirectURL = Type{format: &format{name: "RedirectURL", noun: "an absolute http or https URL such as https://www.example.com/, or \"\"", normalize: normalizeRedirectURL}}

func normalizeRedirectURL(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if _, err := api.CheckRedirectURL(s); err != nil {
		return "", err
	}
	u, err := url.Parse(s) // lowers the scheme's case
	if err != nil {
		return "", err
	}
	u.Host = canonicalHost(u)
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

func canonicalHost(u *url.URL) string {
	host := u.Hostname()
	// A trailing dot is significant: it changes the Host header.
	if name, err := domainname.Normalize(host); err == nil && !strings.HasSuffix(host, ".") {
		host = name
	}
	host = strings.ToLower(host)
	defaultPort := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if port := u.Port(); port != "" && port != defaultPort {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
