package customtype

import (
	"net"
	"net/url"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// RedirectURL is where a domain's web traffic goes: an http or https URL. The
// case and the form of its scheme and host do not count, nor do the default port
// and whether an empty path is written as a slash (RFC 3986, section 6.2).
type RedirectURL = Value[redirectURL]

// RedirectURLType is the type of [RedirectURL].
type RedirectURLType = Type[redirectURL]

type redirectURL struct{}

func (redirectURL) rules() rules {
	return rules{
		name:      "RedirectURL",
		noun:      "an absolute http or https URL such as https://www.example.com/",
		normalize: normalizeRedirectURL,
	}
}

func normalizeRedirectURL(s string) (string, error) {
	if _, err := api.CheckRedirectURL(s); err != nil {
		return "", err
	}
	u, err := url.Parse(s) // in lower case, the scheme
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
	// A trailing dot changes what the web server is asked for.
	if name, err := domainname.Normalize(host); err == nil && !strings.HasSuffix(host, ".") {
		host = name
	}
	host = strings.ToLower(host)
	if port := u.Port(); port != "" && port != defaultPort(u.Scheme) {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}
