package mailboxset

import (
	"context"
	"fmt"

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
// entry of mailboxes.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var mailboxes types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("mailboxes"), &mailboxes)...)
	entries := map[string]entry{}
	decode(mailboxes, &entries, &resp.Diagnostics)
	limits := map[string]api.Limits{"first_name": api.LimitsOf[api.CreateMailboxBody]("first_name"), "last_name": api.LimitsOf[api.CreateMailboxBody]("last_name")}
	byLocalPart := make(map[string]string, len(entries))
	for _, key := range sortedKeys(entries) {
		canonical, err := emailaddr.ParseLocalPart(key)
		if err != nil {
			invalid(&resp.Diagnostics, at(key), "Invalid key of mailboxes", err.Error())
		} else if other, ok := byLocalPart[canonical]; ok {
			invalid(&resp.Diagnostics, at(key), "Two keys of mailboxes are the same address",
				fmt.Sprintf("upper and lower case are the same in an address, so that %q and %q are one mailbox; remove one of them", other, key))
		}
		byLocalPart[canonical] = key
		e := entries[key]
		for _, field := range []struct {
			name  string
			value compact.Text
		}{{"first_name", e.FirstName}, {"last_name", e.LastName}} {
			if field.value.Unknown {
				continue
			}
			if err := limits[field.name].Check(field.value.Value); err != nil {
				invalid(&resp.Diagnostics, at(key).AtName(field.name), "Invalid "+field.name, err.Error())
			}
		}
	}
}

// invalid adds an error with the path in its text, because older CLIs show the first line
// of the resource in place of the path.
func invalid(diags *diag.Diagnostics, at path.Path, summary, reason string) {
	diags.AddAttributeError(at, summary, at.String()+": "+reason+".")
}
