package api

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// This file contains the rules that a struct tag can't express and that don't depend on the account.
// Clients can check values before sending them; the Validate methods of bodies apply the rules. A
// function returns the canonical form, or an error for users.

// e164 is the pattern of ITU-T E.164: a plus sign and up to 15 digits, the first of which is not zero.
var e164 = regexp.MustCompile(`^\+[1-9][0-9]{5,14}$`)

// CheckPhone checks an E.164 number, which includes the country code.
func CheckPhone(s string) (string, error) {
	if !e164.MatchString(s) {
		return "", errors.New("must be an E.164 number with its country code, for instance +4930123456")
	}
	return s, nil
}

// countries lists the codes of ISO 3166-1. x/text/language also accepts withdrawn codes, such as YU.
const countries = " AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ" +
	" BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ" +
	" CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ" +
	" DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR" +
	" GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU" +
	" ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ" +
	" LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ" +
	" NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW" +
	" SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ" +
	" UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW "

// CheckCountry checks a two-letter country code of ISO 3166-1 and returns it in upper case.
func CheckCountry(s string) (string, error) {
	code := strings.ToUpper(s)
	if len(code) != 2 || !strings.Contains(countries, " "+code+" ") {
		return "", errors.New("must be a two-letter country code of ISO 3166, for instance DE")
	}
	return code, nil
}

// CheckRedirectURL checks the target of a domain's web traffic: an absolute http or https URL with a
// host, without credentials, white space and control characters.
func CheckRedirectURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || strings.Trim(u.Hostname(), ".") == "" || u.User != nil {
		return "", errors.New("must be an absolute http or https URL without credentials, for instance https://www.example.com/")
	}
	// Check the decoded host too, because it may be written with percent signs.
	if strings.ContainsFunc(s+u.Host, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", errors.New("must not hold a space or a control character; write a space as %20")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", errors.New("must have a port from 1 to 65535, or none")
		}
	}
	return s, nil
}

// CheckPriority checks that a DNS record includes a priority if and only if its type requires one.
func CheckPriority(recordType string, given bool) *Problem {
	switch needed := dnsdata.TypeNeedsPriority(recordType); {
	case needed && !given:
		return Missing()
	case !needed && given:
		return Invalid("records of the type %s have no priority; leave it out", recordType)
	}
	return nil
}

// findings collects the problems of a request's body.
type findings []*Problem

// check replaces *value by its canonical form or adds a problem. It ignores an empty value.
func (f *findings) check(value *string, rule func(string) (string, error), field ...string) {
	if value == nil || *value == "" {
		return
	}
	canonical, err := rule(*value)
	if err != nil {
		f.add(Invalid("%s", err), field...)
		return
	}
	*value = canonical
}

func (f *findings) add(p *Problem, field ...string) {
	if p != nil {
		*f = append(*f, p.InBody(field...))
	}
}

// oneScope adds a problem if a request names two scopes.
func (f *findings) oneScope(domain, workspaceID *string) {
	if domain != nil && workspaceID != nil {
		f.add(Invalid("give at most one of domain and workspace_id"), "workspace_id")
	}
}

// Validate applies the rules of a mailbox's address.
func (b *CreateMailboxBody) Validate() []*Problem {
	var f findings
	f.check(&b.LocalPart, emailaddr.ParseLocalPart, "local_part")
	return f
}

// Validate applies the rules of a registrant.
func (b *PurchaseDomainsBody) Validate() []*Problem {
	var f findings
	c := &b.ContactInfo
	if len(c.Country) == 2 { // the tag reports another length
		f.check(&c.Country, CheckCountry, "contact_info", "country")
	}
	f.check(&c.Email, emailaddr.Normalize, "contact_info", "email")
	f.check(&c.Phone, CheckPhone, "contact_info", "phone")
	return f
}

// Validate applies the rules of a domain's settings.
func (b *UpdateDomainBody) Validate() []*Problem {
	var f findings
	if redirect := &b.RedirectURL; redirect.Sent && !redirect.Null {
		if _, err := CheckRedirectURL(redirect.Value); err != nil {
			f.add(Invalid("%s", err), "redirect_url")
		}
	}
	return f
}

// Validate applies the rules of a record's type.
func (b *CreateDNSRecordBody) Validate() []*Problem {
	var f findings
	if recordType, err := dnsdata.NormalizeType(b.Type); err == nil {
		f.check(&b.Name, validName, "name")
		f.check(&b.Value, func(v string) (string, error) { return dnsdata.NormalizeValue(recordType, v) }, "value")
		f.add(CheckPriority(recordType, b.Prio != nil), "prio")
	}
	return f
}

func validName(s string) (string, error) { return s, dnsdata.ValidateName(s) }

// Validate applies the rules of a forwarding rule's target and scope.
func (b *CreateForwardingBody) Validate() []*Problem {
	var f findings
	f.check(&b.TargetEmail, emailaddr.Normalize, "target_email")
	f.oneScope(b.Domain, b.WorkspaceID)
	return f
}

// Validate applies the rules of a forwarding rule's target.
func (b *UpdateForwardingBody) Validate() []*Problem {
	var f findings
	f.check(&b.TargetEmail, emailaddr.Normalize, "target_email")
	return f
}

// Validate applies the rules of a master password's secret and scope.
func (b *CreateMasterPasswordBody) Validate() []*Problem {
	var f findings
	switch {
	case b.Generate && b.Value != nil:
		f.add(Invalid("give either value or generate, not both"), "value")
	case !b.Generate && b.Value == nil:
		f.add(Invalid("give a value, or set generate to true"), "value")
	}
	f.oneScope(b.Domain, b.WorkspaceID)
	return f
}

// Validate applies the rules for the scope of a grant.
func (b *GrantAuthorizationBody) Validate() []*Problem {
	var f findings
	capability := b.GrantKind == vocab.GrantCapability
	whole := b.GrantKind == vocab.GrantAccountOwner || b.GrantKind == vocab.GrantSuperAdmin // neither: the tag reports it
	switch {
	case capability && b.CapabilityKey == nil:
		f.add(Missing(), "capability_key")
	case whole && b.CapabilityKey != nil:
		f.add(Invalid("only a capability grant has a capability_key"), "capability_key")
	case b.CapabilityKey != nil && !slices.Contains(Capabilities(), vocab.Capability(*b.CapabilityKey)):
		f.add(Invalid("no operation asks for the capability %.64q", *b.CapabilityKey), "capability_key")
	}
	if whole && b.ResourceType != nil {
		f.add(Invalid("only a capability grant can be restricted"), "resource_type")
	}
	switch {
	case b.ResourceType != nil && b.ResourceID == nil:
		f.add(Missing(), "resource_id")
	case b.ResourceType == nil && b.ResourceID != nil:
		f.add(Missing(), "resource_type")
	}
	return f
}

// Validate applies the rule of a cancellation.
func (b *CancelPlanBody) Validate() []*Problem {
	var f findings
	f.add(b.CheckFlags(), "cancel_at_period_end")
	return f
}

// CheckFlags checks that exactly one cancel flag is true; by default cancel_at_period_end is.
func (b CancelPlanBody) CheckFlags() *Problem {
	if atEnd := b.CancelAtPeriodEnd; atEnd != nil && *atEnd == b.Immediately() {
		return Invalid("exactly one of cancel_at_period_end and cancel_immediately must be true")
	}
	return nil
}

// Immediately reports whether the plan ends now instead of at the end of its period.
func (b CancelPlanBody) Immediately() bool {
	return b.CancelImmediately != nil && *b.CancelImmediately
}

// maxYear is the last year of RFC 3339. A later time in UTC can't be formatted.
const maxYear = 9999

// ParseTime parses a timestamp of a request to the stored form: UTC, in microseconds.
func ParseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err == nil && t.UTC().Year() > maxYear {
		err = errors.New("must not be after the year 9999 in UTC")
	}
	return t.UTC().Truncate(time.Microsecond), err
}

// Timely returns the problem of a service account that would expire before its creation. With an
// Idempotency-Key, it does not apply to a replayed request.
func (b CreateServiceAccountBody) Timely(arrival time.Time) *Problem {
	return timely(b.ExpiresAt, arrival, true, "expires_at")
}

// Timely returns the problem of a plan change in the past.
func (b ChangePlanBody) Timely(arrival time.Time) *Problem {
	return timely(b.EffectiveDate, arrival, false, "effective_date")
}

// timely checks a time that must not be before a request's arrival, or must be after it. The contract's
// tags check its syntax.
func timely(s *string, arrival time.Time, after bool, field string) *Problem {
	if s == nil {
		return nil
	}
	t, err := ParseTime(*s)
	switch {
	case err != nil:
		return nil //nolint:nilerr // the tag reports it
	case after && !t.After(arrival):
		return Invalid("must be in the future").InBody(field)
	case t.Before(arrival):
		return Invalid("must not be in the past").InBody(field)
	}
	return nil
}
