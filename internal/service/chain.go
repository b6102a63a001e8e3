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
// implements all methods except Create, and overrides some of them. [Chain] calls no other method
// of a kind: Schema, ValidateConfig and the like are Resource's, with the kind's [Definition].
type Methods[T any, M fmt.Stringer] interface {
	// ModifyPlan completes a plan, and warns of problems other than losses. A null plan or state is passed as an empty model.
	// After an error the later steps still record the plan.
	ModifyPlan(ctx context.Context, plan, state M, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse)
	// Create creates or adopts the object, and puts it into the state with [Resource.SetCreated] as
	// soon as it exists.
	Create(ctx context.Context, c *client.Client, plan M, req resource.CreateRequest, resp *resource.CreateResponse)
	// Read sets the state from the API, and returns the client's error. Chain then drops a missing
	// object from the state, and keeps the state of an object that the API can't read.
	Read(ctx context.Context, c *client.Client, state *M, req resource.ReadRequest, resp *resource.ReadResponse) error
	Update(ctx context.Context, c *client.Client, plan, state M, req resource.UpdateRequest, resp *resource.UpdateResponse)
	// Delete deletes the object, and returns the client's error. Chain warns if the API can't delete it.
	Delete(ctx context.Context, c *client.Client, state M, req resource.DeleteRequest, resp *resource.DeleteResponse) error
	ImportState(context.Context, resource.ImportStateRequest, *resource.ImportStateResponse)

	base() *Resource[T, M]
}

// Chain returns the framework's resource for a kind's own methods. Each call goes through the steps of
// its method below, from top to bottom, like a request through the middleware of net/http; m.own is
// the kind. The steps are implemented and explained in state_account.go (the account), plan.go (the plan),
// loss.go (losses), walk.go (the walk), and in package report (connection errors).
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
		// Core plans a create once more in the apply, and reports a bug of the provider if the plans differ.
		// Therefore a repeated connection error is shortened and not dropped.
		report.ShortenRepeated(&resp.Diagnostics)
		return
	}
	m.planChange(ctx, req, resp)
	if req.Plan.Raw.IsNull() && m.Walk().IsApply() {
		// After a create with create_before_destroy, core plans the destruction of the old object again. The
		// plan of the replacement has warned of it.
		resp.Diagnostics = resp.Diagnostics.Errors()
	}
	report.DropRepeated(&resp.Diagnostics)
}

// planCreate plans an object that the state lacks: a create, an adoption, a tainted object, or the second
// plan of a replacement.
func (m *chain[T, M]) planCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !m.recordPlannedCreate(ctx, req, resp) { // before any request, so that other plans know of the create
		return
	}
	if !m.checkCredential(ctx, &resp.Diagnostics) {
		return
	}
	m.planOwn(ctx, req, resp)
	m.reportLosses(ctx, req, resp)
	m.planValues(ctx, &resp.Plan, &resp.Diagnostics)
	m.recordLookup(ctx, req, resp)
}

// planChange plans an object of the state: an update, a destroy, or the first plan of a replacement.
func (m *chain[T, M]) planChange(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !m.checkStateAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	m.keepComputed(req, resp)
	m.planReplacement(ctx, req, resp)
	DropEmptyUpdate(req, resp)
	m.planOwn(ctx, req, resp)
	m.reportLosses(ctx, req, resp)
	m.recordChange(ctx, req, resp)
}

func (m *chain[T, M]) planOwn(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	plan, state := m.models(ctx, resp.Plan, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	// A plan that keeps the object in its domain needs no lookup. A set and a zone, kinds without data
	// sources, look up their domain themselves.
	if ref := attribute.TextOf(resp.Plan.Raw, "domain"); m.Names != "" && ref != attribute.TextOf(req.State.Raw, "domain") {
		m.WarnMissingDomain(ctx, ref, &resp.Diagnostics)
	}
	m.own.ModifyPlan(ctx, plan, state, req, resp)
}

func (m *chain[T, M]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer report.ShortenRepeated(&resp.Diagnostics)
	ctx, cancel := m.withTimeout(ctx, req.Plan, &resp.Diagnostics)
	defer cancel()
	plan, _ := m.models(ctx, req.Plan, tfsdk.State{}, &resp.Diagnostics)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	m.own.Create(ctx, c, plan, req, resp)

	if !m.recordAcquired(ctx, req, resp) {
		return
	}
	m.keepPlanned(req.Plan, &resp.State, resp.Diagnostics)
	if resp.State.Raw.IsFullyKnown() { // a partly created set leaves unknown values
		m.storeAccount(ctx, resp.Private, &resp.Diagnostics)
	}
}

func (m *chain[T, M]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer report.DropRepeated(&resp.Diagnostics)
	// Core refuses a result without identity, so take the state's account if the account can't be opened.
	known := accountOf(ctx, req.Identity, req.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, known.ID, attribute.TextOf(req.State.Raw, "id"))...)
	if !m.checkStateAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	ctx = m.ForRefresh(ctx)
	m.ownWalk().Reading(m.object(req.State.Raw))
	_, state := m.models(ctx, tfsdk.Plan{}, req.State, &resp.Diagnostics)
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
		m.storeAccount(ctx, resp.Private, &resp.Diagnostics)
	}
}

func (m *chain[T, M]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer report.ShortenRepeated(&resp.Diagnostics)
	if !m.checkStateAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	plan, state := m.models(ctx, req.Plan, req.State, &resp.Diagnostics)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute.TextOf(req.State.Raw, "id"))...)

	m.own.Update(ctx, c, plan, state, req, resp)

	m.keepPlanned(req.Plan, &resp.State, resp.Diagnostics)
	m.storeAccount(ctx, resp.Private, &resp.Diagnostics)
}

func (m *chain[T, M]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer report.ShortenRepeated(&resp.Diagnostics)
	if !m.checkStateAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	if !m.mayDelete(ctx, req, resp) {
		return
	}
	_, state := m.models(ctx, tfsdk.Plan{}, req.State, &resp.Diagnostics)
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

	m.recordDropped(req, resp.Diagnostics)
}

func (m *chain[T, M]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer report.ShortenRepeated(&resp.Diagnostics)

	m.own.ImportState(m.ForPlan(ctx), req, resp)

	if !resp.Diagnostics.HasError() {
		m.storeAccount(ctx, resp.Private, &resp.Diagnostics)
	}
}
