package mailboxset

import (
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
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

type Resource struct {
	service.Resource[api.Domain, model]
}

func NewResource() resource.Resource {
	return service.Manage(&Resource{service.Resource[api.Domain, model]{Definition: Definition}})
}

// Read reads the domain's list, and the domain only if that is empty.
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
	for _, o := range state.objects(now) {
		r.Walk().Refreshed(o)
	}
	return nil
}

// refresh returns what a state is now. A state without mailboxes was just imported: it
// has all of the domain's.
func (r *Resource) refresh(state *model, l *listing, diags *diag.Diagnostics) *contents {
	if state.Mailboxes.IsNull() {
		return l.contents()
	}
	prior, now := state.contents(diags), newContents()
	for key, before := range prior.entries {
		if m := l.of(prior, key); m != nil {
			e := entryOf(m)
			if e.same(before) {
				e = before // the API may have trimmed the names
			}
			now.put(key, e, m.PrimaryEmail, m.ID)
		}
	}
	now.unmanaged = l.without(now)
	return now
}

// Create has warnings in place of errors if only a part fails, see [compact.Type].
func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	want := plan.contents(&resp.Diagnostics)
	l, err := r.listed(ctx, c, plan.Domain.ValueString())
	if err != nil {
		service.AddError(&resp.Diagnostics, err, "Can't create the "+plan.String(), nil)
		return
	}
	existing := l.existing(sortedKeys(want.entries))
	if len(existing) > 0 && !service.Adopts(plan.OnExisting) {
		addExisting(&resp.Diagnostics, existing, true)
		return
	}
	a := &apply{client: c, walk: r.Walk(), domain: plan.Domain.ValueString(), result: newContents(), known: l.any()}
	a.adopt(ctx, want, existing)
	a.create(ctx, want, without(sortedKeys(want.entries), existing))
	if len(a.failures) > 0 && len(a.result.entries) == 0 {
		addFailures(&resp.Diagnostics, a.failures, false)
		return
	}
	created := plan
	d, err := a.domainOf(ctx)
	if client.IsNotFound(err) {
		err = service.WithAdvice(err, service.MissingDomainAdvice)
	}
	if err != nil {
		addFailures(&resp.Diagnostics, a.failures, false)
		service.AddError(&resp.Diagnostics, err, "Can't create the "+plan.String(), nil)
		return
	}
	created.ID, created.DomainName = types.StringValue(d.ID), types.StringValue(d.Name)
	a.result.unmanaged = l.without(a.result)
	created.set(a.result)
	r.SetCreated(ctx, resp, c, &created)
	if len(a.failures) > 0 {
		warnIncomplete(&resp.Diagnostics, created, len(a.failures), len(want.entries))
		addFailures(&resp.Diagnostics, a.failures, true)
	}
}

// listed returns the listing that the plan of this call has just read, or reads it.
func (r *Resource) listed(ctx context.Context, c *client.Client, domain string) (*listing, error) {
	if l, ok := r.Notes().LoadAndDelete(planned{canonicalDomain(domain)}); ok {
		return l.(*listing), nil
	}
	return list(ctx, c, domain)
}

func without[T any](keys []string, m map[string]T) []string {
	var left []string
	for _, key := range keys {
		if _, ok := m[key]; !ok {
			left = append(left, key)
		}
	}
	return left
}

// Update deletes only what the state has and the plan lacks. What fails stays in the state as it
// was, so that the next plan has it again.
func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	diags := &resp.Diagnostics
	prior, want := state.contents(diags), plan.contents(diags)
	imported := service.GetPrivate[bool](ctx, req.Private, importedKey)
	ch := changesOf(prior, want)
	var l *listing
	if len(ch.added)+len(ch.removed) > 0 {
		var err error
		if l, err = list(ctx, c, state.ID.ValueString()); err != nil {
			service.AddError(diags, err, "Can't update the "+state.String(), nil)
			return
		}
	}
	a := &apply{client: c, walk: r.Walk(), domain: state.ID.ValueString(), result: newContents()}
	deleted, _ := plan.retirement(ch.removed, imported)
	a.delete(ctx, prior, deleted, l)
	for key, before := range ch.kept {
		a.result.keep(key, want.entries[key], prior, before)
	}
	a.rename(ctx, prior, want, ch)
	existing := l.existing(ch.added)
	if service.Adopts(plan.OnExisting) {
		a.adopt(ctx, want, existing)
	} else {
		for key, m := range existing {
			a.fail(key, "Can't create the mailbox "+m.PrimaryEmail, service.WithAdvice(fmt.Errorf("it exists with the id %s, and this set does not manage it", m.ID), adoptAdvice))
		}
	}
	a.create(ctx, want, without(ch.added, existing))
	updated := plan
	a.result.unmanaged = want.unmanaged
	updated.set(a.result)
	diags.Append(resp.State.Set(ctx, &updated)...)
	addFailures(diags, a.failures, false)
	warnRemaining(diags, state, slices.Sorted(slices.Values(a.remaining)))
	if resp.Private != nil {
		diags.Append(resp.Private.SetKey(ctx, importedKey, nil)...)
	}
}

func (r *Resource) Delete(ctx context.Context, c *client.Client, state model, req resource.DeleteRequest, resp *resource.DeleteResponse) error {
	prior := state.contents(&resp.Diagnostics)
	deleted, _ := state.retirement(sortedKeys(prior.entries), false)
	if unnamed := state.unnamed(deleted); r.deletes(ctx, prior, deleted) && int64(len(unnamed)) > state.MaxDeletions.ValueInt64() {
		addTooMany(&resp.Diagnostics, state, prior.addressList(unnamed), state.MaxDeletions.ValueInt64(), destroyRefused)
		return nil
	}
	l, err := list(ctx, c, state.ID.ValueString())
	if err != nil {
		return err
	}
	a := &apply{client: c, walk: r.Walk(), domain: state.ID.ValueString(), result: newContents()}
	a.delete(ctx, prior, deleted, l)
	addFailures(&resp.Diagnostics, a.failures, false)
	warnRemaining(&resp.Diagnostics, state, slices.Sorted(slices.Values(a.remaining)))
	if len(a.failures) > 0 {
		a.result.unmanaged = prior.unmanaged
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

	mu        sync.Mutex // guards what follows
	result    *contents
	failures  []failure
	remaining []string // addresses of mailboxes that the API can't delete
	known     *api.Mailbox
}

func (a *apply) locked(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *apply) fail(key, summary string, err error) {
	a.locked(func() { a.failures = append(a.failures, failure{key, summary, err}) })
}

func (a *apply) put(key string, e entry, m *api.Mailbox) {
	a.locked(func() {
		a.known = m
		a.result.put(key, e, m.PrimaryEmail, m.ID)
	})
}

// acquire records in the walk that the set has a mailbox, unless another resource has it.
func (a *apply) acquire(id string) error {
	if a.walk.Acquire(object(id)) == session.NoConflict {
		return nil
	}
	return service.WithAdvice(errors.New("another resource of this run manages it, id "+id), "Remove one of the two.")
}

func (a *apply) create(ctx context.Context, want *contents, keys []string) {
	items := make([]api.NewMailboxItem, len(keys))
	for i, key := range keys {
		e := want.entries[key]
		items[i] = api.NewMailboxItem{LocalPart: key, FirstName: e.FirstName.Value, LastName: e.LastName.Value}
	}
	for i, outcome := range a.client.CreateMailboxes(ctx, a.domain, items) {
		key := keys[i]
		summary := "Can't create the mailbox " + key + "@" + a.domain
		if address := want.addresses[key].Value; address != "" {
			summary = "Can't create the mailbox " + address
		}
		switch {
		case isExisting(outcome.Err):
			a.fail(key, summary, service.WithAdvice(outcome.Err, adoptAdvice))
			continue
		case outcome.Err != nil:
			a.fail(key, summary, service.CreateError(ctx, outcome.Err))
			continue
		}
		if err := a.acquire(outcome.Mailbox.ID); err != nil {
			a.fail(key, summary, err)
		} else {
			a.put(key, want.entries[key], outcome.Mailbox)
		}
	}
}

func isExisting(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && len(refused.Problems) > 0 && refused.Problems[0].Type == api.BulkAlreadyExists
}

func (a *apply) adopt(ctx context.Context, want *contents, existing map[string]*api.Mailbox) {
	client.Parallel(a.client, sortedKeys(existing), func(key string) {
		m, e := existing[key], want.entries[key]
		if err := a.acquire(m.ID); err != nil {
			a.fail(key, "Can't adopt the mailbox "+m.PrimaryEmail, err)
			return
		}
		if err := a.setNames(ctx, m.ID, e, entryOf(m)); err != nil {
			// It is the set's from now on, and the next plan has its names.
			a.fail(key, "Can't set the names of the mailbox "+m.PrimaryEmail, err)
			e = entryOf(m)
		}
		a.put(key, e, m)
	})
}

// setNames changes the names of a mailbox if they differ.
func (a *apply) setNames(ctx context.Context, id string, to, from entry) error {
	if to.same(from) {
		return nil
	}
	_, err := a.client.UpdateMailbox(ctx, id, api.UpdateMailboxBody{FirstName: &to.FirstName.Value, LastName: &to.LastName.Value})
	return err
}

// rename changes the names of mailboxes of the set. One that fails keeps the names of the
// state.
func (a *apply) rename(ctx context.Context, prior, want *contents, ch changes) {
	client.Parallel(a.client, sortedKeys(ch.kept), func(key string) {
		before := ch.kept[key]
		if err := a.setNames(ctx, prior.ids[before].Value, want.entries[key], prior.entries[before]); err != nil {
			a.fail(key, "Can't update the mailbox "+prior.addresses[before].Value, err)
			a.locked(func() { a.result.keep(key, prior.entries[before], prior, before) })
		}
	})
}

// delete deletes mailboxes of the state that still have the address of their key. One that
// fails stays in the result.
func (a *apply) delete(ctx context.Context, prior *contents, keys []string, l *listing) {
	client.Parallel(a.client, keys, func(key string) {
		id, address := prior.ids[key].Value, prior.addresses[key].Value
		if l.of(prior, key) == nil {
			return // it is gone, or has another address by now
		}
		var err error
		if a.walk.IsAcquired(object(id)) {
			err = errors.New("this run has just adopted it for another resource")
		} else {
			err = a.client.Mailboxes.Delete(ctx, id)
		}
		switch {
		case err == nil || client.IsNotFound(err):
			a.walk.Gone(object(id))
		case errors.Is(err, client.ErrDeleteUnsupported):
			a.locked(func() { a.remaining = append(a.remaining, address) })
		default:
			a.fail(key, "Can't delete the mailbox "+address, err)
			a.locked(func() { a.result.keep(key, prior.entries[key], prior, key) })
		}
	})
}

func (a *apply) domainOf(ctx context.Context) (*api.Domain, error) {
	if m := a.known; m != nil && m.DomainID != "" {
		return &api.Domain{ID: m.DomainID, Name: m.DomainName}, nil
	}
	return a.client.Domains.Get(ctx, a.domain)
}
