package mailer

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// parseHELO returns the canonical form of a name for EHLO: a domain name with a dot, or an address
// literal (RFC 5321, sections 4.1.1.1 and 4.1.3).
func parseHELO(text string) (string, error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	tag := inner[:min(len(inner), len(ipv6Tag))]
	if strings.EqualFold(tag, ipv6Tag) {
		inner = inner[len(ipv6Tag):]
	}
	address, err := netip.ParseAddr(inner)
	switch {
	case err == nil && strings.EqualFold(addressLiteral(address), text):
		return addressLiteral(address), nil
	case err == nil:
		return "", fmt.Errorf("write the address as %s", addressLiteral(address))
	case strings.ContainsAny(text, "[]"):
		return "", errors.New("must be an address in brackets, such as [192.0.2.1] or [IPv6:2001:db8::1], or a name without brackets")
	}
	name, err := domainname.Normalize(text)
	if err != nil {
		return "", fmt.Errorf("%w; mail servers expect a full name, or an address such as [192.0.2.1]", err)
	}
	return name, nil
}

const ipv6Tag = "IPv6:"

// addressLiteral returns an address in the form of RFC 5321, section 4.1.3.
func addressLiteral(address netip.Addr) string {
	if address = address.Unmap().WithZone(""); address.Is4() {
		return "[" + address.String() + "]"
	}
	return "[" + ipv6Tag + address.String() + "]"
}

// localLiteral returns the literal of a connection's own address.
func localLiteral(conn net.Conn) string {
	local, _ := conn.LocalAddr().(*net.TCPAddr) // the connection is always one of TCP
	return addressLiteral(local.AddrPort().Addr())
}
