package dnsrecord

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Resource is mailhost_dns_record.
type Resource struct {
	service.Resource[located, model]
}

var _ resource.ResourceWithValidateConfig = (*Resource)(nil)

// fields maps the request's fields to attributes of other names.
var fields = service.Fields{"prio": "priority"}

// NewResource returns the resource.
func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[located, model]{Definition: Definition}})
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, c := r.Planned(ctx, req, resp)
	if c == nil {
		return
	}
	in, err := zoneOf(ctx, c, plan.Domain.ValueString())
	if err != nil {
		service.AddError(&resp.Diagnostics, err, "Can't look up the domain of the "+plan.String(), nil)
		return
	}
	created, err := c.CreateDNSRecord(ctx, api.CreateDNSRecordBody{
		Domain: plan.Domain.ValueString(), Name: plan.Name.ValueString(), Type: plan.Type.ValueString(),
		Value: plan.Value.ValueString(), TTL: plan.TTL.ValueInt64Pointer(), Prio: plan.Priority.ValueInt64Pointer(),
	})
	if err == nil && created.IsSystemManaged {
		err = errSystemManaged // found by the lookup after a lost response
	}
	if service.Adopts(plan.OnExisting) && client.IsConflict(err) {
		existing, failure := r.adopt(ctx, c, err, plan, in)
		switch {
		case failure != nil:
			err = failure
		case existing != nil:
			created, err = existing, nil
		}
	}
	switch {
	case errors.Is(err, errSystemManaged):
		service.AddErrorWithAdvice(&resp.Diagnostics, err, "Can't create the "+plan.String(), fields, systemManagedAdvice)
		return
	case err != nil:
		service.AddCreateError(ctx, c, &resp.Diagnostics, err, plan, plan.Domain.ValueString(), fields,
			func() string { return conflictAdvice(ctx, c, plan, in) })
		return
	}
	plan.setZone(in)
	plan.flatten(created)
	r.SetCreated(ctx, resp, c, &plan)
}

// Read implements resource.Resource. An API that can't read records leaves the state
// as it is.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	r.ReadObject(ctx, req, resp, func(c *client.Client, state *model) error {
		id, err := parseID(state.ID.ValueString())
		if err != nil {
			return err
		}
		c.NoteRefreshedDNSRecord(id)
		record, err := c.GetDNSRecord(ctx, id)
		switch {
		case errors.Is(err, client.ErrReadUnsupported):
			return nil
		case err == nil:
			state.flatten(record)
		}
		return err
	})
}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, state, c := r.Changed(ctx, req, resp)
	if c == nil {
		return
	}
	id, err := parseID(state.ID.ValueString())
	if err != nil {
		resp.Diagnostics.AddError("Can't change the "+state.String(), err.Error())
		return
	}
	body := expandUpdate(plan, state)
	if body != (api.UpdateDNSRecordBody{}) {
		record, err := c.UpdateDNSRecord(ctx, id, body)
		if err != nil {
			addUpdateError(&resp.Diagnostics, err, state)
			return
		}
		updated := plan
		updated.flatten(record)
		// Somebody else may have changed them since the plan. The next refresh shows it.
		updated.Value, updated.TTL, updated.Priority = plan.Value, plan.TTL, plan.Priority
		plan = updated
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// expandUpdate returns the changes from the state to the plan.
func expandUpdate(plan, state model) api.UpdateDNSRecordBody {
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
