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

// DataSource is data.mailhost_account.
type DataSource struct{ service.DataSource }

var _ datasource.DataSourceWithConfigure = (*DataSource)(nil)

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &DataSource{} }

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

// Metadata implements datasource.DataSource.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_account"
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The account that the provider manages, with its workspaces. An API that has the published operations only tells nothing of the account: " +
			"then the ids are known, the rest is null, and a warning says so.",
		Attributes: map[string]schema.Attribute{
			"id":                   schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the account."},
			"status":               schema.StringAttribute{Computed: true, MarkdownDescription: "State of the account: active, pending_cancellation or cancelled."},
			"plan_id":              schema.StringAttribute{Computed: true, MarkdownDescription: "Plan of the account."},
			"default_workspace_id": schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the workspace that the account was born with."},
			"cancels_at":           schema.StringAttribute{Computed: true, MarkdownDescription: "When a pending cancellation takes effect (RFC 3339); null without one."},
			"created_at":           schema.StringAttribute{Computed: true, MarkdownDescription: "When the account was created (RFC 3339)."},
			"updated_at":           schema.StringAttribute{Computed: true, MarkdownDescription: "When the account was last changed (RFC 3339)."},
			"workspaces": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Workspaces of the account, into which its domains are sorted; the oldest first.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id":   schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the workspace."},
					"name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the workspace."},
				}},
			},
		},
	}
}

// Read implements datasource.DataSource.
func (d *DataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	c := d.Client(ctx, &resp.Diagnostics)
	if c == nil {
		return
	}
	m := model{ID: types.StringValue(c.AccountID()), DefaultWorkspaceID: types.StringValue(api.DefaultWorkspaceID(c.AccountID()))}
	account, err := c.GetAccount(ctx)
	switch {
	case client.IsUnsupported(err):
		resp.Diagnostics.AddWarning("The account can't be read",
			"This API has no operation that reads the account or lists its workspaces. data.mailhost_account knows id and default_workspace_id; everything else is null.")
	case err != nil:
		service.AddError(&resp.Diagnostics, err, "Can't read the account "+c.AccountID(), nil)
		return
	default:
		m.fill(account)
		if err := m.list(ctx, c); err != nil {
			service.AddError(&resp.Diagnostics, err, "Can't list the workspaces of the account "+c.AccountID(), nil)
			return
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// list takes over the account's workspaces, each of them once.
func (m *model) list(ctx context.Context, c *client.Client) error {
	m.Workspaces = []workspaceModel{}
	for w, err := range c.ListWorkspaces(ctx) {
		if err != nil {
			return err
		}
		m.Workspaces = append(m.Workspaces, workspaceModel{ID: types.StringValue(w.ID), Name: types.StringValue(w.Name)})
	}
	return nil
}

func (m *model) fill(a *api.Account) {
	m.Status = types.StringValue(a.Status)
	m.PlanID = types.StringValue(a.PlanID)
	m.DefaultWorkspaceID = types.StringValue(a.DefaultWorkspaceID)
	m.CancelsAt = types.StringPointerValue(a.CancelsAt)
	m.CreatedAt = types.StringValue(a.CreatedAt)
	m.UpdatedAt = types.StringValue(a.UpdatedAt)
}
