package provider_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// isUnknown matches an unknown value of a plan.
const isUnknown = "(unknown)"

// What a plan does.
const (
	creates  = "creates"
	updates  = "updates"
	replaces = "replaces"
	noChange = "changes nothing"
)

// life is the life of one object of a kind.
type life struct {
	steps []step
	// ids import the object of the last step.
	ids []string
	// notImported are attributes of the last step that an import does not have, or spells
	// otherwise.
	notImported []string
	// remove deletes the object outside Terraform.
	remove func(id string) error
	// refused has configurations, and the error of their validation or apply.
	refused []refusedConfig
	// noImport has import ids, and the error.
	noImport []refusedImport
}

// step is a configuration that follows on another one.
type step struct {
	// before changes something outside Terraform.
	before        func() error
	config        values
	does          string
	planned, want values
}

type refusedConfig struct {
	config values
	want   []string
}

type refusedImport struct {
	id   string
	want []string
}

// everyLife returns the life of an object of each kind in an empty account.
var everyLife = map[string]func(t *testing.T, s *acctest.Server) life{
	"mailhost_domain": func(t *testing.T, s *acctest.Server) life {
		sales := s.Workspace(t, "Sales")
		contact := values{
			"first_name": "Zoë", "last_name": "O'Neil", "organization": "Example GmbH", "email": "Zoe@Example.ORG", "phone": "+4930123456",
			"address_1": "Weg 1", "zip": "10115", "city": "Berlin", "state": "BE", "country": "de",
		}
		shop := values{"name": "Bücher-Laden.DE", "contact_info": contact}
		redirected := with(shop, "auto_renew", true, "redirect_url", "https://www.Example.com")
		const name = "xn--bcher-laden-thb.de"
		change := func(body api.UpdateDomainBody) func() error {
			return func() error { _, err := s.Client.UpdateDomain(t.Context(), name, body); return err }
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
					config: with(shop, "auto_renew", true), does: updates,
					planned: values{"redirect_url": nil, "redirect_mode": nil}, want: values{"auto_renew": true, "redirect_url": nil, "redirect_mode": nil},
				},
				{config: with(shop, "workspace_id", strings.ToUpper(sales.ID)), does: updates, want: values{"workspace_id": strings.ToUpper(sales.ID)}},
				{config: shop, does: noChange}, // without the attribute the domain stays in its workspace
				{before: change(api.UpdateDomainBody{WorkspaceID: &sales.ID}), config: with(shop, "workspace_id", s.WorkspaceID), does: updates, want: values{"workspace_id": s.WorkspaceID}},
				{ // a change of contact_info is only stored
					config: with(shop, "contact_info", with(contact, "phone", "+49301111111")), does: updates,
					planned: values{"updated_at": isSet, "redirect_mode": nil}, want: values{"contact_info": values{"phone": "+49301111111"}},
				},
				{config: with(shop, "contact_info", nil), does: updates, planned: values{"updated_at": isSet}, want: values{"contact_info": nil}},
				{config: shop, does: updates},
			},
			ids: []string{"BÜCHER-laden.de."}, notImported: []string{"acquisition", "contact_info", "name", "purchase_price"},
			remove:   func(id string) error { return s.Client.DeleteDomain(t.Context(), id) },
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
					before: func() error {
						_, err := s.Client.UpdateMailbox(t.Context(), "jane@bücher.com", api.UpdateMailboxBody{FirstName: new("J")})
						return err
					},
					config: with(jane, "first_name", "Janet"), does: updates, want: values{"first_name": "Janet"},
				},
				{config: with(jane, "local_part", "john"), does: replaces, want: values{"primary_email": "john@" + d.Name}},
			},
			ids: []string{"John@BÜCHER.com.", "john@" + d.Name}, notImported: []string{"domain"},
			remove: func(id string) error { return s.Client.DeleteMailbox(t.Context(), id) },
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
		must(t, err)
		taken, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "www", Type: "A", Value: "192.0.2.1"})
		must(t, err)
		for _, priority := range []int64{10, 20} {
			_, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "twice", Type: "MX", Value: "mx.example.net", Prio: &priority})
			must(t, err)
		}
		return life{
			steps: []step{
				{config: mx, does: creates, planned: values{"ttl": int64(300)}, want: values{"is_system_managed": false, "domain_id": d.ID, "domain_name": "example.com"}},
				{ // another spelling is no change
					config: with(mx, "name", "SUB.example.com", "value", "MX1.example.net.", "priority", 20, "ttl", nil), does: updates,
					planned: values{"ttl": api.DefaultDNSTTL, "id": isSet, "fqdn": "sub.example.com", "domain_id": d.ID, "value": "mx1.example.net"}, want: values{"priority": int64(20)},
				},
				{config: with(mx, "value", "mx2.example.net"), does: updates, want: values{"value": "mx2.example.net"}},
				{
					before: func() error {
						found, err := s.Client.FindDNSRecords(t.Context(), "example.com", "MX", "sub", "")
						if err == nil {
							_, err = s.Client.UpdateDNSRecord(t.Context(), found[0].ID, api.UpdateDNSRecordBody{Value: new("elsewhere.example.net"), TTL: new(int64(60))})
						}
						return err
					},
					config: with(mx, "value", "mx2.example.net"), does: updates, want: values{"value": "mx2.example.net", "ttl": int64(300)},
				},
				{config: with(mx, "name", "other"), does: replaces},
				{config: txt, does: replaces, want: values{"priority": nil}},
			},
			ids: []string{"EXAMPLE.com/txt/Other.example.com", d.ID + "/TXT/other/mx2/example.net"},
			remove: func(id string) error {
				var n int64
				if _, err := fmt.Sscan(id, &n); err != nil {
					return err
				}
				return s.Client.DeleteDNSRecord(t.Context(), n)
			},
			refused: []refusedConfig{
				{with(txt, "type", "txt"), []string{"type must be one of A, AAAA", `write "TXT"`}},
				{with(www, "value", "2001:db8::1"), []string{"Value of A must be an IPv4 address; an IPv6 address"}},
				{with(mx, "priority", nil), []string{"A record of the type MX needs a priority"}},
				{with(txt, "priority", 10), []string{"Records of the type TXT have no priority; leave it out"}},
				{with(mx, "value", "10 mail.example.com"), []string{"the preference belongs in the priority"}},
				{with(txt, "ttl", 59), []string{"ttl must be between 60 and 86400, got 59"}},
				{with(mx, "priority", 70000), []string{"priority must be between 0 and 65535"}},
				{with(txt, "name", "www.example.net."), []string{`Name ends in a dot but is outside the zone "example.com"`}},
				{with(txt, "name", "www@"), []string{"name must be", "must not contain @"}},
				{with(txt, "domain", "example.net"), []string{`AttributeName("domain")`, `The account has no domain "example.net"`}},
				{with(txt, "domain", noID), []string{`AttributeName("domain")`, "The account has no domain " + fmt.Sprintf("%q", noID)}},
				{with(www, "name", "WWW"), []string{fmt.Sprintf("with the id %d", taken.ID), `id = "example.com/A/WWW/192.0.2.1"`}},
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
			ids: []string{"BÜCHER.com/JANE@example.org", d.ID + "/jane@example.org"}, notImported: []string{"domain", "target_email"},
			remove: func(id string) error { return s.Client.DeleteForwarding(t.Context(), id) },
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
		must(t, err)
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
							_, err = s.Client.RenameMasterPassword(t.Context(), p.ID, "somebody's")
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
			remove: func(id string) error { return s.Client.DeleteMasterPassword(t.Context(), id) },
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
			remove: func(id string) error { return s.Client.RevokeServiceAccount(t.Context(), id) },
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
						"option_id": eu, "status": "active", "type": "dedicated", "country_code": "DE", "asn": int64(64496), "name": isSet, "created_at": isSet,
						"ip_addresses": []any{values{"ip": isSet, "fcrdns_confirmed": false, "healthy": true, "rdns": nil}},
					},
				},
				{config: values{"option_id": strings.ToUpper(eu)}, does: noChange},
				// The API can't change an address; timeouts are only in the state.
				{config: values{"option_id": eu, "timeouts": values{"create": "1h"}}, does: updates, planned: values{"id": isSet, "updated_at": isSet, "ip_addresses": []any{values{}}}},
				// An omitted option keeps the value of the state, also in an update.
				{config: values{"timeouts": values{"create": "1h"}}, does: noChange, want: values{"option_id": eu}},
				{config: values{}, does: updates, planned: values{"id": isSet, "option_id": eu}, want: values{"option_id": eu}},
				{config: values{"option_id": us}, does: replaces, want: values{"country_code": "US"}},
			},
			notImported: []string{"option_id"},
			remove:      func(id string) error { return s.Client.ReleaseDedicatedIP(t.Context(), id) },
			refused: []refusedConfig{
				{values{}, []string{"option_id is missing to claim a dedicated IP"}},
				{values{"option_id": "eu"}, []string{`AttributeName("option_id")`, "must be a UUID"}},
			},
			noImport: []refusedImport{{"203.0.113.99", []string{`Can't import "203.0.113.99"`, "not found"}}},
		}
	},
}

// TestLives takes an object of each kind through its life: each step is planned, applied, and
// followed by an empty plan. Then the object is imported, deleted outside Terraform, and
// destroyed.
func TestLives(t *testing.T) {
	t.Parallel()
	for typeName, setUp := range everyLife {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
				canRead := !s.PublishedOnly || typeName != "mailhost_dns_record" && typeName != "mailhost_service_account"
				if !canRead && typeName == "mailhost_dns_record" {
					t.Skip("the published operations can't read a record: package dnsrecord tests what then happens")
				}
				subject := &subject{T: t, s: s, p: s.Protocol(t, ""), typeName: typeName, life: setUp(t, s)}
				subject.refusals(canRead)
				for i, step := range subject.steps {
					subject.take(i, step)
				}
				if canRead {
					subject.imports()
					subject.disappears()
				}
				subject.ends()
			})
		})
	}
}

// subject is an object whose life is tested.
type subject struct {
	*testing.T
	life
	s        *acctest.Server
	p        *acctest.Protocol
	typeName string
	o        *acctest.Object
	// latest is the configuration of the last step.
	latest values
}

// plan refreshes the object and plans a configuration, as one plan of Terraform does.
func (x *subject) plan(config values) (does string, plan *acctest.Object) {
	x.Helper()
	x.p.Walk()
	prior := x.o
	if prior != nil {
		o, diags := x.p.Read(x.typeName, prior)
		x.p.NoErrors(diags)
		if prior = o; o.Gone() {
			prior = nil
		}
	}
	x.p.NoErrors(x.p.Validate(x.typeName, config))
	plan, diags := x.p.Plan(x.typeName, config, prior)
	x.p.NoErrors(diags)
	x.named(diags, plan, prior)
	x.o = prior
	switch {
	case prior == nil:
		return creates, plan
	case len(plan.Replace) > 0:
		return replaces, plan
	case plan.State.Equal(prior.State):
		return noChange, plan
	}
	return updates, plan
}

// take takes a step, and checks that the next plan is empty.
func (x *subject) take(i int, step step) {
	x.Helper()
	if step.before != nil {
		must(x.T, step.before())
	}
	does, plan := x.plan(step.config)
	if does != step.does {
		x.Fatalf("step %d %s, want %s: %s, replacing %v", i, does, step.does, plan.State, plan.Replace)
	}
	if d := difference(step.planned, plain(x.T, plan.State)); d != "" && step.planned != nil && does != replaces {
		x.Errorf("step %d: the plan (-want +got):\n%s", i, d)
	}
	id := ""
	if x.o != nil {
		id = x.o.Text("id")
	}
	switch does {
	case replaces:
		x.o, _ = x.p.ApplyReplacement(x.Context(), x.typeName, step.config, x.o)
	case creates, updates:
		o, diags := x.p.Walk().ApplyPlan(x.Context(), x.typeName, step.config, x.o, plan)
		x.p.NoErrors(diags)
		x.o = o
	}
	if kept := x.o.Text("id") == id; kept != (does == updates || does == noChange) {
		x.Errorf("step %d %s: the id was %q and is %q", i, does, id, x.o.Text("id"))
	}
	x.identified(x.o, fmt.Sprint("step ", i))
	if d := difference(step.want, plain(x.T, x.o.State)); d != "" && step.want != nil {
		x.Errorf("step %d: the state (-want +got):\n%s", i, d)
	}
	if does, plan := x.plan(step.config); does != noChange {
		x.Errorf("step %d: the second plan %s: %s", i, does, plan.State)
	}
	if step.does != noChange {
		x.latest = step.config
	}
}

// named checks that the summary of each warning names the object: a CLI shows one of several
// warnings with the same summary.
func (x *subject) named(diags []*tfprotov6.Diagnostic, objects ...*acctest.Object) {
	x.Helper()
	for _, d := range diags {
		isNamed := strings.Contains(d.Summary, " dedicated IP ") // a new one has no name
		for _, o := range objects {
			for _, name := range []string{"id", "name", "local_part", "target_email", "domain_name"} {
				if o != nil && !o.Gone() {
					text, _ := plain(x.T, o.State).(values)[name].(string)
					isNamed = isNamed || len(text) > 1 && strings.Contains(d.Summary, text)
				}
			}
		}
		if !isNamed {
			x.Errorf("a summary does not name the object: %q", d.Summary)
		}
	}
}

// identified checks the identity of an object.
func (x *subject) identified(o *acctest.Object, when string) {
	x.Helper()
	if id := x.p.IdentityOf(x.typeName, o); id["id"] == "" || id["id"] != x.o.Text("id") || id["account_id"] != x.s.AccountID {
		x.Errorf("%s: the identity is %v, the id %s", when, id, x.o.Text("id"))
	}
}

// imports imports the object by each id, and by its identity.
func (x *subject) imports() {
	x.Helper()
	id := x.o.Text("id")
	want := plain(x.T, x.o.State).(values)
	for _, name := range x.notImported {
		delete(want, name)
	}
	ids := append(x.ids, id, strings.ToUpper(id))
	if x.typeName == "mailhost_dedicated_ip" {
		ids = append(ids, x.o.Text("name"), plain(x.T, x.o.State).(values)["ip_addresses"].([]any)[0].(values)["ip"].(string))
	}
	identities := []values{{"id": id}, {"id": strings.ToUpper(id), "account_id": x.s.AccountID}}
	for i := range len(ids) + len(identities) {
		key, identity := "", values(nil)
		if i < len(ids) {
			key = ids[i]
		} else {
			identity = identities[i-len(ids)]
		}
		o, diags := x.p.Walk().Import(x.typeName, key, identity)
		x.p.NoErrors(diags)
		o, diags = x.p.Read(x.typeName, o)
		x.p.NoErrors(diags)
		x.identified(o, "import "+key)
		if d := difference(want, plain(x.T, o.State)); d != "" {
			x.Errorf("import of %q %v (-want +got):\n%s", key, identity, d)
		}
		plan, diags := x.p.Plan(x.typeName, x.latest, o)
		x.p.NoErrors(diags)
		if len(plan.Replace) > 0 || plan.Text("id") != id {
			x.Errorf("import of %q is replaced because of %v", key, plan.Replace)
		}
	}
	for _, wrong := range []values{{"id": ""}, {"id": "no id"}, {"id": id, "account_id": noID}} {
		if _, diags := x.p.Import(x.typeName, "", wrong); acctest.Errors(diags) != 1 {
			x.Errorf("the import of %v: %s", wrong, acctest.Render(diags))
		}
	}
}

// disappears deletes the object outside Terraform, and has the next apply create it again.
func (x *subject) disappears() {
	x.Helper()
	must(x.T, x.remove(x.o.Text("id")))
	o := *x.o
	o.Identity = nil // as in a state of an older Terraform
	gone, diags := x.p.Walk().Read(x.typeName, &o)
	x.p.NoErrors(diags)
	if !gone.Gone() {
		x.Errorf("a deleted object is still in the state: %s", gone.State)
	}
	x.identified(gone, "gone")
	_, diags = x.p.Destroy(x.Context(), x.typeName, x.o)
	x.p.NoErrors(diags) // it is deleted already
	x.o = nil
	x.take(len(x.steps), step{config: x.latest, does: creates})
}

// ends destroys the object, or leaves it with a warning if the API can't delete.
func (x *subject) ends() {
	x.Helper()
	gone, diags := x.p.Destroy(x.Context(), x.typeName, x.o)
	x.p.NoErrors(diags)
	x.named(diags, x.o)
	if !gone.Gone() {
		x.Errorf("after the destroy the state has %s", gone.State)
	}
	if x.s.PublishedOnly {
		acctest.Expect(x, diags, "WARNING", "will still exist")
		return
	}
	if o, diags := x.p.Walk().Read(x.typeName, x.o); acctest.Errors(diags) > 0 || !o.Gone() {
		x.Errorf("after the destroy it is read as %s, %s", o.State, acctest.Render(diags))
	}
}

// refusals checks the errors about configurations and imports.
func (x *subject) refusals(canRead bool) {
	x.Helper()
	for _, c := range x.refused {
		diags := x.p.Validate(x.typeName, c.config)
		if acctest.Errors(diags) == 0 {
			_, diags = x.p.Apply(x.Context(), x.typeName, c.config, nil)
		}
		acctest.Expect(x, diags, append([]string{"ERROR"}, c.want...)...)
		if acctest.Errors(diags) != 1 {
			x.Errorf("%v has more than one error: %s", c.config, acctest.Render(diags))
		}
	}
	for _, c := range x.noImport {
		o, diags := x.p.Walk().Import(x.typeName, c.id, nil)
		if acctest.Errors(diags) == 0 {
			_, diags = x.p.Read(x.typeName, o)
		}
		if !canRead {
			c.want = []string{"no operation"}
		}
		acctest.Expect(x, diags, append([]string{"ERROR"}, c.want...)...)
	}
}
