package domain

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// acquisition is a create on its way: the domain is bought, or adopted if the
// account owns it; it gets its settings; then it has to become ready.
//
// No error follows a purchase, unless the registry refuses the domain: Terraform
// would replace it, that is delete it and pay again. An adopted domain in turn is
// not in the state before it has its settings: trying again costs nothing, and a
// replacement would delete what was there before.
type acquisition struct {
	client *client.Client
	plan   model

	// domain is what goes into the state; nil: nothing.
	domain     *api.Domain
	adopted    bool
	paymentURL string
}

func (a *acquisition) run(ctx context.Context, diags *diag.Diagnostics) {
	if !a.plan.ContactInfo.IsNull() {
		a.buy(ctx, diags)
		return
	}
	d, err := a.client.GetDomain(ctx, a.plan.canonicalName())
	switch {
	case client.IsNotFound(err):
		addContactMissing(diags, a.plan)
	case err != nil:
		service.AddError(diags, err, "Can't tell whether the account owns the domain "+a.plan.display(), nil)
	default:
		a.adopt(ctx, d, diags)
	}
}

func (a *acquisition) buy(ctx context.Context, diags *diag.Diagnostics) {
	registrant := contactInfo(ctx, a.plan.ContactInfo, diags)
	if diags.HasError() {
		return
	}
	workspaceID := a.workspace(ctx)
	got, err := a.client.PurchaseDomain(ctx, a.plan.canonicalName(), workspaceID, registrant)
	switch {
	case err != nil:
		addPurchaseError(diags, err, a.plan)
		return
	case got.Adopted:
		a.adopt(ctx, got.Domain, diags)
		return
	}
	// From here on the domain is paid for, or will be: its id is kept.
	a.paymentURL = got.PaymentURL
	a.domain = &api.Domain{ID: got.ID, Name: got.Name, Status: got.Status, WorkspaceID: workspaceID}
	if got.Status == api.PurchasePurchased {
		a.domain.Status = api.DomainPending // until it is read
	}
	if got.ID == "" {
		if a.domain, err = a.client.GetDomain(ctx, got.Name); err != nil {
			addNotListed(diags, a.plan, err)
			return
		}
	}
	if _, err := a.applySettings(ctx); err != nil {
		addUnset(diags, a.plan, err)
	}
	a.await(ctx, diags)
}

// workspace returns where a bought domain goes. The default workspace of an
// account that can't be read can be computed.
func (a *acquisition) workspace(ctx context.Context) string {
	if id := a.plan.WorkspaceID.ValueString(); id != "" {
		return id
	}
	if account, err := a.client.GetAccount(ctx); err == nil && account.DefaultWorkspaceID != "" {
		return account.DefaultWorkspaceID
	}
	return api.DefaultWorkspaceID(a.client.AccountID())
}

// adopt takes over a domain that the account owns.
func (a *acquisition) adopt(ctx context.Context, owned *api.Domain, diags *diag.Diagnostics) {
	a.domain, a.adopted = owned, true
	if a.refused(diags) {
		return
	}
	body, err := a.applySettings(ctx)
	if err != nil {
		a.domain = nil
		service.AddError(diags, err, "Can't adopt the domain "+a.plan.display()+", which the account owns already", service.Fields{})
		return
	}
	a.await(ctx, diags)
	if a.domain != nil {
		addAdopted(diags, a.plan, *owned, body)
	}
}

// applySettings makes the domain as it is planned, and returns what it changed.
func (a *acquisition) applySettings(ctx context.Context) (api.UpdateDomainBody, error) {
	var now record
	now.fill(a.domain)
	body := a.plan.changes(now)
	if body == (api.UpdateDomainBody{}) {
		return body, nil
	}
	_, err := a.client.UpdateDomain(ctx, a.domain.ID, body)
	return body, err
}

// await waits while the registry works on the domain, and says what it has come
// to. What it reads is what the create tells.
func (a *acquisition) await(ctx context.Context, diags *diag.Diagnostics) {
	last, err := client.WaitFor(ctx, a.client,
		func(ctx context.Context) (*api.Domain, error) { return a.client.GetDomain(ctx, a.domain.ID) },
		func(d *api.Domain) (bool, error) { return d.Status != api.DomainPending, nil })
	if last != nil {
		a.domain = last
	}
	switch {
	case a.refused(diags):
	case a.domain.Status == api.DomainPendingPayment:
		addPayment(diags, a.plan, a.paymentURL)
	case a.domain.Status == api.DomainPending && err != nil:
		service.AddNotReady(ctx, diags, "domain "+a.plan.display(), a.domain.Status, err)
	}
}

// refused says that the registry has refused the domain, if it has. One that was
// bought stays in the state, so that the next apply replaces it.
func (a *acquisition) refused(diags *diag.Diagnostics) bool {
	if a.domain.Status != api.DomainFailed {
		return false
	}
	addFailed(diags, a.plan, !a.adopted)
	if a.adopted {
		a.domain = nil
	}
	return true
}
