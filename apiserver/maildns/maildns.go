// Package maildns builds the records and files that a mail domain publishes in the DNS and on the
// web: SPF, DMARC, DKIM, MTA-STS and TLS-RPT records, and the MTA-STS policy. Package mailcheck
// checks published records by the same rules.
//
// Each kind of record is a function, or a struct with a method Record, that checks all fields
// against the RFC and returns the text of the record. The package also refuses values that an RFC
// only advises against if nobody can want them, for instance ptr in SPF.
//
// It has no I/O and no state. It may import the standard library and the syntax packages of
// apiserver: domainname, emailaddr and dnsdata.
//
// An error is a [Problems] with every problem of a record. Messages quote at most a short, escaped
// part of the input, and no part of a key.
//
// Stability: none. The package is exported for other packages of this repository only.
package maildns

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// Problem is a mistake in one part of a record.
type Problem struct {
	// Field is the tag, such as rua, or the name of an argument of the provider's function. Element
	// is the position in a list, or -1.
	Field   string
	Element int
	// Text describes the mistake and the expected value.
	Text string
}

func (p Problem) Error() string {
	if p.Element < 0 {
		return p.Field + ": " + p.Text
	}
	return fmt.Sprintf("%s[%d]: %s", p.Field, p.Element, p.Text)
}

// Problems lists all mistakes in a record, at least one.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

func (ps *Problems) add(field string, element int, format string, args ...any) {
	*ps = append(*ps, Problem{Field: field, Element: element, Text: fmt.Sprintf(format, args...)})
}

func (ps *Problems) addErr(field string, element int, err error) {
	if err != nil {
		ps.add(field, element, "%s", err)
	}
}

// whole is the Element of a problem with the whole field.
const whole = -1

// finish returns the record if it has no problems and fits a TXT record. A record that does not fit
// is a problem of field.
func (ps *Problems) finish(field, record string) (string, error) {
	if len(*ps) == 0 {
		_, err := dnsdata.Text(record)
		ps.addErr(field, whole, err)
	}
	if len(*ps) > 0 {
		return "", *ps
	}
	return record, nil
}

// oneOf adds a problem unless value is one of the allowed words.
func (ps *Problems) oneOf(field string, element int, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		ps.add(field, element, "must be %s, not %.60q", strings.Join(allowed, " or "), value)
	}
}

// optional is oneOf for an optional value.
func (ps *Problems) optional(field, value string, allowed ...string) {
	if value != "" {
		ps.oneOf(field, whole, value, allowed...)
	}
}

// words checks a list of words and joins them with colons, as in a record.
func (ps *Problems) words(field string, values []string, allowed ...string) string {
	for i, s := range values {
		ps.oneOf(field, i, s, allowed...)
	}
	ps.duplicates(field, values)
	return strings.Join(values, ":")
}

// inRange adds a problem if n is set and out of range.
func (ps *Problems) inRange(field string, n *int64, low, high int64) {
	if n != nil && (*n < low || *n > high) {
		ps.add(field, whole, "must be a whole number from %d to %d, not %d", low, high, *n)
	}
}

// decimal formats an optional number; nil becomes empty.
func decimal(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// duplicates adds a problem for each repeated element. It skips empty elements, which are already a
// problem.
func (ps *Problems) duplicates(field string, canonical []string) {
	first := map[string]int{}
	for i, s := range canonical {
		if s == "" {
			continue
		}
		if j, ok := first[s]; ok {
			ps.add(field, i, "%.60q repeats element %d", s, j)
			continue
		}
		first[s] = i
	}
}

// tagList is a record of tag=value pairs, in order (RFC 6376, section 3.2; RFC 7489, section 6.4).
type tagList []string

func (l *tagList) add(name, value string) {
	if value != "" {
		*l = append(*l, name+"="+value)
	}
}
