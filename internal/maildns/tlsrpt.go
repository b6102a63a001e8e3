package maildns

import "strings"

// TLSRPT says where senders report on their TLS connections to a domain (RFC
// 8460).
type TLSRPT struct {
	// RUA are the addresses, with mailto: in front or without, and the https URLs
	// that reports go to: one at least.
	RUA []string
}

// Record returns the record, for the name _smtp._tls of the domain.
func (t TLSRPT) Record() (string, error) {
	var ps Problems
	if len(t.RUA) == 0 {
		ps.add("rua", whole, "must have an address at least, such as tls@example.com")
	}
	tags := tagList{"v=TLSRPTv1"}
	tags.add("rua", ps.uris("rua", t.RUA, func(s string) (string, error) {
		if scheme, _, ok := strings.Cut(s, "://"); ok && !strings.EqualFold(scheme, "mailto") {
			return httpsURI(s)
		}
		return mailtoURI(s)
	}))
	return ps.finish("rua", tags.String())
}
