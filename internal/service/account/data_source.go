// Package account has the data source mailhost_account.
package account

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

type model struct {
	ID                 types.String     `tfsdk:"id"`
	Status             types.String     `tfsdk:"status"`
	PlanID             types.String     `tfsdk:"plan_id"`
	DefaultWorkspaceID types.String     `tfsdk:"default_workspace_id"`
	CancelsAt          types.String     `tfsdk:"cancels_at"`
	CreatedAt          types.String     `tfsdk:"created_at"`
	UpdatedAt          types.String     `tfsdk:"updated_at"`
	Workspaces         []workspaceModel `tfsdk:"workspaces"`
}

type workspaceModel struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
}

func NewDataSource() datasource.DataSource {
	return service.NewDataSource("account", schema.Schema{
		MarkdownDescription: "The account that the provider manages, with its workspaces. An API with the published operations only can't read the account: " +
			"then only the ids are set, the other attributes are null, and there is a warning.",
		Attributes: map[string]schema.Attribute{
			"id":                   schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the account."},
			"status":               schema.StringAttribute{Computed: true, MarkdownDescription: "State of the account: active, pending_cancellation or cancelled."},
			"plan_id":              schema.StringAttribute{Computed: true, MarkdownDescription: "Plan of the account."},
			"default_workspace_id": schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the workspace that the account was created with."},
			"cancels_at":           schema.StringAttribute{Computed: true, MarkdownDescription: "When a pending cancellation takes effect (RFC 3339); null if none is pending."},
			"created_at":           schema.StringAttribute{Computed: true, MarkdownDescription: "When the account was created (RFC 3339)."},
			"updated_at":           schema.StringAttribute{Computed: true, MarkdownDescription: "When the account was last changed (RFC 3339)."},
			"workspaces": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Workspaces of the account, which group its domains; the oldest first.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id":   schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the workspace."},
					"name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the workspace."},
				}},
			},
		},
	}, read)
}

func read(ctx context.Context, c *client.Client, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	m := model{ID: types.StringValue(c.AccountID()), DefaultWorkspaceID: types.StringValue(api.DefaultWorkspaceID(c.AccountID()))}
	account, err := c.GetAccount(ctx)
	switch {
	case client.IsUnsupported(err):
		resp.Diagnostics.AddWarning("The account "+c.AccountID()+" can't be read",
			"This API has no operation that reads the account or lists its workspaces. data.mailhost_account has id and default_workspace_id; everything else is null. Do not depend on the other attributes with this API.")
	case err != nil:
		service.AddError(&resp.Diagnostics, err, "Can't read the account "+c.AccountID(), nil)
		return
	default:
		service.Flatten(&m, account)
		if err := m.readWorkspaces(ctx, c); err != nil {
			service.AddError(&resp.Diagnostics, err, "Can't list the workspaces of the account "+c.AccountID(), nil)
			return
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func (m *model) readWorkspaces(ctx context.Context, c *client.Client) error {
	m.Workspaces = []workspaceModel{}
	for w, err := range c.ListWorkspaces(ctx) {
		if err != nil {
			return err
		}
		m.Workspaces = append(m.Workspaces, workspaceModel{ID: types.StringValue(w.ID), Name: types.StringValue(w.Name)})
	}
	return nil
}
