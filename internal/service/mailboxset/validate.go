package mailboxset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
)

func at(key string) path.Path { return path.Root("mailboxes").AtMapKey(key) }

// ValidateConfig implements resource.ResourceWithValidateConfig: it reports every invalid
// entry of mailboxes. It also checks the type, because to Terraform mailboxes has none.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var mailboxes types.String
	diags := &resp.Diagnostics
	diags.Append(req.Config.GetAttribute(ctx, mailboxesPath, &mailboxes)...)
	entries, err := compact.Decode[map[string]json.RawMessage](mailboxes)
	if err != nil {
		invalid(diags, mailboxesPath, "Invalid mailboxes", "must be a map from the part of each address before the @ to "+entryForm)
		return
	}
	byLocalPart, ignored := make(map[string]string, len(entries)), map[string]bool{}
	for _, key := range sortedKeys(entries) {
		canonical, err := emailaddr.ParseLocalPart(key)
		if err != nil {
			invalid(diags, at(key), "Invalid key of mailboxes", err.Error())
		} else if other, ok := byLocalPart[canonical]; ok {
			invalid(diags, at(key), "Two keys of mailboxes are the same address",
				fmt.Sprintf("upper and lower case are the same in an address, so that %q and %q are one mailbox; remove one of them", other, key))
		}
		byLocalPart[canonical] = key
		checkEntry(diags, key, entries[key], ignored)
	}
	if len(ignored) > 0 {
		diags.AddAttributeWarning(mailboxesPath, "Attributes of mailboxes without a use",
			"A mailbox has first_name and last_name. These attributes of the entries are ignored, but Terraform stores them in its state: "+strings.Join(sortedKeys(ignored), ", ")+
				". Leave them out of the entries.")
	}
}

const entryForm = "an object with the strings first_name and last_name"

// checkEntry checks an entry, and adds the names of attributes that have no use.
func checkEntry(diags *diag.Diagnostics, key string, data json.RawMessage, ignored map[string]bool) {
	var e entry
	if err := json.Unmarshal(data, &e); err != nil || string(data) == "null" {
		invalid(diags, at(key), "Invalid entry of mailboxes", "must be "+entryForm)
		return
	}
	if compact.IsUnknown(data) {
		return
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // decoded above
	for name := range fields {
		if name != "first_name" && name != "last_name" {
			ignored[name] = true
		}
	}
	for _, field := range []struct {
		name   string
		value  compact.Text
		limits api.Limits
	}{{"first_name", e.FirstName, firstNameLimits}, {"last_name", e.LastName, lastNameLimits}} {
		switch {
		case field.value.Unknown:
		case field.value.Null:
			invalid(diags, at(key).AtName(field.name), "Missing "+field.name, "is required")
		default:
			if err := field.limits.Check(field.value.Value); err != nil {
				invalid(diags, at(key).AtName(field.name), "Invalid "+field.name, err.Error())
			}
		}
	}
}

var (
	firstNameLimits = api.LimitsOf[api.CreateMailboxBody]("first_name")
	lastNameLimits  = api.LimitsOf[api.CreateMailboxBody]("last_name")
)

// invalid adds an error with the path in its text, because older CLIs show the first line
// of the resource in place of the path.
func invalid(diags *diag.Diagnostics, at path.Path, summary, reason string) {
	diags.AddAttributeError(at, summary, at.String()+": "+reason+".")
}
