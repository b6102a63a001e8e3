package maildns

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// domainSpec reads the domain of a term (RFC 7208, section 7.1): a host name, or
// one with macros, in canonical form.
func domainSpec(s string) (string, error) {
	if s == "" {
		return "", errors.New("a domain name is missing")
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

// macroBody is what stands between the braces of a macro: a letter, how many
// labels of it, whether reversed, and where to split it.
var macroBody = regexp.MustCompile(`^([A-Za-z])([0-9]*)([rR]?)[-.+,/_=]*$`)

// aMacro stands for a macro in the shape of a name, which is in lower case.
const aMacro = "M"

// macroSpec reads a domain name with macros. RFC 7208 lets any printable
// character stand between them; here it is what a host name may have, and an
// underscore.
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

// checkMacroShape checks what stands around the macros of a name.
func checkMacroShape(shape string) error {
	labels := strings.Split(shape, ".")
	for _, label := range labels {
		if label == "" {
			return errors.New("must not have an empty label (two dots in a row, or a dot in front)")
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

// cutMacro takes one macro off the start of s (RFC 7208, section 7.1).
func cutMacro(s string) (macro, rest string, err error) {
	if len(s) > 1 && strings.ContainsRune("%_-", rune(s[1])) {
		return s[:2], s[2:], nil
	}
	end := strings.IndexByte(s, '}')
	if !strings.HasPrefix(s, "%{") || end < 0 {
		return "", "", fmt.Errorf("%s is no macro; expected one such as %%{i}, or %%%% for a percent sign", shorten(s))
	}
	macro, rest = s[:end+1], s[end+1:]
	m := macroBody.FindStringSubmatch(s[2:end])
	if m == nil {
		return "", "", fmt.Errorf("%s is no macro; expected a letter, and after it how many labels, r to reverse them and where to split, as in %%{d2} or %%{ir}", shorten(macro))
	}
	switch letter := strings.ToLower(m[1]); {
	case letter == "p":
		return "", "", fmt.Errorf("macro %s must not be used: it is slow and unreliable, as ptr is (RFC 7208, section 7.2)", shorten(macro))
	case strings.Contains("crt", letter):
		return "", "", fmt.Errorf("macro %s has a meaning only in the text of an explanation (RFC 7208, section 7.2)", shorten(macro))
	case !strings.Contains("slodihv", letter):
		return "", "", fmt.Errorf("there is no macro %s; expected a letter out of s, l, o, d, i, h and v", shorten(macro))
	case m[2] != "" && strings.Trim(m[2], "0") == "":
		return "", "", fmt.Errorf("macro %s must keep one label or more (RFC 7208, section 7.3)", shorten(macro))
	}
	return macro, rest, nil
}

// isTopLabel reports whether a label may be the last of a name (RFC 7208, section
// 7.1, toplabel).
func isTopLabel(label string) bool {
	return strings.Trim(label, "0123456789") != "" && !strings.Contains(label, "_") && label[0] != '-' && label[len(label)-1] != '-'
}

func isLabelByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
