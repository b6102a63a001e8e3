package modeltest

import (
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// option is a dedicated IP option: a number of addresses of a range.
type option struct {
	id, country string
	network     netip.Prefix
	name, typ   any // learned
}

const addressesOfOption = 16

// dedicatedIP is a claimed address in the model.
type dedicatedIP struct {
	id        string
	option    *option
	ip        string
	name, asn any // learned
	created   time.Time
}

func (m *machine) ipObject(d *dedicatedIP) obj {
	return obj{
		"id": m.learnID(&d.id), "name": learnAny(&d.name), "status": "active", "type": "dedicated", "asn": learnAny(&d.asn),
		"country_code": d.option.country, "created_at": m.creation(&d.created), "updated_at": m.creation(&d.created),
		"ip_addresses": []any{obj{"ip": m.learnAddress(d), "fcrdns_confirmed": false, "healthy": true, "rdns": nil}},
	}
}

// learnAddress accepts the address of a claim: a free one of the option.
func (m *machine) learnAddress(d *dedicatedIP) learn {
	return func(got any) error {
		s, _ := got.(string)
		if d.ip != "" {
			return unless(d.ip == s, "is %s; it was %s before", s, d.ip)
		}
		ip, err := netip.ParseAddr(s)
		if err != nil || !d.option.network.Contains(ip) || ip == m.rivalIP || slices.ContainsFunc(m.ips, func(other *dedicatedIP) bool { return other.ip == s }) {
			return unless(false, "is %s; want a free one of %s", show(got), d.option.network)
		}
		d.ip = s
		return nil
	}
}

func (m *machine) available(o *option) int {
	left := addressesOfOption - len(without(slices.Clone(m.ips), func(d *dedicatedIP) bool { return d.option != o }))
	if o.network.Contains(m.rivalIP) {
		left--
	}
	return left
}

func (m *machine) optionIDs() []string {
	return idsOf(m.options, func(o *option) string { return o.id })
}

func (m *machine) claimIP() {
	id, wrongID := m.anID("option_id", m.optionIDs())
	var faults []problem
	if wrongID {
		faults = []problem{{loc: "body.option_id", typ: "uuid_parsing"}}
	}
	m.do(m.caller(), m.claim(id, faults))
}

// claimManyIPs claims addresses until an option is exhausted, or nearly.
func (m *machine) claimManyIPs() {
	o := m.options[m.which("option", len(m.options))]
	left := draw(m, "leave", 1, 0, 2)
	for !m.cancelled() && m.available(o) > left {
		m.do(m.theOwner(), m.claim(o.id, nil))
	}
}

func (m *machine) claim(id string, faults []problem) operation {
	return operation{
		method: "POST", path: "/dedicated-ips/claim", body: obj{"option_id": id}, capability: "dedicated_ip.claim", keyed: true, faults: faults,
		then: func(*caller) want {
			o := find(m.options, func(o *option) bool { return o.id == canonical(id) })
			switch {
			case o == nil:
				return unprocessable(wrong("body.option_id"))
			case m.available(o) == 0:
				return conflict(o.id)
			}
			d := &dedicatedIP{option: o}
			out := m.ipObject(d)
			m.ips = append(m.ips, d)
			return created(out)
		},
	}
}

func (m *machine) ipIDs() []string { return idsOf(m.ips, func(d *dedicatedIP) string { return d.id }) }

func (m *machine) ipOf(_ reach, id string) *dedicatedIP {
	return find(m.ips, func(d *dedicatedIP) bool { return d.id == canonical(id) })
}

// releaseIP releases an address, which can be claimed again.
func (m *machine) releaseIP() {
	id, faults := m.named("dedicated_ip_id", m.ipIDs())
	erase(m, "/dedicated-ips/", "dedicated_ip.release", "dedicated_ip_id", id, faults, m.ipOf, func(d *dedicatedIP) {
		m.ips = without(m.ips, func(other *dedicatedIP) bool { return other == d })
	})
}

func (m *machine) readIPs() {
	switch draw(m, "read", "list", "options", "one") {
	case "one":
		m.readOne("dedicated_ip_id", m.ipIDs(), m.getIP)
	case "options":
		m.listOptions().do(m, m.caller())
	default:
		l := m.listIPs(url.Values{})
		l.filter(m, "status", "active", "provisioning", "releasing")
		l.filter(m, "country_code", "DE", "US", "FR")
		l.do(m, m.caller())
	}
}

func (m *machine) getIP(id string) operation {
	return get(m, "/dedicated-ips/", "dedicated_ip.view", "dedicated_ip_id", id, m.ipOf, m.ipObject)
}

func (m *machine) listIPs(query url.Values) *listing {
	return list(m, "/dedicated-ips", "dedicated_ip.view", query, &m.ips, m.ipObject, func(l *listing, _ reach, d *dedicatedIP) bool {
		return l.by("status", "active") && l.by("country_code", d.option.country)
	})
}

func (m *machine) listOptions() *listing {
	object := func(o *option) obj {
		return obj{"id": o.id, "name": learnAny(&o.name), "type": learnAny(&o.typ), "country_code": o.country, "available": m.available(o)}
	}
	return list(m, "/dedicated-ips/options", "dedicated_ip.view", url.Values{}, &m.options, object, func(*listing, reach, *option) bool { return true })
}
