package apiserver

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// The limits of a fixture's values are those of the API. What the API has no
// request for takes those of a name.
var (
	nameLimits      = api.LimitsOf[api.CreateWorkspaceBody]("name")
	firstNameLimits = api.LimitsOf[api.CreateMailboxBody]("first_name")
	lastNameLimits  = api.LimitsOf[api.CreateMailboxBody]("last_name")
	ttlLimits       = api.LimitsOf[api.CreateDNSRecordBody]("ttl")
	prioLimits      = api.LimitsOf[api.CreateDNSRecordBody]("prio")
)

// text checks a text's length.
func (p *problems) text(at fixturePlace, field, value string, limits api.Limits) string {
	if n := utf8.RuneCountInString(value); n < *limits.MinLength || n > *limits.MaxLength {
		p.fail(at, "%s: %s", field, limits.LengthRule())
	} else if err := text.CheckName(value); err != nil && limits.Name {
		p.fail(at, "%s: %s", field, err)
	}
	return value
}

// optionalText checks a text's length unless it is empty.
func (p *problems) optionalText(at fixturePlace, field, value string) string {
	if value == "" {
		return ""
	}
	return p.text(at, field, value, nameLimits)
}

// number checks a number's bounds.
func (p *problems) number(at fixturePlace, field string, value *int64, limits api.Limits) {
	if value != nil && (*value < *limits.Minimum || *value > *limits.Maximum) {
		p.fail(at, "%s: must be %d to %d", field, *limits.Minimum, *limits.Maximum)
	}
}

// choice checks a value of a closed set; an empty one is the default.
func (p *problems) choice(at fixturePlace, field, value, byDefault string, allowed ...string) string {
	if value == "" {
		return byDefault
	}
	if !slices.Contains(allowed, value) {
		p.fail(at, "%s: must be one of %s", field, strings.Join(allowed, ", "))
	}
	return value
}

// canonical returns the form that a rule of the API gives a value.
func (p *problems) canonical(at fixturePlace, field, value string, rule func(string) (string, error)) string {
	form, err := rule(value)
	if err != nil {
		p.fail(at, "%s: %s", field, err)
		return value
	}
	return form
}

// optionalID checks an id unless it is empty.
func (p *problems) optionalID(at fixturePlace, value string) string {
	if value != "" && !api.IsID(value) {
		p.fail(at, "id: %.64q is not a UUID", value)
	}
	return api.CanonicalID(value)
}

var (
	price    = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,2})?$`)
	currency = regexp.MustCompile(`^([A-Z]{3})?$`)
)

// checkRules checks the rules that a fixture names.
func (p *problems) checkRules(f *Fixture) (rules fixtureRules) {
	if f.Registrar != nil {
		r := p.registrar(*f.Registrar)
		rules.registrar = &r
	}
	if rules.maxMailboxes = f.MaxMailboxes; f.MaxMailboxes != nil && *f.MaxMailboxes < 0 {
		p.fail("", "max_mailboxes: must not be negative")
	}
	return rules
}

// registrar checks the rules of a registrar and brings the names in them to
// canonical form, as those that they are compared with are.
func (p *problems) registrar(r Registrar) Registrar {
	at := fixturePlace("registrar")
	r.Taken = p.names(at, "taken", "name", r.Taken, domainname.Normalize)
	r.Premium = p.names(at, "premium", "name", r.Premium, domainname.Normalize)
	r.UnsupportedTLDs = p.names(at, "unsupported_tlds", "suffix", r.UnsupportedTLDs, domainname.NormalizeLabels)
	r.Prices = p.prices(at.in("prices"), r.Prices)
	if !currency.MatchString(r.Currency) {
		p.fail(at, "currency: must be a code of ISO 4217 such as USD")
	}
	if r.ProvisioningDelay < 0 {
		p.fail(at, "provisioning_delay: must not be negative")
	}
	return r
}

func (p *problems) names(at fixturePlace, list, field string, given []string, rule func(string) (string, error)) []string {
	names := slices.Clone(given)
	for i, name := range names {
		names[i] = p.canonical(at.item(list, i, ""), field, name, rule)
	}
	return names
}

// moment checks a time that a state of its own asks for.
func (p *problems) moment(at fixturePlace, field string, given time.Time, fits bool, state string) time.Time {
	if !given.IsZero() && !fits {
		p.fail(at, "%s: only what is %s has one", field, state)
	}
	return given.UTC().Truncate(time.Microsecond)
}

func (p *problems) prices(at fixturePlace, given map[string]string) map[string]string {
	if given == nil {
		return nil
	}
	prices := make(map[string]string, len(given))
	for _, suffix := range slices.Sorted(maps.Keys(given)) {
		if !price.MatchString(given[suffix]) {
			p.fail(at, "%.80s: must be an amount such as 12.00", suffix)
		}
		prices[p.canonical(at, "suffix", suffix, domainname.NormalizeLabels)] = given[suffix]
	}
	return prices
}

// canonicalIP returns the usual form of an IP address.
func canonicalIP(s string) (string, error) {
	ip, err := netip.ParseAddr(s)
	if err != nil || ip.Zone() != "" {
		return "", errNoIP
	}
	return ip.String(), nil
}
