package zonefile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// maxGenerated limits the records that $GENERATE makes in a file.
const maxGenerated = 65536

var (
	generateRange = regexp.MustCompile(`^([0-9]{1,9})-([0-9]{1,9})(?:/([0-9]{1,9}))?$`)
	// generateNumber matches an escape, two dollar signs, or the number with its modifier.
	generateNumber = regexp.MustCompile(`\\.|\$\$|\$(?:\{[^}]*\})?`)
	// generateModifier matches an offset, a width and a base.
	generateModifier = regexp.MustCompile(`^\$\{(-?[0-9]{1,9})(?:,([0-9]{1,2})(?:,([doxXnN]))?)?\}$`)
)

// generate reads the records of a directive $GENERATE, as BIND's manual describes it. The parser of
// miekg/dns gives them a TTL of 3600 instead of the one of $TTL (RFC 2308, section 4).
func (r *reader) generate(e entry) error {
	fields := e.fields[1:]
	if len(fields) < len([]string{"range", "name", "type", "value"}) {
		return errors.New("$GENERATE needs a range, a name, a type and a value, such as $GENERATE 1-9 host-$ A 192.0.2.$")
	}
	m := generateRange.FindStringSubmatch(fields[0].text)
	if m == nil {
		return fmt.Errorf("the range %.40q of $GENERATE must be like 1-9 or 0-100/10", fields[0].text)
	}
	from, _ := strconv.ParseInt(m[1], 10, 64)
	to, _ := strconv.ParseInt(m[2], 10, 64)
	step := int64(1)
	if m[3] != "" {
		step, _ = strconv.ParseInt(m[3], 10, 64)
	}
	switch {
	case step == 0 || to < from:
		return fmt.Errorf("the range %s of $GENERATE is empty", fields[0].text)
	case (to-from)/step >= int64(maxGenerated-r.generated):
		return fmt.Errorf("$GENERATE makes more than %d records", maxGenerated)
	}
	r.generated += int((to-from)/step) + 1
	owner, ttl := r.owner, r.ttl
	defer func() { r.owner, r.ttl = owner, ttl }()
	fields = unquoteValue(fields[1:])
	for n := from; n <= to; n += step {
		made := entry{line: e.line, comments: e.comments, fields: slices.Clone(fields)}
		for i := range made.fields {
			var err error
			if made.fields[i].text, err = insertNumber(fields[i].text, n); err != nil {
				return err
			}
		}
		if err := r.readRecord(made); err != nil {
			return err // the other records have the same problem
		}
	}
	return nil
}

// unquoteValue returns the fields of a template. BIND reads a single value after the type, which is in
// quotes if it consists of several fields. A quoted text of TXT without inner quotes stays one string.
func unquoteValue(fields []field) []field {
	last := len(fields) - 1
	value := fields[last]
	recordType, err := dnsdata.NormalizeType(fields[last-1].text)
	if err != nil || !value.isQuoted || recordType == dnsdata.TypeTXT && !strings.Contains(value.text, `\"`) {
		return fields
	}
	if inner := split(strings.ReplaceAll(value.text, `\"`, `"`)); len(inner) == 1 && inner[0].err == nil {
		return append(fields[:last:last], inner[0].fields...)
	}
	return fields
}

// insertNumber replaces each $ and ${offset,width,base} in a template by the number. \$ and $$ stand for
// a dollar sign.
func insertNumber(template string, n int64) (text string, err error) {
	text = generateNumber.ReplaceAllStringFunc(template, func(s string) string {
		switch {
		case s == `\$` || s == "$$":
			return "$"
		case s[0] == '\\':
			return s
		case s == "$":
			return strconv.FormatInt(n, 10)
		}
		m := generateModifier.FindStringSubmatch(s)
		if m == nil {
			err = fmt.Errorf("the modifier %.40s of $GENERATE must be like ${0,3,d}: an offset, a width, and the base d, o, x, X, n or N", s)
			return s
		}
		offset, _ := strconv.ParseInt(m[1], 10, 64)
		width, _ := strconv.Atoi(m[2])
		if n+offset < 0 {
			err = fmt.Errorf("the offset of %s in $GENERATE makes %d negative", s, n)
			return s
		}
		switch m[3] {
		case "n":
			return nibbles(n+offset, width, "0123456789abcdef")
		case "N":
			return nibbles(n+offset, width, "0123456789ABCDEF")
		}
		return fmt.Sprintf("%0*"+cmp.Or(m[3], "d"), width, n+offset)
	})
	return text, err
}

// nibbles returns the hexadecimal digits of a number in reverse order with dots between them, as in names
// below ip6.arpa. The width counts the dots too.
func nibbles(n int64, width int, digits string) (text string) {
	for {
		text += digits[n&15 : n&15+1]
		n >>= 4
		width--
		if width > 0 || n > 0 {
			text += "."
			width--
		}
		if width <= 0 && n == 0 {
			return text
		}
	}
}
