package zonefile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// isHosts reports whether the host of a zone creates the current record itself. KEY, SIG and NXT are
// DNSSEC of RFC 2535, TYPE65534 is BIND's state of signing, and CSYNC is for the parent zone.
func (r *reader) isHosts(recordType string) bool {
	switch recordType {
	case "SOA", "RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY", "CSYNC", "ZONEMD", "KEY", "SIG", "NXT", "TYPE65534":
		return true
	case "NS":
		name, err := dnsdata.NormalizeName(r.owner, r.domain)
		return err == nil && name == "@"
	}
	return false
}

// Types that only some hosts have, also with a prefix of theirs.
var (
	aliasType    = regexp.MustCompile(`(?:^|_)(?:ALIAS|ANAME)$|^(?:NETLIFY|NETLIFYV6|AKAMAICDN)$`)
	redirectType = regexp.MustCompile(`URL|REDIR|FRAME|FORWARD|HTTPRED|WEBFWD|(?:^|_)WR$`)
)

// check returns an error for a type, a class or a comment that the zone can't have.
func (rec record) check() error {
	if _, err := dnsdata.NormalizeType(rec.recordType); err != nil {
		switch {
		case aliasType.MatchString(rec.recordType):
			return errors.New("an alias of its host; write a CNAME, or the addresses")
		case redirectType.MatchString(rec.recordType):
			return errors.New("a web redirect of its host; write redirect_url of the mailhost_domain for the domain itself, or the addresses of a web server that redirects")
		case rec.recordType == "SPF":
			return errors.New("the type SPF is obsolete (RFC 7208, section 3.1); write a TXT record, unless the file has it too")
		case rec.omitsName:
			return fmt.Errorf("%w. The line begins with a blank, so it has no name", err)
		}
		return err
	}
	if rec.class != "" && rec.class != "IN" && rec.class != "CLASS1" {
		return fmt.Errorf("its class is %s, not IN", rec.class)
	}
	if m := routing.FindString(rec.comment); m != "" {
		return fmt.Errorf("its comment gives it a routing that only its host has (%.40s); remove the comment to have a plain record", strings.TrimLeft(m, "; \t"))
	}
	if m := disabled.FindString(rec.comment); m != "" {
		return fmt.Errorf("its comment says that it is disabled (%.40s); remove the comment to put it into service", strings.Trim(m, "; \t"))
	}
	return nil
}

// Comments in which hosts write what a zone file can't contain: cli53 the routing of Route 53, and
// Technitium and others that a record is disabled.
var (
	routing  = regexp.MustCompile(`(?im)^;\s*AWS\s+\w+=\S*|\b(?:routing(?:_?policy)?|set_?identifier|health_?check(?:_?id)?|failover|geo_?location)\s*=\s*\S+`)
	disabled = regexp.MustCompile(`(?im)\b(?:disabled|deactivated|inactive|paused)["']?\s*[:=]\s*["']?(?:true|yes|on|1)\b|\b(?:enabled|active)["']?\s*[:=]\s*["']?(?:false|no|off|0)\b|^;[^\w\n]*(?:disabled|deactivated|inactive|paused)[^\w\n]*$`)
)
