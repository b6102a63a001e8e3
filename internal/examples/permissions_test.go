package examples_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// TestPermissions compares the guide with the contract's capabilities.
func TestPermissions(t *testing.T) {
	t.Parallel()
	guide := read(t, "../../docs/guides/permissions.md")
	for _, c := range api.Capabilities() {
		if !strings.Contains(guide, "`"+string(c)+"`") {
			t.Errorf("the guide does not say what needs %s", c)
		}
	}
	for _, named := range regexp.MustCompile("`([a-z_]+\\.[a-z]+)`").FindAllStringSubmatch(guide, -1) {
		if named[1] != "data.mailhost" && !slices.Contains(api.Capabilities(), api.Capability(named[1])) {
			t.Errorf("there is no capability %s", named[1])
		}
	}
}

// TestViewsAreEnoughToPlan plans with a credential of no capability but those to
// view, as the guide promises: creates, changes and destroys of every resource.
func TestViewsAreEnoughToPlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	owner := s.Protocol(t, "")
	s.Token = viewer(t, s)
	planner := s.Protocol(t, "")
	for typeName, configs := range map[string][2]map[string]any{
		"mailhost_domain":          {{"name": "example.com"}, {"name": "example.com", "auto_renew": true}},
		"mailhost_mailbox":         {{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}, {"domain": "example.com", "local_part": "jane", "first_name": "Janet", "last_name": "Doe"}},
		"mailhost_dns_record":      {{"domain": "example.com", "name": "www", "type": "TXT", "value": "v=spf1 -all"}, {"domain": "example.com", "name": "www", "type": "TXT", "value": "v=spf1 mx -all"}},
		"mailhost_forwarding":      {{"domain": "example.com", "target_email": "a@example.net"}, {"domain": "example.com", "target_email": "b@example.net"}},
		"mailhost_master_password": {{"domain": "example.com", "name": "ops", "value": "hunter22"}, {"domain": "example.com", "name": "dev", "value": "hunter22"}},
		"mailhost_service_account": {{"name": "ci"}, {"name": "cd"}},
		"mailhost_dedicated_ip":    {{"option_id": api.DerivedID(s.AccountID, "dedicated-ip-option:eu")}, {}},
	} {
		_, diags := planner.Plan(typeName, configs[0], nil)
		planner.NoErrors(diags)
		o, diags := owner.Apply(t.Context(), typeName, configs[0], nil)
		owner.NoErrors(diags)
		o, diags = planner.Read(typeName, o)
		planner.NoErrors(diags)
		for _, config := range []map[string]any{configs[0], configs[1], nil} {
			_, diags = planner.Plan(typeName, config, o)
			planner.NoErrors(diags)
		}
	}
	for _, name := range []string{
		"mailhost_account", "mailhost_domains", "mailhost_mailboxes", "mailhost_dns_records", "mailhost_forwardings",
		"mailhost_master_passwords", "mailhost_service_accounts", "mailhost_dedicated_ips", "mailhost_authorizations",
	} {
		_, diags := planner.ReadData(name, nil)
		planner.NoErrors(diags)
	}
}

// viewer returns the token of a service account that may view everything.
func viewer(t *testing.T, s *acctest.Server) string {
	t.Helper()
	created, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "plan"})
	if err != nil {
		t.Fatal(err)
	}
	grant := func(c api.Capability) {
		key := string(c)
		if _, err := s.Client.GrantAuthorization(t.Context(), api.GrantAuthorizationBody{
			GrantKind: api.GrantCapability, SubjectType: api.SubjectServiceAccount, SubjectID: created.ID, CapabilityKey: &key,
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range api.Capabilities() {
		if strings.HasSuffix(string(c), ".view") {
			grant(c)
		}
	}
	revokeOwner(t, s.Client, created.ID)
	return created.Token
}

// revokeOwner takes away what a service account has inherited.
func revokeOwner(t *testing.T, c *client.Client, id string) {
	t.Helper()
	for a, err := range c.ListAuthorizations(t.Context(), api.ListAuthorizationsRequest{SubjectID: id, GrantKind: api.GrantAccountOwner}) {
		if err == nil {
			err = c.RevokeAuthorization(t.Context(), a.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
