package authorization_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_authorizations"

// grant grants a capability on a domain, outside Terraform.
func grant(t *testing.T, s *acctest.Server, subjectID string, key vocab.Capability, domainID string) *api.Authorization {
	t.Helper()
	capability, on := string(key), vocab.ResourceDomain
	return s.Grant(t, api.GrantAuthorizationBody{
		GrantKind: vocab.GrantCapability, SubjectType: vocab.SubjectGroup, SubjectID: subjectID,
		CapabilityKey: &capability, ResourceType: &on, ResourceID: &domainID,
	})
}

func TestDataSource(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "example.com")
		sales := grant(t, s, "sales", vocab.CapMailboxCreate, d.ID)
		support := grant(t, s, "support", vocab.CapMailboxCreate, d.ID)
		ops := grant(t, s, "ops", vocab.CapDNSRecordCreate, d.ID)
		s.RevokeGrant(t, support.ID)
		p := s.Protocol(t, "")
		for _, c := range []struct {
			config map[string]any
			want   []string
		}{
			{map[string]any{"subject_type": "group"}, []string{sales.ID, ops.ID}},
			{map[string]any{"subject_type": "group", "include_revoked": true}, []string{sales.ID, support.ID, ops.ID}},
			{map[string]any{"capability_key": "mailbox.create", "include_revoked": false}, []string{sales.ID}},
			{map[string]any{"subject_id": "ops"}, []string{ops.ID}},
			{map[string]any{"subject_id": "ops", "capability_key": "mailbox.create"}, nil},
		} {
			var got []string
			for _, a := range read(t, p, c.config) {
				got = append(got, text(t, a["id"]))
				if isRevoked := text(t, a["id"]) == support.ID; isRevoked == a["revoked_at"].IsNull() {
					t.Errorf("%v: revoked_at of %s is %s", c.config, a["id"], a["revoked_at"])
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v lists %q, want %q", c.config, got, c.want)
			}
		}
		granted := map[string]string{}
		for name, v := range read(t, p, map[string]any{"subject_id": "ops"})[0] {
			granted[name] = text(t, v)
		}
		if want := map[string]string{
			"id": ops.ID, "grant_kind": "capability", "subject_type": "group", "subject_id": "ops", "capability_key": "dns_record.create",
			"resource_type": "domain", "resource_id": d.ID, "created_at": *ops.CreatedAt, "revoked_at": "",
		}; !maps.Equal(granted, want) {
			t.Errorf("read %v, want %v", granted, want)
		}
		owner := read(t, p, map[string]any{"grant_kind": "account_owner", "subject_type": "service_account"})
		if len(owner) != 1 || !owner[0]["capability_key"].IsNull() || !owner[0]["resource_id"].IsNull() {
			t.Errorf("the owners are %v", owner)
		}
	})
}

// read returns the authorizations that the data source lists.
func read(t *testing.T, p *acctest.Protocol, config map[string]any) (all []map[string]tftypes.Value) {
	t.Helper()
	o, diags := p.ReadData(typeName, config)
	p.NoErrors(diags)
	var attributes map[string]tftypes.Value
	var items []tftypes.Value
	if err := o.State.As(&attributes); err != nil {
		t.Fatal(err)
	}
	if err := attributes["authorizations"].As(&items); err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		var fields map[string]tftypes.Value
		if err := item.As(&fields); err != nil {
			t.Fatal(err)
		}
		all = append(all, fields)
	}
	return all
}

// text returns a string, or "" for null.
func text(t *testing.T, v tftypes.Value) (s string) {
	t.Helper()
	if v.IsNull() {
		return ""
	}
	if err := v.As(&s); err != nil {
		t.Fatal(err)
	}
	return s
}
