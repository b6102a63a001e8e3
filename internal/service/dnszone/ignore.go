package dnszone

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// pattern is an element of ignore: it matches records that others manage.
type pattern struct {
	name *regexp.Regexp
	// types is nil if every type matches.
	types map[string]bool
	// err explains an invalid element. The other fields are then zero, like for an unknown element.
	err error
}

func (p pattern) matches(k recordKey) bool {
	return p.name != nil && (p.types == nil || p.types[k.recordType]) && p.name.MatchString(k.name)
}

type patterns []pattern

func (all patterns) match(k recordKey) bool { return all.index(k) >= 0 }

func (all patterns) index(k recordKey) int {
	return slices.IndexFunc(all, func(p pattern) bool { return p.matches(k) })
}

const patternForm = `a name relative to the domain, in which * stands for any characters of one label, ** for any characters and ? for one, and optionally types: "_acme-challenge**", "dev TXT" or "*.dyn A,AAAA"`

// parsePattern parses an element of ignore. domain is "" if it is unknown.
func parsePattern(s, domain string) (pattern, error) {
	fields := strings.Fields(s)
	if len(fields) == 0 || len(fields) > 2 {
		return pattern{}, errors.New("expected " + patternForm)
	}
	var p pattern
	if len(fields) == 2 {
		p.types = map[string]bool{}
		for s := range strings.SplitSeq(fields[1], ",") {
			recordType, err := dnsdata.NormalizeType(s)
			if err != nil {
				return pattern{}, err
			}
			p.types[recordType] = true
		}
	}
	name, err := patternName(fields[0], domain)
	if err != nil {
		return pattern{}, err
	}
	p.name = regexp.MustCompile(patternExpression(name)) // the expression is quoted, and in ASCII
	return p, nil
}

// patternName returns the name of a pattern relative to the domain, in ASCII and lower case.
func patternName(s, domain string) (string, error) {
	if s == "@" {
		return s, nil
	}
	if strings.ContainsAny(s, `@[]{}!\`) {
		return "", errors.New("a pattern has no other special characters than * and ?; expected " + patternForm)
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for i, label := range labels {
		if strings.ContainsAny(label, "*?") {
			if strings.ContainsFunc(label, func(c rune) bool { return c > unicode.MaxASCII }) {
				return "", errors.New("a label with * or ? must be in ASCII; write an internationalized label as xn--…")
			}
			labels[i] = strings.ToLower(label)
			continue
		}
		ascii, err := domainname.NormalizeLabels(label)
		if err != nil {
			return "", err
		}
		labels[i] = ascii
	}
	name := strings.Join(labels, ".")
	switch relative, isInside := strings.CutSuffix(name, "."+domain); {
	case domain == "":
		return name, nil
	case name == domain:
		return "@", nil
	case isInside:
		return relative, nil
	case strings.HasSuffix(s, "."):
		return "", fmt.Errorf("the pattern ends in a dot but is outside the domain %s", domain)
	}
	return name, nil
}

// patternExpression returns the regular expression of a pattern's name. Only @ and **
// match the domain itself.
func patternExpression(name string) string {
	if name == "**" {
		return ""
	}
	return "^" + wildcards.Replace(regexp.QuoteMeta(name)) + "$"
}

// wildcards replaces quoted wildcards. At each position, the earlier pairs take precedence.
var wildcards = strings.NewReplacer(`\*\*`, "[^@]*", `\*`, "[^.@]*", `\?`, "[^.@]")

// patternsOf parses the list ignore. isKnown is false if only the apply knows the list or an element.
func patternsOf(list types.List, domain string) (all patterns, isKnown bool) {
	isKnown = !list.IsUnknown()
	for _, element := range list.Elements() {
		var p pattern
		if s, _ := element.(types.String); s.IsUnknown() {
			isKnown = false
		} else if parsed, err := parsePattern(s.ValueString(), domain); err != nil {
			p.err = err
		} else {
			p = parsed
		}
		all = append(all, p)
	}
	return all, isKnown
}
