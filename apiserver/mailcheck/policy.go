package mailcheck

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

// This file finds records by their version, reads their tags, and checks MTA-STS and TLS-RPT.

// version recognizes a kind of record.
type version struct {
	*regexp.Regexp
	// plain is the version without punctuation and in lower case. A record that begins with it is
	// of this kind, but mistyped.
	plain string
}

// The beginnings of records. SPF ignores case (RFC 7208, section 4.5), DMARC also permits white
// space (RFC 9989, section 4.8); MTA-STS and TLS-RPT permit neither.
var (
	spfVersion   = version{regexp.MustCompile(`(?i)^v=spf1( |$)`), "vspf1"}
	dmarcVersion = version{regexp.MustCompile(`(?i)^v[ \t]*=[ \t]*DMARC1[ \t]*(;|$)`), "vdmarc1"}
	stsVersion   = version{regexp.MustCompile(`^v=STSv1[ \t]*;`), "vstsv1"}
	tlsVersion   = version{regexp.MustCompile(`^v=TLSRPTv1[ \t]*;`), "vtlsrptv1"}
)

// policies returns the TXT records of a name that begin with a version. Receivers ignore other
// records. If all are ignored, it returns those with the version and a character that must not be
// there.
func (c *checker) policies(name string, v version) (found []string, err error) {
	values, err := c.lookup(name, dnsdata.TypeTXT)
	var mistyped []string
	for _, text := range values {
		if v.MatchString(text) {
			found = append(found, text)
		} else if strings.HasPrefix(strings.ToLower(punctuation.ReplaceAllString(text, "")), v.plain) && foreign(text) != nil {
			mistyped = append(mistyped, text)
		}
	}
	if len(found) == 0 {
		return mistyped, err
	}
	return found, err
}

var punctuation = regexp.MustCompile(`[^A-Za-z0-9]`)

// policy returns the single record of a name that begins with a version. Without such a record it
// calls report with absent.
func (c *checker) policy(f *finding, name string, v version, report func(string, ...any), absent string) (string, bool) {
	found, err := c.policies(name, v)
	switch {
	case err != nil:
		f.unseen(name, err)
	case len(found) == 0:
		report("%s", absent)
	case len(found) > 1:
		kind := strings.ReplaceAll(strings.ToUpper(f.Check), "_", "-")
		f.fail("there are %d %s records, so that nobody uses any of them; merge them into one", len(found), kind)
	default:
		if err := foreign(found[0]); err != nil {
			f.fail("%s", err)
			return "", false
		}
		return found[0], true
	}
	return "", false
}

// foreign returns an error for the first character of a record that no record of mail may contain.
// Programs that know Unicode show many of them as a space, hyphen or quotation mark of ASCII, or
// not at all.
func foreign(record string) error {
	i := strings.IndexFunc(record, func(r rune) bool { return (r < ' ' || r > '~') && r != '\t' })
	if i < 0 {
		return nil
	}
	r, size := utf8.DecodeRuneInString(record[i:])
	name := fmt.Sprintf("%q (%U)", r, r)
	switch {
	case r == utf8.RuneError && size == 1:
		name = fmt.Sprintf("the octet 0x%02X", record[i])
	case unicode.Is(unicode.Zs, r):
		name = fmt.Sprintf("a space that is not ASCII (%U)", r)
	case unicode.Is(unicode.Dash, r):
		name = fmt.Sprintf("a dash that is not ASCII (%U)", r)
	case unicode.Is(unicode.Quotation_Mark, r):
		name = fmt.Sprintf("a quotation mark that is not ASCII (%U)", r)
	case !unicode.IsPrint(r):
		name = fmt.Sprintf("an invisible character (%U)", r)
	}
	place := "at its beginning"
	if before := []rune(record[:i]); i > 0 {
		place = fmt.Sprintf("after %q", string(before[max(0, len(before)-20):]))
	}
	return fmt.Errorf("the record contains %s %s, so that receivers can't read it; type it anew in ASCII", name, place)
}

// white is the white space that tags permit (RFC 5234, appendix B.1).
const white = " \t"

// tagSyntax is the variant of a tag list.
type tagSyntax int

const (
	// exactTags have case-sensitive names without white space beside the equals sign (RFC 8460 and
	// 8461, section 3).
	exactTags tagSyntax = iota
	// dkimTags have case-sensitive names (RFC 6376, section 3.2).
	dkimTags
	// dmarcTags have names in any case (RFC 9989, section 4.8).
	dmarcTags
)

// tagList contains the tags of a record.
type tagList struct {
	// values maps names to values, of two tags with the same name the first.
	values map[string]string
	// names are in the order of the record. twice lists names that occur again, and malformed the
	// parts that are no tags.
	names, twice, malformed []string
}

var (
	tagName      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	exactTagName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)
)

func tagsOf(record string, syntax tagSyntax) tagList {
	t := tagList{values: map[string]string{}}
	validName := tagName
	if syntax == exactTags {
		validName = exactTagName
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimRight(record, white), ";"), ";") {
		part = strings.Trim(part, white)
		name, value, ok := strings.Cut(part, "=")
		if syntax != exactTags {
			name, value = strings.Trim(name, white), strings.Trim(value, white)
		}
		if syntax == dmarcTags {
			name = strings.ToLower(name)
		}
		switch _, twice := t.values[name]; {
		case part == "" && syntax != exactTags:
		case !ok || !validName.MatchString(name), syntax == exactTags && value == "":
			t.malformed = append(t.malformed, part)
		case twice:
			t.twice = append(t.twice, name)
		default:
			t.values[name], t.names = value, append(t.names, name)
		}
	}
	return t
}

// mtaSTS checks the record that announces a policy for TLS. The policy itself is on the web.
func (c *checker) mtaSTS(acceptsMail bool) Result {
	f := begin("mta_sts", "RFC 8461")
	if !acceptsMail {
		return f.end("the domain accepts no mail")
	}
	name, host := "_mta-sts."+c.domain, "mta-sts."+c.domain
	record, ok := c.policy(f, name, stsVersion, f.warn, "there is no MTA-STS record at "+name+": who controls the network can remove TLS from mail to the domain")
	if !ok {
		return f.end("")
	}
	if _, err := maildns.MTASTSRecord(exactTagsOf(f, record)["id"]); err != nil {
		f.fail("%s", err)
	}
	found, err := c.resolves(host)
	f.unresolved(host+", the host of the policy,", err)
	if err == nil && !found {
		f.fail("%s, the host of the policy, has no address", host)
	}
	return f.end("the record is there; the policy is at https://" + host + "/.well-known/mta-sts.txt")
}

// tlsRPT checks the record that asks for reports on TLS.
func (c *checker) tlsRPT(acceptsMail bool) Result {
	f := begin("tls_rpt", "RFC 8460")
	if !acceptsMail {
		return f.end("the domain accepts no mail")
	}
	name := "_smtp._tls." + c.domain
	record, ok := c.policy(f, name, tlsVersion, f.warn, "there is no TLS-RPT record at "+name+": nobody learns of mail that could not be sent with TLS")
	if !ok {
		return f.end("")
	}
	rua := exactTagsOf(f, record)["rua"]
	for uri := range strings.SplitSeq(rua, ",") {
		uri = strings.Trim(uri, white)
		to, err := maildns.ParseReportURI(uri)
		switch {
		case err != nil:
			f.fail("rua: %s", err)
		case to.Size != "":
			f.fail("rua: %.80q must not limit the size of reports", uri)
		case to.Scheme != "mailto" && to.Scheme != "https":
			f.fail("rua: %.80q is neither a mailto: address nor an https URL", uri)
		}
	}
	return f.end("senders report to " + rua)
}

// exactTagsOf returns the tags of a record of MTA-STS or TLS-RPT, and reports the parts that break
// its syntax.
func exactTagsOf(f *finding, record string) map[string]string {
	tags := tagsOf(record, exactTags)
	for _, name := range tags.names {
		if name != "v" && name != "id" && name != "rua" && strings.ContainsAny(tags.values[name], " \t=") {
			tags.malformed = append(tags.malformed, name+"="+tags.values[name])
		}
	}
	for _, part := range tags.malformed {
		f.fail("%.40q is no tag, so that senders may ignore the record", part)
	}
	return tags.values
}
