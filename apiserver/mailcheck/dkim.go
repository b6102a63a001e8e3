package mailcheck

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

// wantedKeyBits is the recommended minimum size of RSA keys (RFC 8301, section 3.2).
const wantedKeyBits = 2048

// anySelector is looked up for a domain without known selectors. Its keys may be in a wildcard or in
// a delegated zone.
const anySelector = "*"

// dkim checks the signature keys. A domain that sends no mail needs none.
func (c *checker) dkim(selectors []string, senders senders) Result {
	f := begin("dkim", "RFC 6376, RFC 8301")
	var usable, notForMail, unseen []string
	var reason error // of the first in unseen
	if len(selectors) == 0 {
		selectors = []string{anySelector}
	}
	for _, selector := range selectors {
		name := selector + "._domainkey." + c.domain
		values, err := c.lookup(name, dnsdata.TypeTXT)
		switch {
		case errors.Is(err, ErrUnknown) && selector != anySelector: // for an alias of a name elsewhere
			usable = append(usable, selector+" (elsewhere)")
		case err != nil:
			unseen, reason = append(unseen, name), cmp.Or(reason, err)
		case !slices.ContainsFunc(values, mayBeKey) && selector == anySelector:
		case !slices.ContainsFunc(values, mayBeKey):
			f.fail("%s: there is no key", selector)
		case len(values) > 1:
			f.fail("%s: there are %d records, and a selector has one", selector, len(values))
		default:
			key, err := readKey(values[0])
			switch {
			case err != nil:
				f.fail("%s: %s", selector, err)
				continue
			case key.Type == "": // revoked
				continue
			case !key.forMail:
				notForMail = append(notForMail, fmt.Sprintf("%s: s=%.20s excludes mail", selector, key.values["s"]))
				continue
			case key.Type == "rsa" && key.Bits < wantedKeyBits:
				f.warn("%s: the key has %d bits; use %d", selector, key.Bits, wantedKeyBits)
			}
			key.warn(f, selector)
			usable = append(usable, selector)
		}
	}
	switch {
	case len(usable) == 0 && senders == nobody:
		f.failed, f.warnings = nil, nil
		return f.end("the domain sends no mail, and needs no key")
	case len(usable) == 0 && senders == unknown:
		return f.unseen("there is no key; whether the domain sends mail and needs one", ErrUnknown)
	case len(unseen) > 0 && len(f.failed) == 0:
		return f.unseen(strings.Join(unseen, ", "), reason)
	case len(unseen) > 0:
		f.unresolved(strings.Join(unseen, ", "), reason)
	case len(usable) == 0 && len(f.failed) == 0:
		f.failed = notForMail
		f.fail("there is no key, so that nobody can verify a signature")
	}
	return f.end("there are keys for " + strings.Join(usable, ", "))
}

// mayBeKey reports whether a TXT record has no version of another kind of record. A wildcard can
// publish one of those at each selector.
func mayBeKey(record string) bool {
	v := punctuation.ReplaceAllString(tagsOf(record, dkimTags).values["v"], "")
	return v == "" || strings.HasPrefix(strings.ToLower(v), "dkim")
}

// publishedKey is a key with the tags of its record. The key is zero if it was revoked.
type publishedKey struct {
	maildns.DKIMKey
	tagList
	forMail bool
}

// words returns the values of a tag that consists of several, with white space beside the colons
// (RFC 6376, section 3.6.1).
func (k publishedKey) words(tag string) []string {
	return strings.Split(strings.ToLower(spaces.Replace(k.values[tag])), ":")
}

// spaces removes the white space that tags permit, and line ends, which keys permit as well.
var spaces = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "")

// readKey reads a record by the rules of verifiers (RFC 6376, sections 3.2 and 3.6.1).
func readKey(record string) (publishedKey, error) {
	record = strings.NewReplacer("\r\n ", " ", "\r\n\t", " ").Replace(record) // folded lines
	key := publishedKey{tagList: tagsOf(record, dkimTags)}
	tags := key.values
	if err := foreign(record); err != nil {
		return key, err
	}
	if v, ok := tags["v"]; ok && v != "DKIM1" {
		return key, fmt.Errorf("its version is %.20q, not DKIM1", v)
	} else if ok && key.names[0] != "v" {
		return key, errors.New("v=DKIM1 must be the first tag")
	}
	if len(key.malformed) > 0 {
		return key, fmt.Errorf("%.40q is no tag, such as k=rsa, so that verifiers refuse the record", key.malformed[0])
	}
	if len(key.twice) > 0 {
		return key, fmt.Errorf("%.20s occurs twice, so that verifiers refuse the record", key.twice[0])
	}
	p, ok := tags["p"]
	if !ok {
		return key, errors.New("the record has no key (p)")
	}
	if _, ok := tags["h"]; ok && !slices.Contains(key.words("h"), "sha256") {
		return key, fmt.Errorf("h is %.20q, and must permit sha256, the only algorithm of signatures (RFC 8301, section 3.1)", tags["h"])
	}
	_, restricted := tags["s"]
	key.forMail = !restricted || slices.Contains(key.words("s"), "email") || slices.Contains(key.words("s"), "*")
	data, err := base64.StdEncoding.DecodeString(spaces.Replace(p))
	switch {
	case err != nil:
		return key, errors.New("the key is not in base64")
	case len(data) == 0:
		return key, nil
	}
	key.DKIMKey, err = maildns.ParseDKIMKey(data)
	k, ok := tags["k"]
	if !ok {
		k = "rsa"
	}
	switch k = strings.ToLower(k); {
	case err == nil && k != key.Type:
		err = fmt.Errorf("k is %.20q, but the key is of type %s", k, key.Type)
	case err == nil && k == "ed25519" && len(data) != len(key.Data):
		err = fmt.Errorf("an Ed25519 key is published as its %d octets alone (RFC 8463, section 4.2)", len(key.Data))
	}
	return key, err
}

// warn reports the tags of a usable key that some verifiers don't accept.
func (k publishedKey) warn(f *finding, selector string) {
	if slices.Contains(k.words("t"), "y") {
		f.warn("%s: t=y says that DKIM is only tested", selector)
	}
	if g, ok := k.values["g"]; ok && g != "*" {
		f.warn("%s: g was removed by RFC 6376, and old verifiers restrict the key by it", selector)
	}
	for _, tag := range []string{"h", "k", "s", "t"} {
		if v := k.values[tag]; v != strings.ToLower(v) {
			f.warn("%s: write %s=%.20s in lower case, because verifiers may compare exactly (RFC 6376, section 3.2)", selector, tag, v)
		}
	}
}
