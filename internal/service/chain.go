package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// Methods are a kind's own part of each call of its resource. A kind embeds [Resource], which
// implements all of them but Create, and replaces those that it needs to.
type Methods[T any, M fmt.Stringer] interface {
	// ModifyPlan completes a plan. plan or state is without values if it is null.
	ModifyPlan(ctx context.Context, plan, state M, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse)
	// Create creates or adopts the object, and puts it into the state with [Resource.SetCreated] as
	// soon as it exists.
	Create(ctx context.Context, c *client.Client, plan M, req resource.CreateRequest, resp *resource.CreateResponse)
	// Read sets the state from the API. An object that is not found is dropped from the state, and
	// one that the API can't read stays as it is.
	Read(ctx context.Context, c *client.Client, state *M, req resource.ReadRequest, resp *resource.ReadResponse) error
	Update(ctx context.Context, c *client.Client, plan, state M, req resource.UpdateRequest, resp *resource.UpdateResponse)
	// Delete deletes the object. If the API can't, there is a warning.
	Delete(ctx context.Context, c *client.Client, state M, req resource.DeleteRequest, resp *resource.DeleteResponse) error
	ImportState(context.Context, resource.ImportStateRequest, *resource.ImportStateResponse)

	base() *Resource[T, M]
}

// Chain returns the framework's resource for a kind's own methods. Each call goes through the steps of
// its method below, from top to bottom, like a request through the middleware of net/http; m.own is
// the kind. The steps are explained where they are implemented: the account in account.go, the plan in
// plan.go, losses in loss.go, the walk in walk.go, and connection errors in the package report.
func Chain[T any, M fmt.Stringer](own Methods[T, M]) resource.Resource {
	return &chain[T, M]{own.base(), own}
}

type chain[T any, M fmt.Stringer] struct {
	*Resource[T, M]
	own Methods[T, M]
}

func (m *chain[T, M]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		m.planCreate(ctx, req, resp)
		// This may be the second plan of a replacement. If it differs from the first one, core reports
		// a bug of the provider, so that no error is dropped.
		report.Once(&resp.Diagnostics, false)
		return
	}
	m.planChange(ctx, req, resp)
	report.Once(&resp.Diagnostics, true)
}

// planCreate plans an object that the state lacks: a create, an adoption, a tainted object, or the second
// plan of a replacement.
func (m *chain[T, M]) planCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !m.checkAccess(ctx, &resp.Diagnostics) {
		return
	}
	if !m.recordCreate(ctx, req, resp) {
		return
	}
	m.planOwn(ctx, req, resp)
	m.planValues(ctx, &resp.Plan, &resp.Diagnostics)
	m.recordNew(ctx, req, resp)
}

// planChange plans an object of the state: an update, a destroy, or the first plan of a replacement.
func (m *chain[T, M]) planChange(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	m.keepComputed(req, resp)
	m.planReplacement(ctx, req, resp)
	DropEmptyUpdate(req, resp)
	m.planOwn(ctx, req, resp)
	m.warnOrphaned(ctx, req, resp)
	m.recordChange(ctx, req, resp)
}

func (m *chain[T, M]) planOwn(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	plan, state := Models[M](ctx, resp.Plan, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	// A plan that keeps the object in its domain looks nothing up, and a set and a zone do it themselves.
	if ref := attribute.TextOf(resp.Plan.Raw, "domain"); m.Names != "" && ref != attribute.TextOf(req.State.Raw, "domain") {
		m.WarnMissingDomain(ctx, ref, &resp.Diagnostics)
	}
	m.own.ModifyPlan(ctx, plan, state, req, resp)
}

func (m *chain[T, M]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer report.Once(&resp.Diagnostics, false)
	ctx, cancel := m.withTimeout(ctx, req.Plan, &resp.Diagnostics)
	defer cancel()
	plan, _ := Models[M](ctx, req.Plan, tfsdk.State{}, &resp.Diagnostics)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	m.own.Create(ctx, c, plan, req, resp)

	if !m.recordCreated(ctx, req, resp) {
		return
	}
	m.keepPlanned(req.Plan, &resp.State, resp.Diagnostics)
	if resp.State.Raw.IsFullyKnown() {
		m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
	}
}

func (m *chain[T, M]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer report.Once(&resp.Diagnostics, true)
	// Without an identity, an error of the read would end as core's own error.
	known := accountOf(ctx, req.Identity, req.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, known.ID, attribute.TextOf(req.State.Raw, "id"))...)
	if !m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	ctx = m.ForRefresh(ctx)
	_, state := Models[M](ctx, tfsdk.Plan{}, req.State, &resp.Diagnostics)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute.TextOf(req.State.Raw, "id"))...)

	switch err := m.own.Read(ctx, c, &state, req, resp); {
	case err == nil:
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	case client.IsNotFound(err):
		resp.State.RemoveResource(ctx)
	case errors.Is(err, client.ErrReadUnsupported) && hasOnlyID(req.State.Raw):
		m.addNoImport(&resp.Diagnostics, attribute.TextOf(req.State.Raw, "id"))
	case errors.Is(err, client.ErrReadUnsupported):
	default:
		report.Error(&resp.Diagnostics, err, "Can't read the "+state.String(), nil)
	}

	m.recordRead(ctx, req, resp)
	if !resp.Diagnostics.HasError() && !resp.State.Raw.IsNull() {
		m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
	}
}

func (m *chain[T, M]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer report.Once(&resp.Diagnostics, false)
	if !m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	plan, state := Models[M](ctx, req.Plan, req.State, &resp.Diagnostics)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute.TextOf(req.State.Raw, "id"))...)

	m.own.Update(ctx, c, plan, state, req, resp)

	m.keepPlanned(req.Plan, &resp.State, resp.Diagnostics)
	m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
}

func (m *chain[T, M]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer report.Once(&resp.Diagnostics, false)
	if !m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	if !m.mayDelete(ctx, req, &resp.Diagnostics) {
		return
	}
	_, state := Models[M](ctx, tfsdk.Plan{}, req.State, &resp.Diagnostics)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	switch err := m.own.Delete(ctx, c, state, req, resp); {
	case err == nil || client.IsNotFound(err):
	case errors.Is(err, client.ErrDeleteUnsupported):
		m.warnOrphan(ctx, c, req.State.Raw, state, &resp.Diagnostics)
	default:
		report.Error(&resp.Diagnostics, err, "Can't "+cmp.Or(m.DeleteVerb, "delete")+" the "+state.String(), nil)
	}

	m.recordDeleted(req, resp.Diagnostics)
}

func (m *chain[T, M]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer report.Once(&resp.Diagnostics, false)

	m.own.ImportState(m.ForPlan(ctx), req, resp)

	if !resp.Diagnostics.HasError() {
		m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
	}
}
