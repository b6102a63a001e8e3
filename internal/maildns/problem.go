package maildns

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// Problem is what is wrong with one part of a record.
type Problem struct {
	// Field is the part as its users write it: a tag such as rua, or the name of
	// a field, in lower case. Element is its place in a list, or -1.
	Field   string
	Element int
	// Text says what is wrong and what is expected.
	Text string
}

// Error implements error.
func (p Problem) Error() string {
	if p.Element < 0 {
		return p.Field + ": " + p.Text
	}
	return fmt.Sprintf("%s[%d]: %s", p.Field, p.Element, p.Text)
}

// Problems are all that is wrong with a record: one at least.
type Problems []Problem

// Error implements error.
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

// addErr adds an error, if there is one.
func (ps *Problems) addErr(field string, element int, err error) {
	if err != nil {
		ps.add(field, element, "%s", err)
	}
}

// whole is the place of a problem that is with a field and not with an element
// of it.
const whole = -1

// finish returns a record that has no problems and that a TXT record can hold;
// field is the one to shorten.
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

// oneOf checks a value that is one of a few words.
func (ps *Problems) oneOf(field string, element int, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		ps.add(field, element, "must be %s, not %s", orList(allowed), shorten(value))
	}
}

// duplicates checks that no two elements of a list are the same. Those that are
// empty have a problem already.
func (ps *Problems) duplicates(field string, canonical []string) {
	first := map[string]int{}
	for i, s := range canonical {
		if s == "" {
			continue
		}
		if j, ok := first[s]; ok {
			ps.add(field, i, "%s is there already, as element %d", shorten(s), j)
			continue
		}
		first[s] = i
	}
}

// orList lists words for a sentence: a, b or c.
func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// shorten quotes s for an error message, cut to a length that fits a sentence.
func shorten(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return strconv.Quote(s)
}
