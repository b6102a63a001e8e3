package mailcheck

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

// This file checks records that consist of tags: DKIM, DMARC, MTA-STS and TLS-RPT.

// tagsOf returns the well-formed tags of a record, the first of two with the same name. If exact,
// names are case-sensitive, and white space beside an equals sign belongs to the tag (RFC 8460 and
// 8461, section 3). Otherwise names become lower case.
func tagsOf(record string, exact bool) map[string]string {
	tags := map[string]string{}
	for tag := range strings.SplitSeq(record, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(tag), "=")
		if !exact {
			name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		}
		if _, twice := tags[name]; ok && !twice {
			tags[name] = value
		}
	}
	return tags
}

// wantedKeyBits is the recommended minimum size of RSA keys (RFC 8301, section 3.2).
const wantedKeyBits = 2048

// dkim checks the signature keys.
func (c *checker) dkim(selectors []string) Result {
	f := begin("dkim", "RFC 6376, RFC 8301")
	var usable []string
	for _, selector := range selectors {
		name := selector + "._domainkey." + c.domain
		values, err := c.lookup(name, dnsdata.TypeTXT)
		switch {
		case err != nil: // for an alias of a name elsewhere
			usable = append(usable, selector+" (elsewhere)")
		case len(values) == 0:
			f.fail("%s: there is no key", selector)
		case len(values) > 1:
			f.fail("%s: there are %d records, and a selector has one", selector, len(values))
		default:
			tags := tagsOf(values[0], false)
			key, err := publishedKey(tags)
			switch {
			case err != nil:
				f.fail("%s: %s", selector, err)
				continue
			case key.Type == "": // revoked
				continue
			case key.Type == "rsa" && key.Bits < wantedKeyBits:
				f.warn("%s: the key has %d bits; use %d", selector, key.Bits, wantedKeyBits)
			}
			if slices.Contains(strings.Split(strings.ReplaceAll(tags["t"], " ", ""), ":"), "y") {
				f.warn("%s: t=y says that DKIM is only tested", selector)
			}
			usable = append(usable, selector)
		}
	}
	if len(usable) == 0 && len(f.failed) == 0 {
		f.fail("there is no key, so that nobody can verify a signature")
	}
	return f.end("there are keys for " + strings.Join(usable, ", "))
}

// publishedKey returns the key in a record, or the zero key for a revoked one.
func publishedKey(tags map[string]string) (maildns.DKIMKey, error) {
	var key maildns.DKIMKey
	if v, ok := tags["v"]; ok && v != "DKIM1" {
		return key, fmt.Errorf("its version is %.20q, not DKIM1", v)
	}
	p, ok := tags["p"]
	if !ok {
		return key, errors.New("the record has no key (p)")
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(p), ""))
	switch {
	case err != nil:
		return key, errors.New("the key is not in base64")
	case len(data) == 0:
		return key, nil
	}
	key, err = maildns.ParseDKIMKey(data)
	switch k := cmp.Or(strings.ToLower(tags["k"]), "rsa"); {
	case err == nil && k != key.Type:
		err = fmt.Errorf("k is %.20q, but the key is of type %s", k, key.Type)
	case err == nil && k == "ed25519" && len(data) != len(key.Data):
		err = fmt.Errorf("an Ed25519 key is published as its %d octets alone (RFC 8463, section 4.2)", len(key.Data))
	}
	return key, err
}

// dmarc checks the policy for forged mail.
func (c *checker) dmarc() Result {
	f := begin("dmarc", "RFC 9989")
	name := "_dmarc." + c.domain
	record, ok := c.policy(f, name, dmarcVersion, f.fail, "there is no DMARC record at "+name+", so that forged mail is delivered")
	if !ok {
		return f.end("")
	}
	tags := tagsOf(record, false)
	policy := strings.ToLower(tags["p"])
	switch {
	case tags["v"] != "DMARC1":
		f.fail("the record must begin with v=DMARC1; and a semicolon")
	case policy == "":
		f.warn("there is no policy p, which counts as none: forged mail is delivered")
	case policy == "none":
		f.warn("with p=none, forged mail is delivered; use quarantine or reject once the reports look right")
	}
	for _, tag := range []string{"sp", "np"} {
		if strings.EqualFold(tags[tag], "none") && policy != "none" {
			f.warn("%s=none lets forged mail from subdomains through", tag)
		}
	}
	if strings.EqualFold(tags["t"], "y") {
		f.warn("with t=y the policy is only tested")
	}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		choice := maildns.DMARCChoices[tag]
		switch {
		case choice != nil && !slices.Contains(choice, strings.ToLower(tags[tag])):
			f.fail("%s is %.20q, and must be one of %s", tag, tags[tag], strings.Join(choice, ", "))
		case slices.Contains([]string{"pct", "rf", "ri"}, tag):
			f.warn("%s was removed by RFC 9989, and receivers ignore it", tag)
		case choice == nil && !slices.Contains([]string{"v", "rua", "ruf", "fo"}, tag):
			f.warn("DMARC has no %.20q, and receivers ignore it", tag)
		}
	}
	if tags["rua"] == "" {
		f.warn("nobody receives reports; set rua")
	}
	c.reportsTo(f, tags)
	return f.end("forged mail is treated by p=" + policy)
}

// reportsTo checks the addresses for reports, and that a foreign domain agrees to receive them.
func (c *checker) reportsTo(f *finding, tags map[string]string) {
	for _, tag := range []string{"rua", "ruf"} {
		for uri := range strings.SplitSeq(tags[tag], ",") {
			uri = strings.TrimSpace(uri)
			if uri == "" {
				continue
			}
			address, ok := strings.CutPrefix(strings.ToLower(uri), "mailto:")
			if u, err := url.Parse(uri); !ok && err == nil && u.Scheme != "" && u.Host != "" {
				f.warn("%s: receivers need to report to mailto: addresses only, and not to %.80q", tag, uri)
				continue
			}
			at := strings.LastIndexByte(address, '@')
			if !ok || at <= 0 {
				f.fail("%s: %.80q is no mailto: address", tag, uri)
				continue
			}
			host, _, sized := strings.Cut(address[at+1:], "!")
			if sized {
				f.warn("%s: the size of reports was removed by RFC 9989", tag)
			}
			if host == c.domain || strings.HasSuffix(host, "."+c.domain) || strings.HasSuffix(c.domain, "."+host) {
				continue
			}
			agrees := c.domain + "._report._dmarc." + host
			if found, err := c.policies(agrees, dmarcVersion); err == nil && len(found) == 0 {
				f.warn("%s: %s does not agree to receive reports; it needs a TXT record v=DMARC1 at %s", tag, host, agrees)
			}
		}
	}
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
	if _, err := maildns.MTASTSRecord(tagsOf(record, true)["id"]); err != nil {
		f.fail("%s", err)
	}
	if !c.hasAddress(host) {
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
	rua := tagsOf(record, true)["rua"]
	for uri := range strings.SplitSeq(rua, ",") {
		uri = strings.TrimSpace(uri)
		if lower := strings.ToLower(uri); !strings.HasPrefix(lower, "mailto:") && !strings.HasPrefix(lower, "https://") {
			f.fail("rua: %.80q is neither a mailto: address nor an https URL", uri)
		}
	}
	return f.end("senders report to " + rua)
}
