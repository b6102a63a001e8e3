package provider_test

import (
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

type values = map[string]any

// isSet matches every value but null.
const isSet = "(set)"

// lookups are the lookups of one kind in an account with objects of that kind.
type lookups struct {
	noun string
	// single has arguments of the data source of one object, and attributes that it returns.
	single []struct{ config, want values }
	// label is the attribute by which the objects of a plural data source are compared.
	label string
	lists []list
	// refused has arguments of the data sources, and the error.
	refused []refusal
}

// list has filters, the objects that a plural data source returns, and those that the list
// resource returns if their names differ.
type list struct {
	config       values
	want, listed []string
}

type refusal struct {
	isPlural bool
	config   values
	want     []string
}

const (
	noID           = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	stockedAccount = "0a7d6d0e-3f3b-4c57-9d0c-4b0f8a1f5d10"
	sales          = "1b8e7e1f-4f4c-4d68-8e1d-5c1f9b2f6e21"
)

// stock switches the server to another account, with objects that the API can't create.
func stock(t *testing.T, s *acctest.Server) {
	t.Helper()
	assert.NilError(t, s.Service.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{
		ID:         stockedAccount,
		Workspaces: []fixture.Workspace{{ID: sales, Name: "Sales"}},
		DedicatedIPOptions: []fixture.DedicatedIPOption{
			{Name: "Europe", CountryCode: "DE", ASN: 64496, Addresses: []string{"198.51.100.1", "2001:db8::1"}},
			{Name: "America", CountryCode: "US", Addresses: []string{"203.0.113.1", "203.0.113.2"}},
		},
		DedicatedIPs: []fixture.DedicatedIP{
			{Name: "First", Option: "Europe", IP: "198.51.100.1", FCrDNSConfirmed: true},
			{Name: "Second", Option: "Europe", IP: "2001:db8::1"},
			{Name: "Third", Option: "America", IP: "203.0.113.1", Status: vocab.DedicatedIPReleasing},
		},
		Domains: []fixture.Domain{
			{
				Name: "bücher.com", AutoRenew: true, RedirectURL: "https://www.example.com/shop", RedirectMode: "302", DedicatedIP: "First",
				InboundTenant: &fixture.InboundTenant{ExternalID: "x", Name: "n", Type: "y"}, Tags: []string{"blue", "shop"},
			},
			{Name: "mail.stocked.com", Workspace: "Sales", Tags: []string{"blue"}},
			{Name: "unpaid.com", Status: vocab.DomainPendingPayment},
		},
	}}}))
	s.AccountID, s.WorkspaceID = stockedAccount, api.DefaultWorkspaceID(stockedAccount)
	var err error
	s.Token, err = s.Service.IssueOwnerToken(t.Context(), s.AccountID, "owner")
	assert.NilError(t, err)
}

// everyLookup creates objects of each kind, and returns their lookups.
var everyLookup = map[string]func(t *testing.T, s *acctest.Server) lookups{
	"mailhost_domain": func(t *testing.T, s *acctest.Server) lookups {
		stock(t, s)
		want := values{
			"id": api.DerivedID(stockedAccount, "domain:xn--bcher-kva.com"), "workspace_id": s.WorkspaceID, "status": "active", "auto_renew": true, "outbound_routing_ready": true,
			"redirect_url": "https://www.example.com/shop", "redirect_mode": "302", "dedicated_ip_id": isSet, "inbound_tenant_id": isSet,
			"inbound_tenant_external_id": "x", "inbound_tenant_name": "n", "inbound_tenant_type": "y", "created_at": isSet, "updated_at": isSet,
			"tags": []any{values{"name": "blue", "id": isSet}, values{"name": "shop", "id": isSet}},
		}
		return lookups{
			noun: "domain", label: "name",
			single: []struct{ config, want values }{
				{values{"id": strings.ToUpper(want["id"].(string))}, with(want, "name", "xn--bcher-kva.com")},
				{values{"name": "BÜCHER.com."}, want},
			},
			lists: []list{
				{nil, []string{"xn--bcher-kva.com", "mail.stocked.com", "unpaid.com"}, nil},
				{values{"workspace_id": sales}, []string{"mail.stocked.com"}, nil},
				{values{"status": "pending_payment"}, []string{"unpaid.com"}, nil},
				{values{"tag": "blue"}, []string{"xn--bcher-kva.com", "mail.stocked.com"}, nil},
				{values{"search": "BÜCH"}, []string{"xn--bcher-kva.com"}, nil},
				{values{"tag": "blue", "search": "mail"}, []string{"mail.stocked.com"}, nil},
				{values{"tag": "shop", "status": "failed"}, nil, nil},
			},
			refused: []refusal{
				{false, values{"name": "example.com"}, []string{`Can't find the domain with name = "example.com"`, "Check the spelling"}},
				{false, values{"name": "example"}, []string{`AttributeName("name")`, "name must be"}},
				{true, values{"status": "asleep"}, []string{`AttributeName("status")`, "status must be one of pending_payment"}},
				{true, values{"workspace_id": "default"}, []string{`AttributeName("workspace_id")`, "workspace_id must be"}},
			},
		}
	},
	"mailhost_mailbox": func(t *testing.T, s *acctest.Server) lookups {
		d := s.Domain(t, "bücher.com")
		s.Domain(t, "example.org")
		m := s.Mailbox(t, "bücher.com", "jane")
		s.Mailbox(t, "bücher.com", "john")
		s.Mailbox(t, "example.org", "mary")
		const jane, john, mary = "jane@xn--bcher-kva.com", "john@xn--bcher-kva.com", "mary@example.org"
		want := values{
			"primary_email": jane, "domain": d.Name, "domain_name": d.Name, "local_part": "jane", "first_name": "Jane", "last_name": "Doe", "domain_id": d.ID,
			"workspace_id": s.WorkspaceID, "status": vocab.MailboxActive, "quota": values{"allowed": m.Quota.Allowed, "used": int64(0)}, "created_at": isSet,
		}
		return lookups{
			noun: "mailbox", label: "primary_email",
			single: []struct{ config, want values }{{values{"id": m.ID}, want}, {values{"primary_email": "JANE@Bücher.com"}, with(want, "id", m.ID)}},
			lists: []list{
				{nil, []string{jane, john, mary}, nil},
				{values{"domain": "Bücher.COM"}, []string{jane, john}, nil},
				{values{"domain": d.ID, "search": "mary", "status": "active"}, nil, nil},
				{values{"domain": "example.net"}, nil, nil},
				{values{"search": "mar", "status": "active", "workspace_id": s.WorkspaceID}, []string{mary}, nil},
			},
			refused: []refusal{
				{false, values{"primary_email": "nobody@example.com"}, []string{`Can't find the mailbox with primary_email = "nobody@example.com"`, "Check the spelling"}},
				{false, values{"primary_email": "jane"}, []string{`AttributeName("primary_email")`, "primary_email must be"}},
				{true, values{"status": "asleep"}, []string{`AttributeName("status")`, "status must be one of provisioning"}},
				{true, values{"workspace_id": "default"}, []string{`AttributeName("workspace_id")`, "workspace_id must be"}},
			},
		}
	},
	"mailhost_forwarding": func(t *testing.T, s *acctest.Server) lookups {
		d := s.Domain(t, "bücher.com")
		s.Mailbox(t, d.ID, "office")
		create := func(body api.CreateForwardingBody) *api.Forwarding {
			f, err := s.Client.CreateForwarding(t.Context(), body)
			assert.NilError(t, err)
			return f
		}
		ofDomain := create(api.CreateForwardingBody{TargetEmail: "office@bücher.com", Domain: &d.ID})
		ofWorkspace := create(api.CreateForwardingBody{TargetEmail: "office@bücher.com", WorkspaceID: &s.WorkspaceID})
		ofAccount := create(api.CreateForwardingBody{TargetEmail: "jane@example.org"})
		_, err := s.Client.SetForwardingActive(t.Context(), ofWorkspace.ID, false)
		assert.NilError(t, err)
		const office = "office@xn--bcher-kva.com"
		scoped := scopedLookups(s, d, "target_email", "office@bücher.com", ofDomain.ID, ofWorkspace.ID, values{"active": true})
		scoped.single = append(scoped.single, []struct{ config, want values }{
			{values{"target_email": "office@bücher.com", "workspace_id": s.WorkspaceID}, values{"active": false}},
			{values{"target_email": "Jane@example.org"}, values{
				"id": ofAccount.ID, "scope_id": s.AccountID, "domain": nil, "workspace_id": nil,
				"active": false, "verification_state": vocab.VerificationPending, "verification_sent_at": isSet,
			}},
		}...)
		scoped.noun, scoped.label = "forwarding rule", "target_email"
		scoped.lists = []list{
			{nil, []string{office, office, "jane@example.org"}, []string{office + " (domain)", office + " (workspace)", "jane@example.org"}},
			{values{"domain": "Bücher.COM"}, []string{office}, []string{office + " (domain)"}},
			{values{"workspace_id": s.WorkspaceID, "verification_state": "internal", "search": "office"}, []string{office}, []string{office + " (workspace)"}},
			{values{"scope_type": "account", "verification_state": "pending", "search": "JANE"}, []string{"jane@example.org"}, nil},
			{values{"domain": "example.net"}, nil, nil},
		}
		scoped.refused = append(scoped.refused,
			refusal{false, values{"target_email": "joe@example.org", "domain": "example.net"}, []string{"Can't find the forwarding rule", `domain = "example.net"`}},
			refusal{false, values{"target_email": "jane"}, []string{`AttributeName("target_email")`, "target_email must be"}},
			refusal{false, values{"domain": "example.com"}, []string{"id", "target_email"}},
			refusal{true, values{"verification_state": "lost"}, []string{`AttributeName("verification_state")`, "verification_state must be one of internal"}})
		return scoped
	},
	"mailhost_master_password": func(t *testing.T, s *acctest.Server) lookups {
		d := s.Domain(t, "bücher.com")
		create := func(body api.CreateMasterPasswordBody) *api.MasterPassword {
			body.Generate = true
			p, err := s.Client.CreateMasterPassword(t.Context(), body)
			assert.NilError(t, err)
			return &p.MasterPassword
		}
		ofDomain := create(api.CreateMasterPasswordBody{Name: "Ops", Domain: &d.Name})
		ofWorkspace := create(api.CreateMasterPasswordBody{Name: "Ops", WorkspaceID: &s.WorkspaceID})
		ofAccount := create(api.CreateMasterPasswordBody{Name: "Ops"})
		create(api.CreateMasterPasswordBody{Name: "Backup"})
		scoped := scopedLookups(s, d, "name", "Ops", ofDomain.ID, ofWorkspace.ID, values{"created_at": ofDomain.CreatedAt})
		scoped.single = append(scoped.single, struct{ config, want values }{values{"name": "OPS"}, values{"id": ofAccount.ID, "scope_id": s.AccountID, "domain": nil}})
		scoped.noun, scoped.label = "master password", "name"
		scoped.lists = []list{
			{nil, []string{"Ops", "Ops", "Ops", "Backup"}, []string{"Ops (domain)", "Ops (workspace)", "Ops", "Backup"}},
			{values{"domain": "Bücher.com", "search": "OPS"}, []string{"Ops"}, []string{"Ops (domain)"}},
			{values{"workspace_id": s.WorkspaceID, "search": "op"}, []string{"Ops"}, []string{"Ops (workspace)"}},
			{values{"scope_type": "account", "search": "BACK"}, []string{"Backup"}, nil},
			{values{"search": "dev"}, nil, nil},
		}
		scoped.refused = append(scoped.refused,
			refusal{false, values{"name": "dev"}, []string{`Can't find the master password with name = "dev"`, "Check the spelling"}},
			refusal{false, values{"name": "Backup", "workspace_id": s.WorkspaceID}, []string{"Can't find", `workspace_id = "`}})
		return scoped
	},
	"mailhost_service_account": func(t *testing.T, s *acctest.Server) lookups {
		create := func(name string) *api.CreatedServiceAccount {
			a, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: name})
			assert.NilError(t, err)
			return a
		}
		old := create("CI")
		assert.NilError(t, s.Client.ServiceAccounts.Delete(t.Context(), old.ID))
		a := create("CI")
		twins := []string{create("twin").ID, create("twin").ID}
		want := values{
			"id": a.ID, "name": "CI", "account_id": s.AccountID, "expires_at": nil, "token_last4": a.TokenLast4, "token_prefix": api.TokenPrefix,
			"token_public_id": a.TokenPublicID, "created_at": a.CreatedAt, "revoked_at": nil,
		}
		return lookups{
			noun: "service account", label: "name",
			single: []struct{ config, want values }{{values{"id": a.ID}, want}, {values{"name": "CI"}, want}, {values{"id": old.ID}, values{"id": old.ID, "revoked_at": isSet}}},
			lists:  []list{{nil, []string{"owner", "CI", "CI", "twin", "twin"}, []string{"owner", "CI", "twin", "twin"}}},
			refused: []refusal{
				{false, values{"name": "ci"}, []string{`Can't find the service account with name = "ci"`, "Check the spelling"}},
				{false, values{"name": "twin"}, []string{twins[0], twins[1], "Refer to it by its id"}},
			},
		}
	},
	"mailhost_dedicated_ip": func(t *testing.T, s *acctest.Server) lookups {
		stock(t, s)
		id := api.DerivedID(stockedAccount, "dedicated-ip:Second")
		want := values{
			"id": id, "name": "Second", "status": "active", "type": "dedicated", "country_code": "DE", "asn": int64(64496), "created_at": isSet,
			"ip_addresses": []any{values{"ip": "2001:db8::1", "rdns": nil}}, "ip": "2001:db8::1",
		}
		return lookups{
			noun: "dedicated IP", label: "name",
			single: []struct{ config, want values }{{values{"id": id}, want}, {values{"name": "Second"}, want}, {values{"ip": "2001:DB8:0::1"}, with(want, "ip", "2001:DB8:0::1")}},
			lists: []list{
				{nil, []string{"First", "Second", "Third"}, nil},
				{values{"status": "releasing"}, []string{"Third"}, nil},
				{values{"country_code": "de"}, []string{"First", "Second"}, nil},
				{values{"country_code": "US", "status": "active"}, nil, nil},
			},
			refused: []refusal{
				{false, values{"ip": "192.0.2.1"}, []string{`Can't find the dedicated IP with ip = "192.0.2.1"`, "Check the spelling"}},
				{false, values{"name": "Moon"}, []string{`Can't find the dedicated IP with name = "Moon"`}},
				{false, values{"name": "Moon", "ip": "192.0.2.1"}, []string{"id", "name", "ip"}},
				{false, values{"name": ""}, []string{`AttributeName("name")`}},
				{false, values{"ip": "192.0.2"}, []string{`AttributeName("ip")`, "ip must be an IP address such as 198.51.100.1"}},
				{true, values{"status": "asleep"}, []string{`AttributeName("status")`, "must be one of provisioning"}},
				{true, values{"country_code": "Germany"}, []string{`AttributeName("country_code")`, "ISO 3166"}},
			},
		}
	},
	"mailhost_dns_record": func(t *testing.T, s *acctest.Server) lookups {
		d := s.Domain(t, "bücher.com")
		s.Domain(t, "example.org")
		create := func(domain, name, recordType, value string, priority *int64) *api.DNSRecord {
			r, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: domain, Name: name, Type: recordType, Value: value, Prio: priority})
			assert.NilError(t, err)
			return r
		}
		mx := create(d.ID, "sub", "MX", "mx1.example.net", new(int64(10)))
		create(d.ID, "sub", "MX", "mx2.example.net", new(int64(20)))
		create("example.org", "www", "A", "192.0.2.1", nil)
		create(d.ID, "www", "A", "192.0.2.2", nil)
		want := values{
			"id": fmt.Sprint(mx.ID), "type": "MX", "ttl": api.DefaultDNSTTL, "priority": int64(10), "is_system_managed": false,
			"domain_id": d.ID, "domain_name": d.Name, "fqdn": "sub." + d.Name,
		}
		const first, second = "www.xn--bcher-kva.com A 192.0.2.2", "www.example.org A 192.0.2.1"
		return lookups{
			noun: "DNS record", label: "value",
			single: []struct{ config, want values }{
				{values{"id": fmt.Sprint(mx.ID)}, with(want, "domain", d.Name, "name", "sub", "value", "mx1.example.net")},
				{values{"domain": "Bücher.com", "name": "SUB.bücher.com", "type": "MX", "value": "MX1.example.net."}, want},
				{values{"domain": d.ID, "name": "@", "type": "TXT"}, values{"is_system_managed": true, "priority": nil, "value": isSet}},
			},
			lists: []list{
				{values{"name": "www", "type": "A"}, []string{"192.0.2.2", "192.0.2.1"}, []string{first, second}},
				{values{"domain": "Bücher.com", "name": "www.bücher.com"}, []string{"192.0.2.2"}, []string{first}},
				{values{"domain": "example.org", "type": "CAA"}, nil, nil},
				{values{"domain": d.ID, "type": "MX", "name": "sub"}, []string{"mx1.example.net", "mx2.example.net"}, []string{"sub.xn--bcher-kva.com MX 10 mx1.example.net", "sub.xn--bcher-kva.com MX 20 mx2.example.net"}},
			},
			refused: []refusal{
				{false, values{"id": "x"}, []string{`AttributeName("id")`, "must be a number such as 1042"}},
				{false, values{"name": "www"}, []string{`"domain" must be specified`}},
				{false, values{"id": "1", "domain": "example.org"}, []string{`AttributeName("domain")`}},
				{true, values{"type": "mx"}, []string{`AttributeName("type")`, `write "MX"`}},
				{false, values{"domain": "example.org", "type": "A", "name": "web"}, []string{`Can't find the DNS record with name = "web", domain = "example.org", type = "A"`, "there is no A record at web of example.org", "Check the spelling"}},
				{false, values{"domain": d.Name, "type": "MX", "name": "sub"}, []string{"more than one MX record at sub of xn--bcher-kva.com", "priority 10", "priority 20", "add the value, or refer to it by its id"}},
			},
		}
	},
}

// scopedLookups are the lookups of a natural key in a domain and in the workspace.
func scopedLookups(s *acctest.Server, d *api.Domain, key, name, ofDomain, ofWorkspace string, want values) lookups {
	want = with(want, "scope_id", d.ID, "scope_type", vocab.ScopeDomain, "workspace_id", nil)
	return lookups{
		single: []struct{ config, want values }{ // the configured spelling of a domain is kept
			{values{"id": strings.ToUpper(ofDomain)}, with(want, "domain", d.Name)},
			{values{key: name, "domain": "Bücher.COM"}, with(want, "domain", "Bücher.COM", "id", ofDomain)},
			{values{key: name, "domain": d.ID}, with(want, "domain", d.ID, "id", ofDomain)},
			{values{key: name, "workspace_id": s.WorkspaceID}, values{"id": ofWorkspace, "domain": nil, "scope_type": vocab.ScopeWorkspace, "scope_id": s.WorkspaceID}},
		},
		refused: []refusal{
			{false, values{"id": noID, "workspace_id": noID}, []string{`AttributeName("workspace_id")`, `"` + key + `" must be specified`}},
			{false, values{"id": noID, "domain": "example.com"}, []string{`AttributeName("domain")`, `"` + key + `" must be specified`}},
			{false, values{key: name, "domain": "example.com", "workspace_id": noID}, []string{`AttributeName("workspace_id"): Both domain and workspace_id`, "Remove domain or"}},
			{true, values{"domain": "example.com", "workspace_id": noID}, []string{`AttributeName("workspace_id"): Both domain and workspace_id`}},
			{true, values{"scope_type": "team"}, []string{"scope_type must be one of account, workspace, domain"}},
		},
	}
}

// TestLookups reads the data sources of each kind, and lists it with the list resource.
func TestLookups(t *testing.T) {
	t.Parallel()
	for typeName, setUp := range everyLookup {
		plural := pluralName(typeName)
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
				l := setUp(t, s)
				p := s.Protocol(t, "")
				if s.PublishedOnly && !publishes(typeName, http.MethodGet) {
					_, single := p.ReadData(typeName, l.single[0].config)
					acctest.Expect(t, single, "ERROR: Can't find the "+l.noun, "This API has no operation for it", "published operations only")
					_, all := p.ReadData(plural, nil)
					acctest.Expect(t, all, "ERROR: Can't list the "+l.noun+"s", "This API has no operation for it", "published operations only")
					_, listed := p.List(typeName, nil, 100)
					acctest.Expect(t, listed, "ERROR: Can't list the "+l.noun+"s", "This API has no operation for it", "published operations only")
					return
				}
				for _, c := range l.single {
					o, diags := p.ReadData(typeName, c.config)
					if p.NoErrors(diags); len(diags) > 0 {
						t.Errorf("%v: %s", c.config, acctest.Render(diags))
					}
					assert.Check(t, is.Equal(difference(c.want, plain(t, o.State)), ""), "%v (-want +got)", c.config)
				}
				for _, c := range l.lists {
					o, diags := p.ReadData(plural, c.config)
					if p.NoErrors(diags); c.config["domain"] == "example.net" { // a misspelt domain is not just empty
						acctest.Expect(t, diags, `WARNING at AttributeName("domain"): The account has no domain example.net`, "Check the spelling")
						_, diags = p.List(typeName, c.config, 100)
						acctest.Expect(t, diags, `ERROR at AttributeName("domain"): The account has no domain example.net`, "Check the spelling")
						continue
					} else if len(diags) > 0 {
						t.Errorf("%v: %s", c.config, acctest.Render(diags))
					}
					var got []string
					for _, item := range plain(t, o.State).(values)[strings.TrimPrefix(plural, "mailhost_")].([]any) {
						got = append(got, item.(values)[l.label].(string))
					}
					assert.Check(t, slices.Equal(got, c.want), "%v lists %q, want %q", c.config, got, c.want)
					if c.listed == nil {
						c.listed = c.want
					}
					p.ExpectListed(t, typeName, c.config, c.listed...)
				}
				for _, c := range append(l.refused, commonRefusals(l)...) {
					name := typeName
					if c.isPlural {
						name = plural
						_, diags := p.List(typeName, c.config, 100)
						assert.Check(t, acctest.Errors(diags) != 0, "%v is accepted by the list resource", c.config)
					}
					_, diags := p.ReadData(name, c.config)
					acctest.Expect(t, diags, append([]string{"ERROR"}, c.want...)...)
				}
			})
		})
	}
}

// TestDedicatedIPOptions lists the offers, and how many addresses each of them has left.
func TestDedicatedIPOptions(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		stock(t, s)
		o, diags := s.Protocol(t, "").ReadData("mailhost_dedicated_ip_options", nil)
		if s.PublishedOnly {
			acctest.Expect(t, diags, "ERROR: Can't list the dedicated IP options", "no operation for it", "published operations only")
			return
		}
		offer := func(name, country string, left int64) values {
			return values{"id": api.DerivedID(stockedAccount, "dedicated-ip-option:"+name), "name": name, "type": "dedicated", "country_code": country, "available": left}
		}
		want := values{"dedicated_ip_options": []any{offer("Europe", "DE", 0), offer("America", "US", 1)}}
		d := difference(want, plain(t, o.State))
		assert.Check(t, d == "" && len(diags) == 0, "(-want +got):\n%s\n%s", d, acctest.Render(diags))
	})
}

// TestAuthorizations lists who may do what.
func TestAuthorizations(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "example.com")
		grant := func(group string, key vocab.Capability) *api.Authorization {
			var a api.Authorization
			s.Owner(t).Post("/auth/authorizations", api.GrantAuthorizationBody{
				GrantKind: vocab.GrantCapability, SubjectType: vocab.SubjectGroup, SubjectID: group,
				CapabilityKey: new(string(key)), ResourceType: new(vocab.ResourceDomain), ResourceID: &d.ID,
			}).Want(201).Into(&a)
			return &a
		}
		sales, support, ops := grant("sales", vocab.CapMailboxCreate), grant("support", vocab.CapMailboxCreate), grant("ops", vocab.CapDNSRecordCreate)
		s.Owner(t).Delete("/auth/authorizations/" + support.ID).Want(204)
		granted := values{
			"id": ops.ID, "grant_kind": "capability", "subject_type": "group", "subject_id": "ops", "capability_key": "dns_record.create",
			"resource_type": "domain", "resource_id": d.ID, "created_at": *ops.CreatedAt, "revoked_at": nil,
		}
		of := func(a *api.Authorization) values { return values{"id": a.ID, "revoked_at": nil} }
		revoked := values{"id": support.ID, "revoked_at": isSet}
		for _, c := range []struct {
			config values
			want   []any
		}{
			{values{"subject_type": "group"}, []any{of(sales), of(ops)}},
			{values{"subject_type": "group", "include_revoked": true}, []any{of(sales), revoked, of(ops)}},
			{values{"capability_key": "mailbox.create", "include_revoked": false}, []any{of(sales)}},
			{values{"subject_id": "ops"}, []any{granted}},
			{values{"subject_id": "ops", "capability_key": "mailbox.create"}, []any{}},
			{values{"grant_kind": "account_owner", "subject_type": "service_account"}, []any{values{"capability_key": nil, "resource_id": nil}}},
		} {
			o, diags := s.Protocol(t, "").ReadData("mailhost_authorizations", c.config)
			d := difference(values{"authorizations": c.want}, plain(t, o.State))
			assert.Check(t, d == "" && len(diags) == 0, "%v (-want +got):\n%s\n%s", c.config, d, acctest.Render(diags))
		}
	})
}

// commonRefusals are the wrong arguments of every kind.
func commonRefusals(l lookups) []refusal {
	id, both := noID, maps.Clone(l.single[1].config)
	if both["id"] = id; l.noun == "DNS record" {
		both["id"], id = "4711", "4711"
	}
	return []refusal{
		{false, nil, []string{"id"}},
		{false, both, []string{"id"}},
		{false, values{"id": "no id"}, []string{`AttributeName("id")`, "must be"}},
		{false, values{"id": id}, []string{"Can't find the " + l.noun + ` with id = "` + id}},
	}
}

// pluralName returns the name of the data source that lists the objects of a resource.
func pluralName(typeName string) string {
	return "mailhost_" + definitions()[typeName].FieldByName("Names").String()
}

// with returns a copy with other values, given as names and values.
func with(v values, pairs ...any) values {
	v = maps.Clone(v)
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i].(string)] = pairs[i+1]
	}
	return v
}

// difference compares what is wanted with the same attributes of what there is.
func difference(want, got any) string {
	return cmp.Diff(want, part(want, got))
}

// part returns the attributes of got that want has.
func part(want, got any) any {
	switch want := want.(type) {
	case values:
		if got, ok := got.(values); ok {
			common := values{}
			for name, w := range want {
				common[name] = part(w, got[name])
			}
			return common
		}
	case []any:
		if got, ok := got.([]any); ok && len(got) == len(want) {
			common := make([]any, len(want))
			for i, w := range want {
				common[i] = part(w, got[i])
			}
			return common
		}
	case string:
		if want == isSet && got != nil && got != isUnknown {
			return isSet
		}
	}
	return got
}

// plain returns a value as encoding/json decodes it, and integers as int64.
func plain(t *testing.T, v tftypes.Value) any {
	t.Helper()
	var text *string
	var flag *bool
	var number *big.Float
	var items []tftypes.Value
	var fields map[string]tftypes.Value
	switch {
	case !v.IsKnown():
		return isUnknown
	case v.IsNull():
		return nil
	case v.As(&text) == nil:
		return *text
	case v.As(&flag) == nil:
		return *flag
	case v.As(&number) == nil:
		n, _ := number.Int64()
		return n
	case v.As(&items) == nil:
		all := []any{}
		for _, item := range items {
			all = append(all, plain(t, item))
		}
		return all
	case v.As(&fields) == nil:
		all := values{}
		for name, item := range fields {
			all[name] = plain(t, item)
		}
		return all
	}
	t.Fatalf("%s is no known value", v)
	return nil
}
