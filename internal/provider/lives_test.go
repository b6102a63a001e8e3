package provider_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// everyLife returns the life of an object of each kind in an empty account.
var everyLife = map[string]func(t *testing.T, s *acctest.Server) life{
	"mailhost_domain": func(t *testing.T, s *acctest.Server) life {
		sales := s.Owner(t).Workspace("Sales")
		contact := values{
			"first_name": "Zoë", "last_name": "O'Neil", "organization": "Example GmbH", "email": "Zoe@Example.ORG", "phone": "+4930123456",
			"address_1": "Weg 1", "zip": "10115", "city": "Berlin", "state": "BE", "country": "de",
		}
		shop := values{"name": "Bücher-Laden.DE", "contact_info": contact}
		redirected := with(shop, "auto_renew", true, "redirect_url", "https://www.Example.com")
		const name = "xn--bcher-laden-thb.de"
		change := func(body api.UpdateDomainBody) func() error {
			return func() error { return s.Client.UpdateDomain(t.Context(), name, body) }
		}
		return life{
			steps: []step{
				{
					config: shop, does: creates,
					planned: values{"auto_renew": false, "redirect_url": nil, "id": isUnknown},
					want: values{
						"name": "Bücher-Laden.DE", "status": "active", "workspace_id": s.WorkspaceID, "auto_renew": false, "redirect_url": nil, "redirect_mode": nil,
						"outbound_routing_ready": true, "tags": []any{}, "dedicated_ip_id": nil, "inbound_tenant_id": nil, "contact_info": values{"country": "de"},
					},
				},
				{config: with(shop, "name", "XN--BCHER-LADEN-THB.de.", "workspace_id", strings.ToUpper(s.WorkspaceID), "auto_renew", false), does: noChange},
				{
					config: redirected, does: updates,
					planned: values{
						"id": isSet, "status": "active", "workspace_id": s.WorkspaceID, "created_at": isSet, "tags": []any{}, "redirect_mode": isUnknown, "updated_at": isUnknown,
					},
					want: values{"auto_renew": true, "redirect_url": "https://www.Example.com", "redirect_mode": "301"},
				},
				{config: with(redirected, "redirect_url", "HTTPS://www.example.com:443/"), does: noChange},
				{before: change(api.UpdateDomainBody{AutoRenew: new(true)}), config: redirected, does: noChange}, // only updated_at changes
				{
					before: change(api.UpdateDomainBody{AutoRenew: new(false), RedirectURL: api.NullableFrom(new("https://elsewhere.example.com/"))}),
					config: redirected, does: updates, want: values{"auto_renew": true, "redirect_url": "https://www.Example.com"},
				},
				{
					config: with(redirected, "redirect_url", ""), does: updates,
					planned: values{"redirect_url": "", "redirect_mode": nil}, want: values{"auto_renew": true, "redirect_url": "", "redirect_mode": nil},
				},
				{config: with(shop, "auto_renew", false), does: updates, want: values{"auto_renew": false, "redirect_url": "", "redirect_mode": nil}},
				{config: with(shop, "workspace_id", strings.ToUpper(sales)), does: updates, want: values{"workspace_id": strings.ToUpper(sales)}},
				{config: shop, does: noChange}, // without the attribute the domain stays in its workspace
				{before: change(api.UpdateDomainBody{WorkspaceID: &sales}), config: with(shop, "workspace_id", s.WorkspaceID), does: updates, want: values{"workspace_id": s.WorkspaceID}},
				{ // a change of contact_info is only stored
					config: with(shop, "contact_info", with(contact, "phone", "+49301111111")), does: updates,
					planned: values{"updated_at": isSet, "redirect_mode": nil}, want: values{"contact_info": values{"phone": "+49301111111"}},
				},
				{config: with(shop, "contact_info", nil), does: updates, planned: values{"updated_at": isSet}, want: values{"contact_info": nil}},
				{config: shop, does: updates},
			},
			ids: []string{"BÜCHER-laden.de."}, notImported: []string{"acquisition", "contact_info", "name", "purchase_price"},
			remove:   func(id string) error { return s.Client.Domains.Delete(t.Context(), id) },
			noImport: []refusedImport{{"example.org", []string{`Can't import "example.org"`, "not found"}}},
			refused: []refusedConfig{
				{values{"name": "example.org"}, []string{"contact_info is missing to buy the domain example.org"}},
				{with(shop, "name", "mail.example.org"), []string{`AttributeName("name")`, "Can't buy the domain mail.example.org", `lies below "example.org"`}},
				{with(shop, "name", "example.org", "workspace_id", noID), []string{`AttributeName("workspace_id")`, "no workspace"}},
			},
		}
	},
	"mailhost_mailbox": func(t *testing.T, s *acctest.Server) life {
		d := s.Domain(t, "bücher.com")
		jane := values{"domain": "Bücher.COM.", "local_part": "Jane", "first_name": "Jane", "last_name": "Doe"}
		return life{
			steps: []step{
				{
					config: jane, does: creates,
					want: values{
						"domain": "Bücher.COM.", "local_part": "Jane", "primary_email": "jane@" + d.Name, "domain_id": d.ID, "domain_name": d.Name,
						"workspace_id": s.WorkspaceID, "status": vocab.MailboxActive, "aliases": []any{},
					},
				},
				{config: with(jane, "domain", d.Name, "local_part", "jane"), does: noChange},
				{config: with(jane, "domain", d.ID, "local_part", "JANE"), does: noChange},
				{
					config: with(jane, "first_name", "Janet"), does: updates,
					planned: values{
						"id": isSet, "domain_id": d.ID, "domain_name": d.Name, "primary_email": "jane@" + d.Name, "status": vocab.MailboxActive, "created_at": isSet, "updated_at": isUnknown,
					},
					want: values{"first_name": "Janet"},
				},
				{
					config: with(jane, "first_name", "Janet", "last_name", "Roe"), does: updates, want: values{"last_name": "Roe"},
				},
				{
					before: func() error {
						_, err := s.Client.UpdateMailbox(t.Context(), "jane@bücher.com", api.UpdateMailboxBody{FirstName: new("J")})
						return err
					},
					config: with(jane, "first_name", "Janet"), does: updates, want: values{"first_name": "Janet"},
				},
				{config: with(jane, "local_part", "john"), does: replaces, want: values{"primary_email": "john@" + d.Name}},
			},
			ids: []string{"John@BÜCHER.com.", "john@" + d.Name}, notImported: []string{"domain"},
			remove: func(id string) error { return s.Client.Mailboxes.Delete(t.Context(), id) },
			refused: []refusedConfig{
				{with(jane, "local_part", "jane doe"), []string{"local_part must be"}},
				{with(jane, "domain", "exa mple"), []string{"domain must be"}},
				{with(jane, "first_name", ""), []string{"first_name must be 1 to 100 characters"}},
				{with(jane, "domain", "missing.example"), []string{`AttributeName("domain")`, "has no domain"}},
			},
			noImport: []refusedImport{{"nobody@bücher.com", []string{"not found"}}},
		}
	},
	"mailhost_dns_record": func(t *testing.T, s *acctest.Server) life {
		d := s.Domain(t, "example.com")
		mx := values{"domain": "example.com", "name": "sub", "type": "MX", "value": "mx1.example.net", "priority": 10, "ttl": 300}
		txt := values{"domain": "example.com", "name": "other", "type": "TXT", "value": "mx2/example.net"}
		www := values{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}
		dkim, err := s.Client.FindDNSRecords(t.Context(), "example.com", "TXT", "mailhost._domainkey", "")
		assert.NilError(t, err)
		taken, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "www", Type: "A", Value: "192.0.2.1"})
		assert.NilError(t, err)
		for _, priority := range []int64{10, 20} {
			_, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "twice", Type: "MX", Value: "mx.example.net", Prio: &priority})
			assert.NilError(t, err)
		}
		return life{
			steps: []step{
				{config: mx, does: creates, planned: values{"ttl": int64(300)}, want: values{"is_system_managed": false, "domain_id": d.ID, "domain_name": "example.com"}},
				{ // another spelling is no change
					config: with(mx, "name", "SUB.example.com", "value", "MX1.example.net.", "priority", 20, "ttl", nil), does: updates,
					planned: values{"ttl": int64(300), "id": isSet, "fqdn": "sub.example.com", "domain_id": d.ID, "value": "mx1.example.net"}, want: values{"priority": int64(20)},
				},
				{config: with(mx, "value", "mx2.example.net"), does: updates, want: values{"value": "mx2.example.net"}},
				{
					before: func() error {
						found, err := s.Client.FindDNSRecords(t.Context(), "example.com", "MX", "sub", "")
						if err == nil {
							_, err = s.Client.UpdateDNSRecord(t.Context(), strconv.FormatInt(found[0].ID, 10), api.UpdateDNSRecordBody{Value: new("elsewhere.example.net"), TTL: new(int64(60))})
						}
						return err
					},
					config: with(mx, "value", "mx2.example.net"), does: updates, want: values{"value": "mx2.example.net", "ttl": int64(300)},
				},
				{config: with(mx, "name", "other"), does: replaces},
				{config: txt, does: replaces, want: values{"priority": nil}},
			},
			ids:    []string{"EXAMPLE.com/txt/Other.example.com", d.ID + "/TXT/other/mx2/example.net"},
			remove: func(id string) error { return s.Client.DNSRecords.Delete(t.Context(), id) },
			refused: []refusedConfig{
				{with(txt, "type", "txt"), []string{"type must be one of A, AAAA", `write "TXT"`}},
				{with(www, "value", "2001:db8::1"), []string{"Value of A must be an IPv4 address"}},
				{with(mx, "priority", nil), []string{"A record of the type MX needs a priority"}},
				{with(txt, "priority", 10), []string{"Records of the type TXT have no priority; leave it out"}},
				{with(mx, "value", "10 mail.example.com"), []string{"the preference belongs in the priority"}},
				{with(txt, "ttl", 59), []string{"ttl must be between 60 and 86400, got 59"}},
				{with(mx, "priority", 70000), []string{"priority must be between 0 and 65535"}},
				{with(txt, "name", "www.example.net."), []string{`Name ends in a dot but is outside the zone "example.com"`}},
				{with(txt, "name", "www@"), []string{"name must be", "must not contain @"}},
				{with(txt, "domain", "example.net"), []string{`AttributeName("domain")`, `The account has no domain "example.net"`}},
				{with(txt, "domain", noID), []string{`AttributeName("domain")`, "The account has no domain " + fmt.Sprintf("%q", noID)}},
				{with(www, "name", "WWW"), []string{fmt.Sprintf("with the id %d", taken.ID), `id = "example.com/A/www/192.0.2.1"`}},
				{with(txt, "name", dkim[0].Name, "value", dkim[0].Value), []string{"is system-managed", "Remove the resource"}},
				{with(www, "type", "CNAME", "value", "example.net"), []string{"a CNAME excludes other records at its name", "Change the name"}},
			},
			noImport: []refusedImport{
				{"example.com/A/web", []string{"here is no A record at web of example.com"}},
				{"www.example.com", []string{"Expected <domain>/<type>/<name>"}},
				{"example.com/PTR/www", []string{`Unsupported record type "PTR"`}},
				{"example.com/MX/@", []string{"record is system-managed", "needs no resource"}},
				{fmt.Sprint(dkim[0].ID), []string{"is system-managed", "needs no resource"}},
				{"4711", []string{"such DNS record", "Import by <domain>"}},
				{"example.com/MX/twice/mx.example.net", []string{"more than one MX record at twice", `("mx.example.net", priority 10)`, `("mx.example.net", priority 20)`}},
			},
		}
	},
	"mailhost_forwarding": func(t *testing.T, s *acctest.Server) life {
		d := s.Domain(t, "bücher.com")
		s.Mailbox(t, d.ID, "office")
		jane := values{"domain": "Bücher.Com.", "target_email": "Jane@Example.ORG"}
		office := values{"target_email": "office@bücher.com"}
		retarget := func(target string) func() error {
			return func() error {
				for f, err := range s.Client.ListForwarding(t.Context(), api.ListForwardingRequest{}) {
					if err == nil {
						_, err = s.Client.UpdateForwarding(t.Context(), f.ID, api.UpdateForwardingBody{TargetEmail: target})
					}
					if err != nil {
						return err
					}
				}
				return nil
			}
		}
		return life{
			steps: []step{
				{
					config: jane, does: creates,
					want: values{
						"domain": "Bücher.Com.", "target_email": "Jane@Example.ORG", "scope_type": vocab.ScopeDomain, "scope_id": d.ID, "workspace_id": nil, "active": false,
						"verification_required": true, "verification_state": vocab.VerificationPending, "verification_sent_at": isSet, "verification_verified_at": nil,
					},
				},
				{config: values{"domain": d.Name, "target_email": "jane@example.org"}, does: noChange},
				{config: values{"domain": strings.ToUpper(d.ID), "target_email": "JANE@example.org"}, does: noChange},
				{before: retarget("joe@example.org"), config: jane, does: updates, want: values{"target_email": "Jane@Example.ORG"}},
				{ // a resent message causes no plan
					before: func() error { s.Advance(time.Hour); return retarget("jane@example.org")() }, config: jane, does: noChange,
				},
				{
					config: with(jane, "target_email", "office@bücher.com"), does: updates,
					planned: values{"scope_id": d.ID, "id": isSet, "created_at": isSet, "verification_state": isUnknown},
					want:    values{"active": true, "verification_state": vocab.VerificationInternal, "verification_sent_at": nil},
				},
				{config: office, does: replaces, want: values{"scope_type": vocab.ScopeAccount, "scope_id": s.AccountID}},
				{config: with(office, "workspace_id", strings.ToUpper(s.WorkspaceID)), does: replaces, want: values{"scope_id": s.WorkspaceID}},
				{config: with(office, "workspace_id", s.WorkspaceID), does: noChange},
				{config: jane, does: replaces, want: values{"scope_id": d.ID}},
			},
			ids: []string{"BÜCHER.com/JANE@example.org", d.ID + "/jane@example.org"}, notImported: []string{"active", "domain", "target_email"},
			remove: func(id string) error { return s.Client.Forwarding.Delete(t.Context(), id) },
			refused: []refusedConfig{
				{values{"target_email": "jane.example.org"}, []string{"target_email must be an e-mail address"}},
				{with(jane, "domain", "example"), []string{"domain must be a domain's UUID or a domain name"}},
				{with(office, "workspace_id", "default"), []string{"workspace_id must be a UUID"}},
				{with(jane, "workspace_id", s.WorkspaceID), []string{"Both domain and workspace_id"}},
				{with(jane, "domain", "example.net"), []string{`AttributeName("domain")`, `The account has no domain "example.net"`, "refer to it"}},
				{with(office, "workspace_id", noID), []string{`AttributeName("workspace_id")`, "The account has no workspace"}},
			},
			noImport: []refusedImport{{"bücher.com/joe@example.org", []string{"orwarding rule to joe@example.org of domain", "not found"}}},
		}
	},
	"mailhost_master_password": func(t *testing.T, s *acctest.Server) life {
		d, org := s.Domain(t, "bücher.com"), s.Domain(t, "example.org")
		ops := values{"name": "ops/team", "domain": "Bücher.COM.", "value": "hunter22"}
		generated := values{"name": "generated", "generate": true}
		_, err := s.Client.CreateMasterPassword(t.Context(), api.CreateMasterPasswordBody{Name: "taken", Generate: true})
		assert.NilError(t, err)
		return life{
			steps: []step{
				{
					config: ops, does: creates, planned: values{"generated_secret": nil},
					want: values{"domain": "Bücher.COM.", "scope_type": vocab.ScopeDomain, "scope_id": d.ID, "workspace_id": nil},
				},
				{config: with(ops, "domain", d.Name), does: noChange},
				{config: with(ops, "domain", d.ID), does: noChange},
				{
					config: with(ops, "name", "ops"), does: updates,
					planned: values{"id": isSet, "scope_id": d.ID, "created_at": isSet, "updated_at": isUnknown}, want: values{"name": "ops"},
				},
				{
					before: func() error {
						p, err := s.Client.FindMasterPassword(t.Context(), "ops", client.Scope{Domain: d.ID})
						if err == nil {
							_, err = s.Client.RenameMasterPassword(t.Context(), p.ID, api.RenameMasterPasswordBody{Name: "somebody's"})
						}
						return err
					},
					config: with(ops, "name", "ops"), does: updates, want: values{"name": "ops", "value": "hunter22"},
				},
				{config: generated, does: replaces, planned: values{"generated_secret": isUnknown}, want: values{"scope_type": vocab.ScopeAccount, "scope_id": s.AccountID, "generated_secret": isSet}},
				{config: with(generated, "domain", d.ID), does: replaces, want: values{"scope_id": d.ID}},
				// With an id in the state and a name in the configuration, the domain has to be read.
				{config: with(generated, "domain", "BÜCHER.com"), does: noChange},
				{config: with(generated, "domain", "example.org"), does: replaces, want: values{"scope_id": org.ID}},
				{config: with(generated, "workspace_id", s.WorkspaceID), does: replaces, want: values{"scope_type": vocab.ScopeWorkspace, "domain": nil}},
				{config: with(generated, "workspace_id", strings.ToUpper(s.WorkspaceID)), does: noChange},
				{config: with(ops, "domain", nil), does: replaces, want: values{"generated_secret": nil}},
			},
			ids: []string{"ops/team"}, notImported: []string{"value"},
			remove: func(id string) error { return s.Client.MasterPasswords.Delete(t.Context(), id) },
			refused: []refusedConfig{
				{values{"name": "ops", "generate": false}, []string{"without a secret", "generate = true"}},
				{values{"name": "ops"}, []string{"without a secret", "value_wo with value_wo_version"}},
				{with(ops, "generate", true), []string{`AttributeName("generate")`, "Both value and generate"}},
				{values{"name": "ops", "value_wo": "hunter22"}, []string{"value_wo without value_wo_version"}},
				{with(generated, "value_wo_version", 1), []string{"value_wo_version without value_wo"}},
				{with(ops, "value", "abc"), []string{"value must be 4 to 256 characters"}},
				{with(ops, "workspace_id", s.WorkspaceID), []string{"Both domain and workspace_id", "Remove domain or"}},
				{with(generated, "workspace_id", "main"), []string{"workspace_id must be a UUID"}},
				{with(generated, "domain", "missing.com"), []string{`AttributeName("domain")`, "no domain"}},
				{with(generated, "name", "taken"), []string{`Can't create the master password "taken"`, "import it"}},
			},
			noImport: []refusedImport{{"example.net/ops", []string{`Can't import "example.net/ops"`}}},
		}
	},
	"mailhost_service_account": func(t *testing.T, s *acctest.Server) life {
		expires := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
		until := values{"name": "CI", "expires_at": expires.Format(time.RFC3339)}
		return life{
			steps: []step{
				{config: values{"name": "CI"}, does: creates, planned: values{"token": isUnknown}, want: values{"account_id": s.AccountID, "expires_at": nil, "revoked_at": nil, "token": isSet}},
				{config: until, does: replaces},
				{config: with(until, "expires_at", expires.In(time.FixedZone("", 2*3600)).Format("2006-01-02T15:04:05.000Z07:00")), does: noChange},
				{config: values{"name": "CI", "rotation_triggers": values{"quarter": "1"}}, does: replaces},
				{config: values{"name": "CI", "rotation_triggers": values{"quarter": "2"}}, does: replaces},
				{config: values{"name": "CI", "valid_for": "720h"}, does: replaces, planned: values{"expires_at": isUnknown}, want: values{"expires_at": isSet}},
				{config: values{"name": "CI", "valid_for": "43200m"}, does: noChange},
				{config: values{"name": "CI", "valid_for": "720h", "rotate_before": "168h"}, does: updates, planned: values{"expires_at": isSet, "updated_at": isSet, "token": isSet}},
				{config: values{"name": "CD"}, does: replaces},
			},
			ids: []string{"CD"}, notImported: []string{"token", "last_used_at"},
			remove: func(id string) error { return s.Client.ServiceAccounts.Delete(t.Context(), id) },
			refused: []refusedConfig{
				{values{"name": ""}, []string{"name must be 1 to 120 characters"}},
				{values{"name": "CI", "expires_at": "tomorrow"}, []string{"expires_at must be a date and time"}},
				{values{"name": "CI", "expires_at": "2099-01-01T00:00:00"}, []string{"with a time zone"}},
				{values{"name": "CI", "expires_at": "2024-01-01T00:00:00Z"}, []string{`AttributeName("expires_at")`, "Set a time in the"}},
			},
			noImport: []refusedImport{{"nobody", []string{"Can't import", "nobody", "not found"}}},
		}
	},
	"mailhost_dedicated_ip": func(t *testing.T, s *acctest.Server) life {
		eu, us := api.DerivedID(s.AccountID, "dedicated-ip-option:eu"), api.DerivedID(s.AccountID, "dedicated-ip-option:us")
		return life{
			steps: []step{
				{
					config: values{"option_id": eu}, does: creates,
					want: values{
						"option_id": eu, "acquisition": "purchase", "status": "active", "type": "dedicated", "country_code": "DE", "asn": int64(64496), "name": isSet, "created_at": isSet,
						"ip_addresses": []any{values{"ip": isSet, "fcrdns_confirmed": false, "healthy": true, "rdns": nil}},
					},
				},
				{config: values{"option_id": strings.ToUpper(eu)}, does: noChange},
				// The API can't change an address; timeouts are only in the state.
				{config: values{"option_id": eu, "timeouts": values{"create": "1h"}}, does: updates, planned: values{"id": isSet, "updated_at": isSet, "ip_addresses": []any{values{}}}},
				// An omitted option keeps the value of the state, also in an update.
				{config: values{"timeouts": values{"create": "1h"}}, does: noChange, want: values{"option_id": eu}},
				{config: values{}, does: updates, planned: values{"id": isSet, "option_id": eu}, want: values{"option_id": eu}},
				// The published operations leave the first address, which then stops the claim after a loss.
				{config: values{"option_id": us, "on_existing": "create"}, does: replaces, want: values{"country_code": "US"}},
			},
			notImported: []string{"option_id", "on_existing", "acquisition"},
			remove:      func(id string) error { return s.Client.DedicatedIPs.Delete(t.Context(), id) },
			refused: []refusedConfig{
				{values{}, []string{"option_id is missing to claim a dedicated IP"}},
				{values{"option_id": "eu"}, []string{`AttributeName("option_id")`, "must be a UUID"}},
			},
			noImport: []refusedImport{{"203.0.113.99", []string{`Can't import "203.0.113.99"`, "not found"}}},
		}
	},
}
