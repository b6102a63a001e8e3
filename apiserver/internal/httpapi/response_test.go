package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// resources are the tables of the specification with the additions of the decisions: the
// JSON type of each field, with a question mark if it is nullable and a tilde if a response may
// omit it.
var resources = map[string]string{
	"ServiceAccount": `id uuid; account_id uuid; name string; token_last4 string; token_prefix string; token_public_id string;
		created_at datetime; updated_at datetime; created_by_user_id uuid?; expires_at datetime?; last_used_at datetime?;
		revoked_at datetime?; revoked_by_user_id uuid?`,
	"CreatedServiceAccount": `id uuid; account_id uuid; name string; token string; token_last4 string; token_prefix string;
		token_public_id string; created_at datetime; updated_at datetime; created_by_user_id uuid?; expires_at datetime?;
		last_used_at datetime?; revoked_at datetime?; revoked_by_user_id uuid?`,
	"Authorization": `id uuid; grant_kind string; subject_type string; subject_id string; capability_key string?;
		resource_type string?; resource_id uuid?; created_at datetime?; revoked_at datetime?`,
	"MasterPassword": `id uuid; name string; scope_id uuid; scope_type string; created_at datetime; updated_at datetime`,
	"CreatedMasterPassword": `id uuid; name string; scope_id uuid; scope_type string; created_at datetime; updated_at datetime;
		generated_secret string~`,
	"Forwarding": `id uuid; active boolean; scope_id uuid; scope_type string; target_email string; verification_required boolean;
		verification_state string; verification_sent_at datetime?; verification_expires_at datetime?;
		verification_verified_at datetime?; created_at datetime; updated_at datetime`,
	"Mailbox": `id uuid; domain_id uuid; domain_name string; local_part string; primary_email string; first_name string;
		last_name string; status string; quota object; aliases array; workspace_id uuid?; workspace_name string?;
		created_at datetime; updated_at datetime`,
	"Quota":              `allowed integer; used integer`,
	"MailboxAlias":       `alias string; is_catch_all boolean`,
	"CreatedMailboxes":   `created array; failed array`,
	"CreatedMailboxItem": `index integer; mailbox object`,
	"FailedMailboxItem":  `code string; index integer; message string`,
	"Domain": `id uuid; name string; status string; outbound_routing_ready boolean; workspace_id uuid; auto_renew boolean;
		dedicated_ip_id uuid?; inbound_tenant_id uuid?; inbound_tenant_external_id string?; inbound_tenant_name string?;
		inbound_tenant_type string?; redirect_mode string?; redirect_url string?; tags array; created_at datetime;
		updated_at datetime`,
	"Tag":            `id uuid; name string`,
	"DomainSettings": `auto_renew boolean; id uuid; workspace_id uuid; redirect_url string?`,
	"Purchase": `results array; currency string?; estimated_total string?; failed_count integer; successful_count integer;
		payment_url string?; purchase_batch_id string?`,
	"PurchaseResult": `domain_name string; status string; error string?; error_code string?; id string?`,
	"DNSRecord": `id integer; name string; type string; value string; ttl integer; priority integer?;
		is_system_managed boolean`,
	"DedicatedIP": `id uuid; name string; status string; type string; asn integer?; country_code string?; ip_addresses array;
		created_at datetime?; updated_at datetime?`,
	"IPAddress":         `ip string; fcrdns_confirmed boolean; healthy boolean?; rdns string?`,
	"DedicatedIPOption": `id uuid; name string; type string; country_code string; available integer`,
	"BillingResult": `status string; account_status string?; effective_at datetime?; eligible boolean?; previous_plan_id string?;
		target_plan_id string?`,
	"Feedback": `id uuid; account_id uuid; title string; description string; attributes object; paid_product_feature boolean;
		category string; status string; submitter_email string?; submitter_name string?; created_by_user_id uuid?;
		admin_notes string?; created_at datetime; updated_at datetime`,
	"Error":         `detail array`,
	"Problem":       `loc array; msg string; type string`,
	"PageMailbox":   `items array; page integer; page_size integer; total integer`,
	"PageDomain":    `items array; page integer; page_size integer; total integer`,
	"PageDNSRecord": `items array; page integer; page_size integer; total integer`,
}

// jsonType returns a schema's type in the notation of resources.
func jsonType(s *openapi3.Schema) string {
	name, null := "", ""
	for _, typ := range s.Type.Slice() {
		if typ == "null" {
			null = "?"
			continue
		}
		name += typ
	}
	if name == "string" {
		switch s.Format {
		case "uuid":
			name = "uuid"
		case "date-time":
			name = "datetime"
		}
	}
	return name + null
}

// requests are the request fields of the specification and the decisions, with an
// exclamation mark if required.
var requests = map[string]string{
	"CreateServiceAccountBody": `name string!; expires_at datetime?`,
	"CreateMasterPasswordBody": `name string!; domain string?; generate boolean; value string?; workspace_id uuid?`,
	"RenameMasterPasswordBody": `name string!`,
	"CreateForwardingBody":     `target_email string!; domain string?; workspace_id uuid?`,
	"UpdateForwardingBody":     `target_email string!`,
	"SetForwardingActiveBody":  `active boolean!`,
	"CreateMailboxBody":        `domain string!; first_name string!; last_name string!; local_part string!`,
	"UpdateMailboxBody":        `first_name string?; last_name string?`,
	"CreateMailboxesBody":      `domain string!; items array!`,
	"NewMailboxItem":           `first_name string!; last_name string!; local_part string!`,
	"ExportMailboxesBody":      `domain string?; mailboxes array?`,
	"PurchaseDomainsBody":      `domains array!; workspace_id uuid!; contact_info object!`,
	"ContactInfo": `address_1 string!; city string!; country string!; email string!; first_name string!; last_name string!;
		organization string!; phone string!; state string!; zip string!`,
	"UpdateDomainBody":       `auto_renew boolean?; redirect_url string?; workspace_id uuid?`,
	"CreateDNSRecordBody":    `domain string!; name string!; type string!; value string!; prio integer?; ttl integer?`,
	"UpdateDNSRecordBody":    `value string?; prio integer?; ttl integer?`,
	"ClaimDedicatedIPBody":   `option_id uuid!`,
	"CancelPlanBody":         `cancel_at_period_end boolean?; cancel_immediately boolean?`,
	"ChangePlanBody":         `effective_date datetime?; plan_id string?`,
	"SubmitFeedbackBody":     `title string!; description string!; attributes object; paid_product_feature boolean; category string`,
	"CreateWorkspaceBody":    `name string!`,
	"GrantAuthorizationBody": `grant_kind string!; subject_type string!; subject_id string!; capability_key string?; resource_type string?; resource_id uuid?`,
}

func TestFields(t *testing.T) {
	schemas := document(t, true).Components.Schemas
	check := func(tables map[string]string, mark string, marked func(required bool) bool) {
		for name, table := range tables {
			if schemas[name] == nil {
				t.Errorf("the document has no schema %s", name)
				continue
			}
			got := map[string]string{}
			for field, property := range schemas[name].Value.Properties {
				got[field] = jsonType(property.Value)
				if marked(slices.Contains(schemas[name].Value.Required, field)) {
					got[field] += mark
				}
			}
			for line := range strings.SplitSeq(table, ";") {
				field, want, _ := strings.Cut(strings.TrimSpace(line), " ")
				if got[field] != want {
					t.Errorf("%s.%s is %q; want %q", name, field, got[field], want)
				}
				delete(got, field)
			}
			for field := range got {
				t.Errorf("%s.%s is in no table", name, field)
			}
		}
	}
	check(resources, "~", func(required bool) bool { return !required })
	check(requests, "!", func(required bool) bool { return required })
}

func TestRequestLimits(t *testing.T) {
	schemas := document(t, true).Components.Schemas
	type bounds struct {
		min, max float64
	}
	for place, want := range map[string]bounds{
		"CreateServiceAccountBody.name":  {1, 120},
		"CreateMasterPasswordBody.name":  {1, 100},
		"CreateMasterPasswordBody.value": {4, 256},
		"RenameMasterPasswordBody.name":  {1, 100},
		"CreateMailboxBody.local_part":   {1, 64},
		"CreateMailboxBody.first_name":   {1, 100},
		"CreateMailboxBody.last_name":    {1, 100},
		"UpdateMailboxBody.first_name":   {1, 100},
		"UpdateMailboxBody.last_name":    {1, 100},
		"CreateMailboxesBody.items":      {1, 1000},
		"PurchaseDomainsBody.domains":    {1, 100},
		"ContactInfo.country":            {2, 2},
		"ContactInfo.address_1":          {1, 255},
		"ContactInfo.organization":       {1, 255},
		"CreateDNSRecordBody.ttl":        {60, 86400},
		"CreateDNSRecordBody.prio":       {0, 65535},
		"UpdateDNSRecordBody.ttl":        {60, 86400},
	} {
		name, field, _ := strings.Cut(place, ".")
		s := schemas[name].Value.Properties[field].Value
		var got bounds
		switch {
		case s.Type.Includes("string"):
			got = bounds{float64(s.MinLength), float64(*s.MaxLength)}
		case s.Type.Includes("array"):
			got = bounds{float64(s.MinItems), float64(*s.MaxItems)}
		default:
			got = bounds{*s.Min, *s.Max}
		}
		if got != want {
			t.Errorf("%s has the bounds %v; want %v", place, got, want)
		}
	}
}
