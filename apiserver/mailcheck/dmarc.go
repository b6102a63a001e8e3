package mailcheck

import (
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

// dmarc checks the policy for forged mail: the domain's own, or else its organization's. A domain
// that sends no mail needs no reports.
func (c *checker) dmarc(senders senders) Result {
	f := begin("dmarc", "RFC 9989")
	domain, record, ok := c.dmarcRecord(f)
	if !ok {
		return f.end("")
	}
	tags := tagsOf(record, dmarcTags)
	values, tag, source := tags.values, "p", ""
	if domain != c.domain {
		tag, source = c.inheritedPolicy(values), " in the record of "+domain
	}
	policy := strings.ToLower(values[tag])
	switch {
	case values["v"] != "DMARC1":
		f.fail("the record must begin with v=DMARC1; and a semicolon")
	case values["p"] == "":
		f.warn("there is no policy p%s, which counts as none: forged mail is delivered", source)
	case policy == "none":
		f.warn("with %s=none%s, forged mail is delivered; use quarantine or reject once the reports look right", tag, source)
	}
	for _, sub := range []string{"sp", "np"} {
		if domain == c.domain && strings.EqualFold(values[sub], "none") && policy != "none" {
			f.warn("%s=none lets forged mail from subdomains through", sub)
		}
	}
	if strings.EqualFold(values["t"], "y") {
		f.warn("with t=y the policy is only tested")
	}
	for _, name := range slices.Sorted(slices.Values(tags.names)) {
		choice := maildns.DMARCChoices[name]
		switch {
		case choice != nil && !slices.Contains(choice, strings.ToLower(values[name])):
			f.fail("%s is %.20q, and must be one of %s", name, values[name], strings.Join(choice, ", "))
		case slices.Contains([]string{"pct", "rf", "ri"}, name):
			f.warn("%s was removed by RFC 9989, and receivers ignore it", name)
		case name == "fo":
			for word := range strings.SplitSeq(strings.ToLower(values[name]), ":") {
				if !slices.Contains(maildns.DMARCFailures, strings.Trim(word, white)) {
					f.fail("fo is %.20q, and must be a list of %s, with colons between them", values[name], strings.Join(maildns.DMARCFailures, ", "))
				}
			}
		case choice == nil && !slices.Contains([]string{"v", "rua", "ruf"}, name):
			f.warn("DMARC has no %.20q, and receivers ignore it", name)
		}
	}
	for _, name := range tags.twice {
		f.fail("%.20s occurs twice, so that receivers may ignore the record", name)
	}
	for _, part := range tags.malformed {
		f.warn("%.40q is no tag, and receivers ignore it", part)
	}
	if values["rua"] == "" && senders != nobody {
		f.warn("nobody receives reports; set rua")
	}
	c.reportsTo(f, domain, values)
	return f.end("forged mail is treated by " + tag + "=" + policy + source)
}

// dmarcRecord returns the record that applies to the domain, and the domain that publishes it: the
// domain itself, its organization or its public suffix (RFC 9989, section 4.10.1).
func (c *checker) dmarcRecord(f *finding) (domain, record string, ok bool) {
	own, absent := "_dmarc."+c.domain, false
	record, ok = c.policy(f, own, dmarcVersion, func(string, ...any) { absent = true }, "")
	if !absent {
		return c.domain, record, ok
	}
	domain, failed, err := c.inheritedFrom()
	switch {
	case err != nil:
		f.unseen("there is no record at "+own+", so that another one applies; "+failed, err)
		return "", "", false
	case domain == "":
		f.fail("there is no DMARC record at %s, so that forged mail is delivered", own)
		return "", "", false
	}
	record, ok = c.policy(f, "_dmarc."+domain, dmarcVersion, f.fail, "")
	return domain, record, ok
}

// maxParents limits the names above a domain that are looked up.
const maxParents = 7

// inheritedFrom returns the domain with the record that applies to names below it that publish
// none, or "". It walks up the tree of names as receivers do (RFC 9989, section 4.10). After a
// failed lookup it returns the name.
func (c *checker) inheritedFrom() (domain, failed string, err error) {
	organization := domainname.Organization(c.domain)
	labels := strings.Split(c.domain, ".")
	below := ""
	for n := min(len(labels)-1, maxParents); n > 0; n-- {
		name := strings.Join(labels[len(labels)-n:], ".")
		found, err := c.policies("_dmarc."+name, dmarcVersion)
		// Few registries publish a policy, so one that can't be seen is taken for none.
		if err != nil && len(name) >= len(organization) {
			return "", "_dmarc." + name, err
		}
		if len(found) == 1 {
			tags := tagsOf(found[0], dmarcTags).values
			psd := strings.ToLower(tags["psd"])
			switch {
			case tags["v"] != "DMARC1": // discarded
			case psd == "n":
				return name, "", nil
			case psd == "y" && domain != "" && domain == below:
				return domain, "", nil
			case psd == "y":
				return name, "", nil
			default:
				domain = name
			}
		}
		below = name
	}
	return domain, "", nil
}

// inheritedPolicy returns the tag of another domain's record with the policy for the domain.
func (c *checker) inheritedPolicy(values map[string]string) string {
	r, ok := c.resolver.(Existence)
	switch {
	case values["np"] != "" && ok && !r.Exists(c.ctx, c.domain):
		return "np"
	case values["sp"] != "":
		return "sp"
	}
	return "p"
}

// reportsTo checks the addresses for reports in a domain's record, and that domains of others agree
// to receive them.
func (c *checker) reportsTo(f *finding, domain string, tags map[string]string) {
	for _, tag := range []string{"rua", "ruf"} {
		if tags[tag] == "" {
			continue
		}
		for uri := range strings.SplitSeq(tags[tag], ",") {
			uri = strings.Trim(uri, white)
			if uri == "" {
				f.warn("%s: there is no address beside a comma", tag)
				continue
			}
			to, err := maildns.ParseReportURI(uri)
			if err != nil {
				f.fail("%s: %s", tag, err)
				continue
			}
			if to.Domain == "" {
				f.warn("%s: receivers need to report to mailto: addresses only, and not to %.80q", tag, uri)
				continue
			}
			if to.Size != "" {
				f.warn("%s: the size of reports was removed by RFC 9989", tag)
			}
			if domainname.Organization(to.Domain) == domainname.Organization(domain) {
				continue
			}
			agrees := domain + "._report._dmarc." + to.Domain
			found, err := c.policies(agrees, dmarcVersion)
			f.unresolved(agrees, err)
			if err == nil && len(found) == 0 {
				f.warn("%s: %s does not agree to receive reports; it needs a TXT record v=DMARC1 at %s", tag, to.Domain, agrees)
			}
		}
	}
}
