// Package account provides the data sources and actions for the account as a whole: mailhost_account,
// mailhost_authorizations, mailhost_cancel_plan, mailhost_change_plan and mailhost_submit_feedback.
//
// The actions on the plan cost or save money, so each requires the id of its account, shows its effect
// in the plan, reads the account before the request, and never retries the request.
package account

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

func NewDataSource() datasource.DataSource {
	return service.NewDataSource("account", schema.Schema{
		MarkdownDescription: "The account that the provider manages, with its workspaces. An API with the published operations only can't read the account: " +
			"then only the ids are set, the other attributes are null, and there is a warning.",
		Attributes: attribute.ReadOnly[account]("account"),
	}, read)
}

// account holds the values of the data source.
type account struct {
	api.Account

	Workspaces []api.Workspace `json:"workspaces" doc:"Workspaces of the account, which group its domains; the oldest first"`
}

func read(ctx context.Context, c *client.Client, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	own, err := c.GetAccount(ctx)
	switch {
	case client.IsUnsupported(err):
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), c.AccountID())...)
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("default_workspace_id"), api.DefaultWorkspaceID(c.AccountID()))...)
		resp.Diagnostics.AddWarning("The account "+c.AccountID()+" can't be read",
			"This API has no operation that reads the account or lists its workspaces. data.mailhost_account has id and default_workspace_id; everything else is null. Do not depend on the other attributes with this API.")
		return
	case err != nil:
		report.Error(&resp.Diagnostics, err, "Can't read the account "+c.AccountID(), nil)
		return
	}
	a := account{Account: *own}
	for w, err := range c.ListWorkspaces(ctx) {
		if err != nil {
			report.Error(&resp.Diagnostics, err, "Can't list the workspaces of the account "+c.AccountID(), nil)
			return
		}
		a.Workspaces = append(a.Workspaces, w)
	}
	resp.Diagnostics.Append(attribute.SetState(ctx, &resp.State, a)...)
}
