package simulate

import (
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// stage is a point in the life of a configuration.
type stage int

const (
	created stage = iota
	changed
	destroyed
)

func (s stage) String() string { return []string{"create", "change", "destroy"}[s] }

// sizes are how many objects of the account a configuration has of each kind.
type sizes struct {
	domains, mailboxes, inSet, records, inZone, rules, passwords, accounts, addresses int
}

// sizesOf divides a number of objects among the kinds.
func sizesOf(objects int) sizes {
	s := sizes{domains: 6, passwords: 8, accounts: 6, addresses: 2}
	s.inSet, s.inZone = objects*80/300/2, objects*24/300/2
	s.records, s.rules = objects*60/300, objects*24/300
	s.mailboxes = objects - s.domains - s.passwords - s.accounts - s.addresses - 2*(s.inSet+s.inZone) - s.records - s.rules
	return s
}

// largeConfiguration is the configuration of a stage.
type largeConfiguration struct {
	configuration
	stage stage
	mode  mode
	// want has an entry for each object that the account is to have, in the form of
	// inventory.
	want map[string]int
}

// configure returns the configuration of a stage.
func configure(s sizes, at stage, m mode) *largeConfiguration {
	c := &largeConfiguration{stage: at, mode: m, want: map[string]int{}}
	if at == destroyed {
		if m.publishedOnly { // a destroy drops the objects from the state
			c.want = configure(s, changed, m).want
		}
		return c
	}
	c.domains(s)
	c.mailboxes(s)
	c.sets(s)
	if !m.publishedOnly {
		c.records(s)
		c.zones(s)
	}
	c.rules(s)
	c.credentials(s)
	for i := range s.addresses {
		option := api.DerivedID(apitest.AccountID, "dedicated-ip-option:"+[]string{"eu", "us"}[i%2])
		c.add("mailhost_dedicated_ip", fmt.Sprint("ip", i), map[string]any{"option_id": option})
		c.want["dedicated ip"]++
	}
	return c
}

func (c *largeConfiguration) add(typeName, name string, arguments map[string]any, needs ...string) {
	c.blocks = append(c.blocks, &block{addr: typeName + "." + name, arguments: arguments, dependsOn: needs})
}

func (c *largeConfiguration) changed() bool { return c.stage == changed }

// kept returns the numbers below n without every tenth once the configuration is
// changed, and with some more.
func (c *largeConfiguration) kept(n int) (numbers []int) {
	for i := range n {
		if !c.changed() || i%10 != 7 || c.mode.publishedOnly {
			numbers = append(numbers, i)
		}
	}
	if c.changed() {
		for i := range (n + 9) / 10 {
			numbers = append(numbers, n+i)
		}
	}
	return numbers
}

func domainName(i int) string { return fmt.Sprintf("chaos%d.com", i) }
func domainAddr(i int) string { return fmt.Sprint("mailhost_domain.d", i) }

// domains are numbered: the last two have zones, the two before them sets, and all others
// single objects.
func (c *largeConfiguration) domains(s sizes) {
	n := s.domains
	if c.changed() {
		n++
	}
	for i := range n {
		arguments := map[string]any{"name": domainName(i), "contact_info": contact, "auto_renew": i%2 == 0, "on_existing": "adopt"}
		url := ""
		if c.changed() && i%3 == 0 {
			url = "https://www.example.net/"
			arguments["redirect_url"] = url
		}
		c.add("mailhost_domain", fmt.Sprint("d", i), arguments)
		c.want[fmt.Sprintf("domain %s auto_renew=%v redirect=%s", domainName(i), i%2 == 0, url)]++
	}
}

func (c *largeConfiguration) mailboxes(s sizes) {
	for _, i := range c.kept(s.mailboxes) {
		domain, local, last := i%2, fmt.Sprint("person", i), fmt.Sprint("Number ", i)
		if c.changed() && i%10 == 1 {
			last += " Married"
		}
		if c.changed() && i%10 == 2 && !c.mode.publishedOnly {
			local += ".moved"
		}
		c.add("mailhost_mailbox", fmt.Sprint("m", i), map[string]any{
			"domain": domainName(domain), "local_part": local, "first_name": "Person", "last_name": last,
		}, domainAddr(domain))
		c.want[fmt.Sprintf("mailbox %s@%s Person %s", local, domainName(domain), last)]++
	}
}

func (c *largeConfiguration) sets(s sizes) {
	for set := range 2 {
		domain := s.domains - 4 + set
		mailboxes := map[string]any{}
		for _, i := range c.kept(s.inSet) {
			last := fmt.Sprint("Number ", i)
			if c.changed() && i%10 == 1 {
				last += " Married"
			}
			mailboxes[fmt.Sprint("member", i)] = map[string]any{"first_name": "Member", "last_name": last}
			c.want[fmt.Sprintf("mailbox member%d@%s Member %s", i, domainName(domain), last)]++
		}
		c.add("mailhost_mailbox_set", fmt.Sprint("s", set), map[string]any{
			"domain": domainName(domain), "mailboxes": mailboxes, "max_deletions": 1000,
		}, domainAddr(domain))
	}
}

func (c *largeConfiguration) records(s sizes) {
	for _, i := range c.kept(s.records) {
		domain, name := i%2, fmt.Sprint("host", i)
		arguments := map[string]any{"domain": domainName(domain), "name": name, "ttl": 3600}
		if c.changed() && i%10 == 1 {
			arguments["ttl"] = 600
		}
		priority := ""
		switch i % 3 {
		case 0:
			arguments["type"], arguments["value"] = "A", fmt.Sprintf("192.0.2.%d", i%250)
			if c.changed() && i%10 == 3 {
				arguments["value"] = fmt.Sprintf("198.51.100.%d", i%250)
			}
		case 1:
			arguments["type"], arguments["value"] = "TXT", fmt.Sprintf("verification=%d", i)
		default:
			arguments["type"], arguments["value"], arguments["priority"] = "MX", fmt.Sprintf("mx%d.example.net", i), 10
			priority = "10 "
		}
		c.add("mailhost_dns_record", fmt.Sprint("r", i), arguments, domainAddr(domain))
		c.wantRecord(domain, name, arguments["type"], priority+arguments["value"].(string), arguments["ttl"])
	}
}

func (c *largeConfiguration) wantRecord(domain int, name, typ, value, ttl any) {
	c.want[fmt.Sprintf("record %s %s %s %s %d", domainName(domain), name, typ, value, ttl)]++
}

func (c *largeConfiguration) zones(s sizes) {
	for zone := range 2 {
		domain := s.domains - 2 + zone
		records := map[string]any{}
		for _, i := range c.kept(s.inZone) {
			name, ttl, values := fmt.Sprint("node", i), 3600, []string{fmt.Sprintf("192.0.2.%d", i)}
			if i%3 == 0 {
				values = append(values, fmt.Sprintf("198.51.100.%d", i))
			}
			if c.changed() && i%5 == 1 {
				ttl, values = 600, []string{fmt.Sprintf("203.0.113.%d", i)}
			}
			records[name+" A"] = map[string]any{"ttl": ttl, "values": values}
			for _, v := range values {
				c.wantRecord(domain, name, "A", v, ttl)
			}
		}
		c.add("mailhost_dns_zone", fmt.Sprint("z", zone), map[string]any{"domain": domainName(domain), "records": records}, domainAddr(domain))
	}
}

// rules forward to mailboxes of the account, and to others, which get a message.
func (c *largeConfiguration) rules(s sizes) {
	for _, i := range c.kept(s.rules) {
		domain, target, needs := 1, fmt.Sprintf("archive%d@compliance.example", i), []string{domainAddr(1)}
		if mailbox := i * 10; i%2 == 0 && mailbox < s.mailboxes { // which is never changed
			target = fmt.Sprintf("person%d@%s", mailbox, domainName(mailbox%2))
			needs = append(needs, fmt.Sprint("mailhost_mailbox.m", mailbox))
		} else if c.changed() && i%4 == 1 {
			target = fmt.Sprintf("vault%d@compliance.example", i)
		}
		c.add("mailhost_forwarding", fmt.Sprint("f", i), map[string]any{"domain": domainName(domain), "target_email": target}, needs...)
		c.want[fmt.Sprintf("rule %s to %s", domainName(domain), target)]++
	}
}

// credentials are master passwords and service accounts.
func (c *largeConfiguration) credentials(s sizes) {
	for _, i := range c.kept(s.passwords) {
		domain, name := i%2, fmt.Sprint("password ", i)
		arguments := map[string]any{"domain": domainName(domain)}
		if c.changed() && i%4 == 1 {
			name += " renamed"
		}
		arguments["name"] = name
		switch {
		case i%2 == 0 && !c.mode.publishedOnly:
			arguments["generate"] = true
		case c.changed() && i%4 == 3 && !c.mode.publishedOnly:
			arguments["value"] = fmt.Sprint("another secret ", i)
		default:
			arguments["value"] = fmt.Sprint("secret ", i)
		}
		c.add("mailhost_master_password", fmt.Sprint("p", i), arguments, domainAddr(domain))
		c.want[fmt.Sprintf("master password %s of %s", name, domainName(domain))]++
	}
	if c.mode.publishedOnly {
		return
	}
	for _, i := range c.kept(s.accounts) {
		name := fmt.Sprint("service ", i)
		c.add("mailhost_service_account", fmt.Sprint("a", i), map[string]any{"name": name})
		c.want["service account "+name]++
	}
}
