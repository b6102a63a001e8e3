package zonefile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/miekg/dns"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// isHosts reports whether the host of a zone creates the record at a name itself. KEY, SIG and NXT are
// DNSSEC of RFC 2535, TYPE65534 is BIND's state of signing, and CSYNC is for the parent zone.
func (rec record) isHosts(name string) bool {
	switch rec.recordType {
	case "SOA", "RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY", "CSYNC", "ZONEMD", "KEY", "SIG", "NXT", "TYPE65534":
		return true
	}
	return rec.recordType == dnsdata.TypeNS && name == "@"
}

// unknownType matches a type without a name (RFC 3597).
var unknownType = regexp.MustCompile(`^TYPE[0-9]+$`)

// hasType reports whether the record's type is one of the DNS or of a host.
func (rec record) hasType() bool {
	_, isDNS := dns.StringToType[rec.recordType]
	return isDNS || unknownType.MatchString(rec.recordType) || aliasType.MatchString(rec.recordType) || redirectType.MatchString(rec.recordType)
}

// Types that only some hosts have, also with a prefix of theirs.
var (
	aliasType    = regexp.MustCompile(`(?:^|_)(?:ALIAS|ANAME)$|^(?:NETLIFY|NETLIFYV6|AKAMAICDN)$`)
	redirectType = regexp.MustCompile(`URL|REDIR|FRAME|FORWARD|HTTPRED|WEBFWD|(?:^|_)WR$`)
)

// check returns an error for a type, a class or a comment that the zone can't have.
func (rec record) check(isHosts bool) error {
	if _, err := dnsdata.NormalizeType(rec.recordType); err != nil && !isHosts {
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
	if isHosts {
		return nil
	}
	return rec.checkComment()
}

// Statements in comments, by which hosts write what a zone file can't contain: that a record is disabled,
// or the routing of Route 53 and others.
var (
	// pair matches a key and a value, such as disabled=true, Status: inactive or "routing":"failover".
	// cli53 writes AWS before the first.
	pair = regexp.MustCompile(`(AWS\s+)?["']?\b([A-Za-z][\w-]*)["']?(\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s"',;|]+)`)
	// clauseStart matches the text before a key of its own.
	clauseStart = regexp.MustCompile(`(?i)(?:^\W*|[.,;|/{(\[-]\s*)(?:record|entry)?\s*$`)

	off      = `(?:disabled?|deactivated|inactive|paused|suspended|deaktiviert|inaktiv|pausiert|désactivée?|inactif|desactivado|inactivo|disattivato|inattivo|uitgeschakeld|inactief)`
	offPair  = regexp.MustCompile(`^` + off + `=(?:true|t|yes|y|on|1|ja|oui|si|sí)$|^(?:enabled?|active|activated|aktiv|aktiviert|status|state)=(?:false|f|no|n|off|0|nein|non|` + off + `)$`)
	offWords = regexp.MustCompile(`(?i)^\W*(?:(?:this )?(?:record|entry|eintrag)(?: is| ist)? )?` + off + `(?: (?:record|entry|eintrag))?\W*$`)

	routingPair = regexp.MustCompile(`^(?:routing|routingpolicy|trafficpolicy|setid|setidentifier|healthcheck|healthcheckid|geolocation|geoproximity|geoproximitylocation|geodnslocation|gtd|gtdlocation|multivalue|multivalueanswer)=.|` +
		`^failover=(?:primary|secondary|active|passive|standby|true|yes)$|^policy=(?:failover|weighted|latency|geo\w*|multivalue\w*)$|^weight=[0-9]+$`)
	noRouting = regexp.MustCompile(`=(?:simple|default|standard|none|null|false|no|off|n/a|-)?$`)
)

// checkComment returns an error for a record whose comment says that it is disabled, or has a routing.
// Sentences say neither, so that a pair with blanks, such as status: disabled, counts only where a clause
// begins.
func (rec record) checkComment() error {
	for _, line := range rec.comments {
		line = strings.Trim(line, "; \t\n")
		if offWords.MatchString(line) {
			return errDisabled(line)
		}
		end := 0 // of the last pair
		for _, at := range pair.FindAllStringSubmatchIndex(line, -1) {
			before, found := line[end:at[0]], line[at[0]:at[1]]
			end = at[1]
			isAWS, separator := at[2] >= 0, line[at[6]:at[7]]
			if len(separator) > 1 && !clauseStart.MatchString(before) {
				continue
			}
			key := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(line[at[4]:at[5]]))
			key = strings.TrimPrefix(strings.TrimPrefix(key, "record"), "is")
			statement := key + "=" + strings.ToLower(strings.Trim(line[at[8]:at[9]], `"'.)]}`))
			switch {
			case offPair.MatchString(statement):
				return errDisabled(found)
			case rec.recordType == dnsdata.TypeSRV && key == "weight": // its own
			case isAWS || routingPair.MatchString(statement) && !noRouting.MatchString(statement):
				return fmt.Errorf("its comment gives it a routing that only its host has (%.40s); remove the comment to have a plain record", found)
			}
		}
	}
	return nil
}

func errDisabled(statement string) error {
	return fmt.Errorf("its comment says that it is disabled (%.40s); remove the comment to put it into service", statement)
}
