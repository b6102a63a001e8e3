package dnszone

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type Resource struct {
	service.Resource[api.Domain, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.Domain, model]{Definition: Definition}})
}

// Create returns no state after an error, see the package comment.
func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	ctx, cancel := service.WithTimeout(ctx, plan.Timeouts.Create, defaultTimeout, &resp.Diagnostics)
	defer cancel()
	z, err := lookUp(ctx, c, plan.Domain.ValueString())
	if client.IsNotFound(err) {
		err = report.WithAdvice(err, report.MissingDomainAdvice)
	}
	if err != nil {
		report.Error(&resp.Diagnostics, err, "Can't look up the domain of the "+plan.String(), nil)
		return
	}
	if advice := service.InactiveDomainAdvice(ctx, c, z.id); advice != "" {
		resp.Diagnostics.AddError("Can't create the "+plan.String(), advice)
		return
	}
	plan.setDomain(z.id, z.name)
	if check(entriesOf(plan.Records, z.name), plan.Ignore, z.name, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	isTakenOver := plan.Purged.IsUnknown()
	actual, removed := z.apply(ctx, goal{want: plan.entries(), ignored: plan.ignored(), isRemovable: func(record) bool { return isTakenOver }}, &resp.Diagnostics)
	warnPurged(&resp.Diagnostics, z.name, removed)
	plan.Purged = purgedList(removed)
	if resp.Diagnostics.HasError() {
		resp.Diagnostics.AddWarning("The zone of "+z.name+" is not in the state yet",
			"Not everything succeeded. What was done stays in the domain. Run apply again: it keeps that and does the rest.")
		return
	}
	plan.Records = withActualTTLs(plan.Records, actual, plan.entries())
	r.SetCreated(ctx, resp, c, &plan)
}

func (m model) isPurged(r record) bool {
	line := types.StringValue(r.String())
	return slices.ContainsFunc(m.Purged.Elements(), line.Equal)
}

// Read leaves the state as it is if the API can't list records.
func (r *Resource) Read(ctx context.Context, c *client.Client, state *model, req resource.ReadRequest, resp *resource.ReadResponse) error {
	z, err := lookUp(ctx, c, state.ID.ValueString())
	if err != nil {
		return err
	}
	has, err := z.read(ctx)
	_, _ = z.note(r.Notes(), func() (content, error) { return has, err }) // the plan needs no list of its own
	isImport := state.Records.IsNull()
	state.setDomain(z.id, z.name)
	if errors.Is(err, errUnreadable) && !isImport {
		return nil
	}
	if err != nil {
		return err
	}
	prior, actual := state.entries(), has.ttls(state.ignored())
	if !isImport {
		o := originOf(ctx, req.Private)
		before, isForeign := contents(prior), o.isForeign()
		var foreign, ignored []string
		for _, found := range sorted(has.records) {
			_, isKnown := before[found]
			if _, ok := actual[found]; !ok {
				ignored = append(ignored, found.String())
			} else if !isKnown || isForeign(found) {
				foreign = append(foreign, found.String())
			}
		}
		if !slices.Equal(foreign, o.Foreign) || !slices.Equal(ignored, o.Ignored) {
			o.Foreign, o.Ignored = foreign, ignored
			resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, originKey, o)...)
		}
	}
	state.Records = flatten(actual, prior...)
	return nil
}

func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	ctx, cancel := service.WithTimeout(ctx, plan.Timeouts.Update, defaultTimeout, &resp.Diagnostics)
	defer cancel()
	z := state.zone(c)
	entries, prior := plan.entries(), contents(state.entries())
	if check(entriesOf(plan.Records, z.name), plan.Ignore, z.name, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	mayPurge := !plan.Ignore.Equal(state.Ignore)
	if plan.Records.Equal(state.Records) && !mayPurge { // only settings of the resource change
		resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, originKey, origin{})...)
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		return
	}
	g := goal{want: entries, ignored: plan.ignored(), prior: prior, isRemovable: func(r record) bool {
		_, ok := prior[r]
		return ok || mayPurge && plan.isPurged(r)
	}}
	actual, _ := z.apply(ctx, g, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, originKey, origin{})...)
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		return
	}
	// The next plan contains the rest. The state keeps the prior ignore.
	ignored := state.ignored()
	maps.DeleteFunc(actual, func(r record, _ int64) bool { return ignored.match(r.recordKey) })
	state.Records = flatten(actual, slices.Concat(entries, state.entries())...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *Resource) Delete(ctx context.Context, c *client.Client, state model, req resource.DeleteRequest, resp *resource.DeleteResponse) error {
	ctx, cancel := service.WithTimeout(ctx, state.Timeouts.Delete, defaultTimeout, &resp.Diagnostics)
	defer cancel()
	z := state.zone(c)
	deleted, _ := destroyed(state, originOf(ctx, req.Private))
	has, err := z.read(ctx)
	if errors.Is(err, errUnreadable) {
		warnRemaining(&resp.Diagnostics, z, deleted)
		return nil
	}
	if err != nil {
		return err
	}
	run := &run{zone: z, actual: has.ttls(state.ignored())}
	run.all(ctx, changesOf(has.records, nil, func(r record) bool { return slices.Contains(deleted, r) }))
	resp.Diagnostics.Append(run.diags...)
	if resp.Diagnostics.HasError() {
		state.Records = flatten(run.actual, state.entries()...)
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
	return nil
}
