package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Resource is mailhost_dns_record.
type Resource struct{ service.Resource }

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
)

// fields are the request's fields that the attributes do not share.
var fields = service.Fields{"prio": "priority"}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Tracked(&Resource{}, service.Kind[model]{Label: func(m model) string { return m.String() }})
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_dns_record"
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	in, err := zoneOf(ctx, c, plan.Domain.ValueString())
	if err != nil {
		service.AddError(&resp.Diagnostics, err, fmt.Sprintf("Can't look up the domain of the %s", plan), nil)
		return
	}
	created, resumed, err := c.CreateDNSRecord(ctx, api.CreateDNSRecordBody{
		Domain: plan.Domain.ValueString(), Name: plan.Name.ValueString(), Type: plan.Type.ValueString(),
		Value: plan.Value.ValueString(), TTL: plan.TTL.ValueInt64Pointer(), Prio: plan.Priority.ValueInt64Pointer(),
	})
	if err == nil && created.IsSystemManaged {
		// What a look after a lost answer took for ours.
		err = errSystemManaged
	}
	if existing := adopt(ctx, c, err, plan); existing != nil {
		created, err = existing, nil
		addAdopted(&resp.Diagnostics, plan, existing.ID)
	}
	if err != nil {
		addCreateError(ctx, c, &resp.Diagnostics, err, plan, in)
		return
	}
	if resumed {
		service.AddResumed(&resp.Diagnostics, plan.String(), strconv.FormatInt(created.ID, 10))
	}
	plan.in(in)
	plan.fill(created)
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read implements resource.Resource.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	id, err := parseID(state.ID.ValueString())
	if err != nil {
		resp.Diagnostics.AddError("Can't read the "+state.String(), err.Error())
		return
	}
	c.NoteRefreshedDNSRecord(id)
	record, err := c.GetDNSRecord(ctx, id)
	switch {
	case errors.Is(err, client.ErrReadUnsupported): // what the state says is believed
	case client.IsNotFound(err):
		resp.State.RemoveResource(ctx)
	case err != nil:
		service.AddError(&resp.Diagnostics, err, "Can't read the "+state.String(), nil)
	default:
		state.fill(record)
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	id, err := parseID(state.ID.ValueString())
	if err != nil {
		resp.Diagnostics.AddError("Can't change the "+state.String(), err.Error())
		return
	}
	body := changes(plan, state)
	if body != (api.UpdateDNSRecordBody{}) {
		record, err := c.UpdateDNSRecord(ctx, id, body)
		if err != nil {
			addUpdateError(&resp.Diagnostics, err, state)
			return
		}
		plan.fill(record)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// changes returns what an update sends.
func changes(plan, state model) api.UpdateDNSRecordBody {
	number := func(plan, state types.Int64) *int64 {
		if plan.Equal(state) {
			return nil
		}
		return plan.ValueInt64Pointer()
	}
	return api.UpdateDNSRecordBody{
		Value: service.Changed(plan.Value.StringValue, state.Value.StringValue),
		TTL:   number(plan.TTL, state.TTL),
		Prio:  number(plan.Priority, state.Priority),
	}
}

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id, err := parseID(state.ID.ValueString())
	if err == nil {
		err = c.DeleteDNSRecord(ctx, id)
	}
	service.Deleted(ctx, req, resp, err, "delete", state.remains())
}
