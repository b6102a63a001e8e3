package maildns

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// domainSpec returns the domain of a term (RFC 7208, section 7.1) in canonical form: a
// host name, optionally with macros.
func domainSpec(s string) (string, error) {
	if s == "" {
		return "", errors.New("the domain name is missing")
	}
	if strings.Contains(s, "%") {
		return macroSpec(s)
	}
	if addr, err := netip.ParseAddr(s); err == nil {
		if addr.Is4() {
			return "", fmt.Errorf("%s is an address, which belongs in ip4", shorten(s))
		}
		return "", fmt.Errorf("%s is an address, which belongs in ip6", shorten(s))
	}
	return domainname.NormalizeHost(s)
}

// macroBody matches the text between the braces of a macro: a letter, the number of
// labels to keep, r to reverse them, and the delimiters.
var macroBody = regexp.MustCompile(`^([A-Za-z])([0-9]*)([rR]?)[-.+,/_=]*$`)

// aMacro replaces each macro in the shape of a name, which is otherwise lower case.
const aMacro = "M"

// macroSpec returns a domain name with macros in canonical form. RFC 7208 allows any
// printable character between macros; this function allows only the characters of host
// names and the underscore.
func macroSpec(s string) (string, error) {
	var spec, shape strings.Builder
	for rest := s; rest != ""; {
		if rest[0] == '%' {
			macro, after, err := cutMacro(rest)
			if err != nil {
				return "", err
			}
			spec.WriteString(macro)
			shape.WriteString(aMacro)
			rest = after
			continue
		}
		if !isLabelByte(rest[0]) && rest[0] != '.' {
			return "", fmt.Errorf("%s must not have %q outside macros; expected letters, digits, hyphens, underscores and dots", shorten(s), []rune(rest)[0])
		}
		literal := strings.ToLower(rest[:1])
		spec.WriteString(literal)
		shape.WriteString(literal)
		rest = rest[1:]
	}
	if err := checkMacroShape(strings.TrimSuffix(shape.String(), ".")); err != nil {
		return "", fmt.Errorf("%s %w", shorten(s), err)
	}
	return strings.TrimSuffix(spec.String(), "."), nil
}

// checkMacroShape checks the text around the macros of a name.
func checkMacroShape(shape string) error {
	labels := strings.Split(shape, ".")
	for _, label := range labels {
		if label == "" {
			return errors.New("must not have an empty label (two dots in a row, or a leading dot)")
		}
		if len(label) > 63 {
			return errors.New("must not have a label of more than 63 characters")
		}
	}
	last := labels[len(labels)-1]
	if !strings.HasSuffix(last, aMacro) && (strings.Contains(last, aMacro) || !isTopLabel(last)) {
		return errors.New("must end in a macro, or in a dot and a top-level domain such as .com")
	}
	return nil
}

// cutMacro splits s after the macro that it begins with (RFC 7208, section 7.1).
func cutMacro(s string) (macro, rest string, err error) {
	if len(s) > 1 && strings.ContainsRune("%_-", rune(s[1])) {
		return s[:2], s[2:], nil
	}
	end := strings.IndexByte(s, '}')
	if !strings.HasPrefix(s, "%{") || end < 0 {
		return "", "", fmt.Errorf("%s is not a macro; expected one such as %%{i}, or %%%% for a percent sign", shorten(s))
	}
	macro, rest = s[:end+1], s[end+1:]
	m := macroBody.FindStringSubmatch(s[2:end])
	if m == nil {
		return "", "", fmt.Errorf("%s is not a macro; expected a letter, then optionally the number of labels, r to reverse them and delimiters, as in %%{d2} or %%{ir}", shorten(macro))
	}
	switch letter := strings.ToLower(m[1]); {
	case letter == "p":
		return "", "", fmt.Errorf("macro %s must not be used: it is slow and unreliable, like ptr (RFC 7208, section 7.2)", shorten(macro))
	case strings.Contains("crt", letter):
		return "", "", fmt.Errorf("macro %s is defined only for the text of an explanation (RFC 7208, section 7.2)", shorten(macro))
	case !strings.Contains("slodihv", letter):
		return "", "", fmt.Errorf("unknown macro %s; expected one of the letters s, l, o, d, i, h and v", shorten(macro))
	case m[2] != "" && strings.Trim(m[2], "0") == "":
		return "", "", fmt.Errorf("macro %s must keep at least one label (RFC 7208, section 7.3)", shorten(macro))
	}
	return macro, rest, nil
}

// isTopLabel reports whether a label may be the last one of a name (RFC 7208, section
// 7.1, toplabel).
func isTopLabel(label string) bool {
	return strings.Trim(label, "0123456789") != "" && !strings.Contains(label, "_") && label[0] != '-' && label[len(label)-1] != '-'
}

func isLabelByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

const (
	bitsV4 = 32
	bitsV6 = 128
)

var errWholeInternet = errors.New("a prefix length of 0 lets every host of the internet send for the domain; expected the network of your own hosts")

// parseNetwork returns the network of ip4 or ip6 in canonical form (RFC 7208, section
// 5.6). pass means that hosts in it may send.
func parseNetwork(name, s string, pass bool) (string, error) {
	address, length, hasLength := strings.Cut(s, "/")
	addr, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s is not an address; expected one such as %s", shorten(address), spfExamples[name])
	case addr.Is4In6():
		return "", fmt.Errorf("%s is an IPv4 address in IPv6 form, which never matches (RFC 7208, section 5); write ip4:%s", shorten(address), addr.Unmap())
	case name == "ip4" && !addr.Is4():
		return "", fmt.Errorf("%s is an IPv6 address, which belongs in ip6", shorten(address))
	case name == "ip6" && addr.Is4():
		return "", fmt.Errorf("%s is an IPv4 address, which belongs in ip4", shorten(address))
	case addr.Zone() != "":
		return "", fmt.Errorf("%s has a zone, which has no meaning on other hosts; expected an address such as %s", shorten(address), spfExamples[name])
	case !hasLength:
		return addr.String(), nil
	}
	bits, err := prefixLength(length, addr.BitLen(), pass)
	if err != nil {
		return "", err
	}
	if bits == addr.BitLen() {
		return addr.String(), nil
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return "", fmt.Errorf("%s is not a network: %w", shorten(s), err)
	}
	return prefix.String(), nil
}

// prefixLength parses the text after a slash.
func prefixLength(s string, limit int, pass bool) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > limit || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("prefix length %s must be a number from 0 to %d, without leading zeros", shorten(s), limit)
	}
	if n == 0 && pass {
		return 0, errWholeInternet
	}
	return n, nil
}

// dualCIDR matches the end of a and mx: a prefix length for IPv4 after one slash, one
// for IPv6 after two slashes, or both (RFC 7208, section 5.3).
var dualCIDR = regexp.MustCompile(`^(?:/([^/]*))?(?://([^/]*))?$`)

// cutDualCIDR splits s before the prefix lengths of a or mx, and returns them in
// canonical form, which omits full lengths.
func cutDualCIDR(s string, pass bool) (rest, cidr string, err error) {
	macros := strings.LastIndexByte(s, '}') + 1 // macros may contain slashes
	slash := strings.IndexByte(s[macros:], '/')
	if slash < 0 {
		return s, "", nil
	}
	rest, lengths := s[:macros+slash], s[macros+slash:]
	m := dualCIDR.FindStringSubmatchIndex(lengths)
	if m == nil {
		return "", "", fmt.Errorf("%s is not of the form /24, //64 or /24//64", shorten(lengths))
	}
	for i, slashes := range []string{"/", "//"} {
		limit := []int{bitsV4, bitsV6}[i]
		from, to := m[2+2*i], m[3+2*i]
		if from < 0 {
			continue
		}
		bits, err := prefixLength(lengths[from:to], limit, pass)
		if err != nil {
			return "", "", err
		}
		if bits != limit {
			cidr += slashes + lengths[from:to]
		}
	}
	return rest, cidr, nil
}
