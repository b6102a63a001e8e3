package mailboxset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

type Resource struct {
	service.Resource[api.Domain, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.Domain, model]{Definition: Definition}})
}

// Read reads the domain's list of mailboxes, and the domain only if the list is empty.
func (r *Resource) Read(ctx context.Context, c *client.Client, state *model, req resource.ReadRequest, resp *resource.ReadResponse) error {
	id := state.ID.ValueString()
	l, err := list(ctx, c, id)
	if err != nil {
		return err
	}
	d := &api.Domain{ID: id}
	if m := l.any(); m != nil {
		d.Name = m.DomainName
	} else if d, err = c.Domains.Get(ctx, id); err != nil {
		return err
	}
	r.Notes().Store(refreshed{id}, l)
	now := r.refresh(state, l, &resp.Diagnostics)
	state.set(now)
	state.setDomain(d)
	for _, o := range state.objects(now.sorted()) {
		r.Walk().Refreshed(o)
	}
	return nil
}

// refresh returns the current contents of a state. A state without mailboxes was just imported:
// it receives all mailboxes of the domain.
func (r *Resource) refresh(state *model, l listing, diags *diag.Diagnostics) *contents {
	if state.Mailboxes.IsNull() {
		return l.contents()
	}
	now := &contents{items: map[string]item{}}
	for _, i := range state.contents(diags).items {
		if m := l.of(i); m != nil {
			e := entryOf(m)
			if e.same(i.entry) {
				e = i.entry // the API may have trimmed the names
			}
			now.put(itemOf(i.key, e, m))
		}
	}
	now.unmanaged = l.without(now)
	return now
}

// Create adds warnings in place of errors if only a part fails, see [compact.Type].
func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	want := plan.contents(&resp.Diagnostics)
	l, err := r.listed(ctx, c, plan.Domain.ValueString())
	if err != nil {
		report.Error(&resp.Diagnostics, err, "Can't create the "+plan.String(), nil)
		return
	}
	existing, missing := l.existing(want.sorted())
	if len(existing) > 0 && !service.Adopts(plan.OnExisting) {
		addExisting(&resp.Diagnostics, existing, true)
		return
	}
	a := &apply{client: c, walk: r.Walk(), domain: plan.Domain.ValueString(), result: &contents{items: map[string]item{}}, known: l.any()}
	a.adopt(ctx, existing)
	a.create(ctx, missing)
	service.ConfirmTargets(ctx, c, a.walk, a.created, &resp.Diagnostics)
	if len(a.failures) > 0 && len(a.result.items) == 0 {
		addFailures(&resp.Diagnostics, a.failures, false)
		return
	}
	d, err := a.domainOf(ctx)
	if client.IsNotFound(err) {
		err = report.WithAdvice(err, report.MissingDomainAdvice)
	}
	if err != nil {
		addFailures(&resp.Diagnostics, a.failures, false)
		report.Error(&resp.Diagnostics, err, "Can't create the "+plan.String(), nil)
		return
	}
	plan.ID, plan.DomainName = types.StringValue(d.ID), types.StringValue(d.Name)
	a.result.unmanaged = l.without(a.result)
	plan.set(a.result)
	r.SetCreated(ctx, resp, c, &plan)
	if len(a.failures) > 0 {
		warnIncomplete(&resp.Diagnostics, plan, len(a.failures), len(want.items))
		addFailures(&resp.Diagnostics, a.failures, true)
	}
}

// listed returns the listing that the plan of this create just read, or reads a new one.
func (r *Resource) listed(ctx context.Context, c *client.Client, domain string) (listing, error) {
	if l, ok := r.Notes().LoadAndDelete(planned{domain}); ok {
		return l.(listing), nil
	}
	return list(ctx, c, domain)
}

// Update deletes only mailboxes that the state contains and the plan lacks. The state keeps the prior
// value of a failed change, so that the next plan contains the change again.
func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	diags := &resp.Diagnostics
	prior, want := state.contents(diags), plan.contents(diags)
	imported := service.GetPrivate[bool](ctx, req.Private, importedKey)
	added, removed, kept := changesOf(prior, want)
	var l listing
	if len(added)+len(removed) > 0 {
		var err error
		if l, err = list(ctx, c, state.ID.ValueString()); err != nil {
			report.Error(diags, err, "Can't update the "+state.String(), nil)
			return
		}
	}
	a := &apply{client: c, walk: r.Walk(), domain: state.ID.ValueString(), result: &contents{items: map[string]item{}, unmanaged: want.unmanaged}}
	deleted, _, _ := plan.retirement(removed, imported)
	a.delete(ctx, deleted, l)
	a.rename(ctx, prior, kept)
	existing, missing := l.existing(added)
	if service.Adopts(plan.OnExisting) {
		a.adopt(ctx, existing)
	} else {
		for _, e := range existing {
			a.fail(e.item, "Can't create the mailbox "+e.mailbox.PrimaryEmail, report.WithAdvice(fmt.Errorf("it exists with the id %s, and this set does not manage it", e.mailbox.ID), adoptAdvice))
		}
	}
	a.create(ctx, missing)
	service.ConfirmTargets(ctx, c, a.walk, a.created, diags)
	plan.set(a.result)
	diags.Append(resp.State.Set(ctx, &plan)...)
	addFailures(diags, a.failures, false)
	warnRemaining(diags, state, slices.Sorted(slices.Values(a.remaining)))
	if resp.Private != nil {
		diags.Append(resp.Private.SetKey(ctx, importedKey, nil)...)
	}
}

func (r *Resource) Delete(ctx context.Context, c *client.Client, state model, req resource.DeleteRequest, resp *resource.DeleteResponse) error {
	prior := state.contents(&resp.Diagnostics)
	deleted, unnamed, _ := state.retirement(prior.sorted(), false)
	if int64(len(unnamed)) > state.MaxDeletions.ValueInt64() && canDelete(ctx, c, deleted) {
		service.AddLosses(&resp.Diagnostics, state.deletion(deleted, unnamed, state.MaxDeletions, keepBefore, destroyRefused))
		return nil
	}
	l, err := list(ctx, c, state.ID.ValueString())
	if err != nil {
		return err
	}
	a := &apply{client: c, walk: r.Walk(), domain: state.ID.ValueString(), result: &contents{items: map[string]item{}, unmanaged: prior.unmanaged}}
	a.delete(ctx, deleted, l)
	addFailures(&resp.Diagnostics, a.failures, false)
	warnRemaining(&resp.Diagnostics, state, slices.Sorted(slices.Values(a.remaining)))
	if len(a.failures) > 0 {
		state.set(a.result)
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
	return nil
}

const adoptAdvice = `To manage the mailbox with this set, set on_existing = "adopt" and run apply again. Otherwise, or if the address is an alias of another mailbox, remove its entry, or choose another key.`

// apply is one create, update or delete of a set.
type apply struct {
	client *client.Client
	walk   *session.Walk
	domain string
	known  *api.Mailbox
	// created contains the addresses of the new mailboxes.
	created []string

	mu        sync.Mutex // guards the fields below
	result    *contents
	failures  []failure
	remaining []string // addresses of mailboxes that the API can't delete
}

func (a *apply) locked(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *apply) fail(i item, summary string, err error) {
	a.locked(func() { a.failures = append(a.failures, failure{i.key, summary, err}) })
}

func (a *apply) put(i item) { a.locked(func() { a.result.put(i) }) }

// acquire registers a mailbox of the set in the walk. It fails if another resource manages it.
func (a *apply) acquire(id string) error {
	if a.walk.Acquire(object(id)) == session.NoConflict {
		return nil
	}
	return report.WithAdvice(errors.New("another resource of this run manages it, id "+id), "Remove one of the two.")
}

func (a *apply) create(ctx context.Context, missing []item) {
	items := make([]api.NewMailboxItem, len(missing))
	for n, i := range missing {
		items[n] = api.NewMailboxItem{LocalPart: i.key, FirstName: i.entry.FirstName.Value, LastName: i.entry.LastName.Value}
	}
	for n, outcome := range a.client.CreateMailboxes(ctx, a.domain, items) {
		i, err := missing[n], outcome.Err
		switch {
		case isExisting(err):
			err = report.WithAdvice(err, adoptAdvice)
		case err != nil:
			err = report.WithTimeoutAdvice(ctx, err)
		default:
			err = a.acquire(outcome.Mailbox.ID)
		}
		if err != nil {
			a.fail(i, "Can't create the mailbox "+cmp.Or(i.address.Value, i.key+"@"+a.domain), err)
			continue
		}
		a.known, a.created = outcome.Mailbox, append(a.created, outcome.Mailbox.PrimaryEmail)
		a.put(itemOf(i.key, i.entry, outcome.Mailbox))
	}
}

func isExisting(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && len(refused.Problems) > 0 && refused.Problems[0].Type == api.BulkAlreadyExists
}

func (a *apply) adopt(ctx context.Context, existing []match) {
	client.Parallel(a.client, existing, func(e match) {
		m := e.mailbox
		if err := a.acquire(m.ID); err != nil {
			a.fail(e.item, "Can't adopt the mailbox "+m.PrimaryEmail, err)
			return
		}
		adopted := itemOf(e.key, e.entry, m)
		if err := a.setNames(ctx, adopted, entryOf(m)); err != nil {
			// The set manages the mailbox from now on, and the next plan changes the names.
			a.fail(adopted, "Can't set the names of the mailbox "+m.PrimaryEmail, err)
			adopted.entry = entryOf(m)
		}
		a.put(adopted)
	})
}

// setNames changes the names of a mailbox if they differ.
func (a *apply) setNames(ctx context.Context, i item, from entry) error {
	if i.entry.same(from) {
		return nil
	}
	_, err := a.client.UpdateMailbox(ctx, i.id.Value, api.UpdateMailboxBody{FirstName: &i.entry.FirstName.Value, LastName: &i.entry.LastName.Value})
	return err
}

// rename changes the names of mailboxes of the set. After a failure, the result contains the
// names of the state.
func (a *apply) rename(ctx context.Context, prior *contents, kept []item) {
	client.Parallel(a.client, kept, func(i item) {
		before := prior.items[i.localPart()].entry
		if err := a.setNames(ctx, i, before); err != nil {
			a.fail(i, "Can't update the mailbox "+i.address.Value, err)
			i.entry = before
		}
		a.put(i)
	})
}

// delete deletes mailboxes of the state that still have the address of their key. After a
// failure, the mailbox stays in the result.
func (a *apply) delete(ctx context.Context, deleted []item, l listing) {
	client.Parallel(a.client, deleted, func(i item) {
		if l.of(i) == nil {
			return // the mailbox is gone, or its address changed
		}
		var err error
		if a.walk.IsAcquired(object(i.id.Value)) {
			err = errors.New("this run has just adopted it for another resource")
		} else {
			err = a.client.Mailboxes.Delete(ctx, i.id.Value)
		}
		switch {
		case err == nil || client.IsNotFound(err):
			a.walk.Gone(object(i.id.Value))
		case errors.Is(err, client.ErrDeleteUnsupported):
			a.locked(func() { a.remaining = append(a.remaining, i.address.Value) })
		default:
			a.fail(i, "Can't delete the mailbox "+i.address.Value, err)
			a.put(i)
		}
	})
}

func (a *apply) domainOf(ctx context.Context) (*api.Domain, error) {
	if m := a.known; m != nil && m.DomainID != "" {
		return &api.Domain{ID: m.DomainID, Name: m.DomainName}, nil
	}
	return a.client.Domains.Get(ctx, a.domain)
}
