package provider_test

import (
	"maps"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// kind has configurations of a kind of object.
type kind struct {
	config values
	// again is the same object at a second address.
	again values
	// replacing changes the configuration into a replacement; nil if no change does.
	replacing values
	// remains is said of an object that the API can't delete.
	remains []string
}

// kinds has every resource except the set of mailboxes. The domains example.com and example.org
// exist.
func kinds(accountID string) map[string]kind {
	contact := values{
		"first_name": "Zoë", "last_name": "Doe", "organization": "Example", "email": "zoe@example.org", "phone": "+4930123456",
		"address_1": "Weg 1", "zip": "10115", "city": "Berlin", "state": "BE", "country": "DE",
	}
	option := func(name string) string { return api.DerivedID(accountID, "dedicated-ip-option:"+name) }
	web := values{"web A": values{"values": []string{"192.0.2.1"}}}
	all := map[string]kind{
		"mailhost_domain": {
			config: values{"name": "acme.com", "contact_info": contact}, again: values{"name": "ACME.com."},
			replacing: values{"name": "example.org", "on_existing": "adopt"}, remains: []string{"answering DNS queries until its registration ends"},
		},
		"mailhost_mailbox": {
			config: values{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}, again: values{"first_name": "Joan"},
			replacing: values{"local_part": "john"}, remains: []string{"The mailbox jane@example.com", "still paid for"},
		},
		"mailhost_dns_record": {
			config: values{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}, again: values{"ttl": 600},
			replacing: values{"name": "web"}, remains: []string{"The A record www of example.com", "192.0.2.1", "can't be imported"},
		},
		"mailhost_dns_zone": {
			config: values{"domain": "example.com", "records": web, "ignore": []string{"www"}}, again: values{"domain": "EXAMPLE.com."}, replacing: values{"domain": "example.org"},
		},
		"mailhost_forwarding": {config: values{"target_email": "jane@example.org"}, again: values{"target_email": "joan@example.org"}, replacing: values{"domain": "example.com"}},
		"mailhost_master_password": {
			config: values{"name": "Backup", "generate": true}, again: values{"name": "Migration"}, replacing: values{"domain": "example.com"},
			remains: []string{"The master password \"Backup\"", "STILL WORKS", "another name"},
		},
		"mailhost_service_account": {config: values{"name": "ci"}, again: values{"name": "cd"}, replacing: values{"name": "cd"}},
		"mailhost_dedicated_ip": {
			config: values{"option_id": option("eu")}, again: values{"timeouts": values{"create": "5m"}}, replacing: values{"option_id": option("us")}, remains: []string{"still paid for"},
		},
	}
	for name, k := range all {
		k.again = merged(k.config, k.again)
		if k.replacing != nil {
			k.replacing = merged(k.config, k.replacing)
		}
		all[name] = k
	}
	return all
}

// TestEveryKindIsTested checks that the tables of this package have every resource. Zones and sets
// have lives and lookups in packages of their own.
func TestEveryKindIsTested(t *testing.T) {
	t.Parallel()
	have := kinds(noID)
	for name := range schemas(t).ResourceSchemas {
		isSet, isZone := name == "mailhost_mailbox_set", name == "mailhost_dns_zone"
		_, ok := have[name]
		assert.Check(t, ok || isSet, "add %s to kinds, with its configurations", name)
		if everyLife[name] == nil && !isSet && !isZone {
			t.Errorf("add %s to everyLife, with updates, replacements and imports", name)
		}
		if everyLookup[name] == nil && !isSet && !isZone {
			t.Errorf("add %s to everyLookup, with its data sources", name)
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("the provider has no resource %s", name)
	}
}

// merged returns a configuration with other attributes.
func merged(config, changes values) values {
	config = maps.Clone(config)
	maps.Copy(config, changes)
	return config
}

// everyKind is like kinds, with the domains.
func everyKind(t *testing.T, s *acctest.Server) map[string]kind {
	t.Helper()
	s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	return kinds(s.AccountID)
}

// everyCreate returns a configuration of each resource.
func everyCreate(t *testing.T, s *acctest.Server) map[string]values {
	t.Helper()
	all := map[string]values{
		"mailhost_mailbox_set": {"domain": "example.com", "mailboxes": values{"jack": values{"first_name": "Jack", "last_name": "Doe"}}},
	}
	for name, k := range everyKind(t, s) {
		all[name] = k.config
	}
	return all
}
