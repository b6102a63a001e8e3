package domain

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// The values of acquisition.
const (
	acquisitionPurchase = "purchase"
	acquisitionAdopt    = "adopt"
)

const typeName = "mailhost_domain"

// paymentKey is the key of the private state for the link to the payment of a purchase, because only the response
// to the purchase contains it.
const paymentKey = "payment_url"

type Resource struct {
	service.Resource[api.Domain, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.Domain, model]{Definition: Definition}})
}

// Create buys the domain or adopts it.
func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	a := &acquisition{client: c, plan: plan, workspaceID: plan.WorkspaceID.ValueString()}
	resp.Diagnostics.Append(req.Config.Get(ctx, &a.config)...)
	if a.workspaceID == "" && !plan.ContactInfo.IsNull() { // if the account can't be read, compute the id of its default workspace
		a.workspaceID = cmp.Or(r.defaultWorkspace(ctx, c).ValueString(), api.DefaultWorkspaceID(c.AccountID()))
	}
	a.run(ctx, &resp.Diagnostics)
	if a.domain == nil {
		return
	}
	created := plan
	attribute.Flatten(&created, a.domain)
	if created.Acquisition = types.StringValue(acquisitionPurchase); a.adopted {
		created.Acquisition = types.StringValue(acquisitionAdopt)
	}
	if created.PurchasePrice.IsUnknown() {
		created.PurchasePrice = types.StringNull() // no plan showed the price
	}
	if a.paymentURL != "" {
		resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, paymentKey, a.paymentURL)...)
	}
	r.SetCreated(ctx, resp, c, &created)
}

// Read keeps a redirect_url of "", which means no redirect like the API's null, and notes a purchase that was not
// paid. An import reads "" too, because core accepts no empty plan from null to a configured "".
func (r *Resource) Read(ctx context.Context, c *client.Client, state *model, req resource.ReadRequest, resp *resource.ReadResponse) error {
	before := *state
	err := r.Resource.Read(ctx, c, state, req, resp)
	isImport := before.Name.IsNull()
	switch {
	case err == nil && (isImport || before.RedirectURL.Equal(noRedirect)):
		state.keepNoRedirect()
	case client.IsNotFound(err) && before.Status.ValueString() == vocab.DomainPendingPayment:
		r.Notes().Store(unpaid(before.canonicalName()), true)
	}
	return err
}

// unpaid is the key of a note: a refresh dropped the domain with this name while it waited for its payment.
type unpaid string

func (r *Resource) wasUnpaid(name string) bool {
	_, ok := r.Notes().Load(unpaid(name))
	return ok
}

func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	updated := plan
	if body := plan.expandUpdate(state); body != (api.UpdateDomainBody{}) {
		if err := c.UpdateDomain(ctx, state.ID.ValueString(), body); err != nil {
			report.Error(&resp.Diagnostics, err, "Can't update the "+state.String(), report.Fields{})
			return
		}
		updated.readSideEffects(ctx, c, state)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &updated)...)
}

// readSideEffects reads the attributes that an update changes but its response does
// not include. If the read fails, the update still succeeded, and the next refresh
// reads them.
func (m *model) readSideEffects(ctx context.Context, c *client.Client, before model) {
	now := before
	if d, err := c.Domains.Get(ctx, m.ID.ValueString()); err == nil {
		attribute.Flatten(&now, d)
	}
	m.UpdatedAt, m.RedirectMode = now.UpdatedAt, now.RedirectMode
}

// ImportState imports by UUID, by name, or by identity. An imported domain counts as adopted.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Resource.ImportState(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("acquisition"), acquisitionAdopt)...)
	}
}

// acquisition is a create in progress. It buys or adopts the domain as planned (if the plan
// did not know the name, it adopts a domain of the account), applies the settings, and waits
// until the domain is ready.
//
// No error is returned after a purchase, unless the registry refuses the domain:
// Terraform would taint the domain, delete it and buy it again. An adopted domain goes
// into the state only after its settings are applied: a repeated create costs nothing,
// but a replacement would delete a domain that existed before.
type acquisition struct {
	client       *client.Client
	plan, config model
	// workspaceID is the workspace of a bought domain.
	workspaceID string

	// domain is the domain to store in the state, or nil.
	domain     *api.Domain
	adopted    bool
	paymentURL string
}

func (a *acquisition) run(ctx context.Context, diags *diag.Diagnostics) {
	planned := a.plan.Acquisition.ValueString()
	switch {
	case planned == acquisitionPurchase && a.plan.ContactInfo.IsNull(): // contact_info was unknown in the plan
		addContactMissing(diags, a.plan)
		return
	case planned == acquisitionPurchase, planned == "" && !a.plan.ContactInfo.IsNull():
		a.buy(ctx, diags)
		return
	}
	d, err := a.client.Domains.Get(ctx, a.plan.canonicalName())
	switch {
	case client.IsNotFound(err) && planned == "":
		addContactMissing(diags, a.plan)
	case client.IsNotFound(err):
		report.ErrorWithAdvice(diags, err, "Can't adopt the "+a.plan.String(), nil,
			"Nothing was bought. Plan again: if the domain is still in the configuration, the new plan buys it and shows the price.")
	case err != nil:
		report.Error(diags, err, "Can't find out whether the account owns the domain "+a.plan.display(), nil)
	default:
		a.adopt(ctx, d, diags)
	}
}

func (a *acquisition) buy(ctx context.Context, diags *diag.Diagnostics) {
	got, err := a.client.PurchaseDomain(ctx, a.plan.canonicalName(), api.PurchaseDomainsBody{WorkspaceID: a.workspaceID, ContactInfo: expandContact(a.plan.ContactInfo)})
	switch {
	case err != nil:
		addPurchaseError(diags, err, a.plan)
		return
	case got.Adopted && a.plan.Acquisition.ValueString() == acquisitionPurchase:
		service.AddExistsError(diags, a.plan.existing(ctx, *got.Domain), session.Exists)
		return
	case got.Adopted:
		a.adopt(ctx, got.Domain, diags)
		return
	}
	// The domain is charged from here on: its id goes into the state in any case.
	a.domain, a.paymentURL = got.Domain, got.PaymentURL
	if got.ID == "" {
		a.domain, err = client.WaitFor(ctx, a.client,
			func(ctx context.Context) (*api.Domain, error) { return a.client.Domains.Get(ctx, got.Name) },
			func(*api.Domain) (bool, error) { return true, nil })
		if err != nil {
			addNotListed(diags, a.plan, err)
			return
		}
	}
	if err := a.applySettings(ctx); err != nil {
		warnUnset(diags, a.plan, err)
	}
	a.await(ctx, diags)
}

// adopt adopts a domain of the account if on_existing allows it, and otherwise adds an error.
func (a *acquisition) adopt(ctx context.Context, owned *api.Domain, diags *diag.Diagnostics) {
	if !service.Adopts(a.plan.OnExisting) {
		service.AddExistsError(diags, a.plan.existing(ctx, *owned), session.Exists)
		return
	}
	before := *owned
	a.domain, a.adopted = owned, true
	a.plan = a.plan.adopting(a.config, owned)
	if a.refused(diags) {
		return
	}
	if err := a.applySettings(ctx); err != nil {
		a.domain = nil
		report.Error(diags, err, "Can't adopt the domain "+a.plan.display()+", which the account owns already", report.Fields{})
		return
	}
	a.await(ctx, diags)
	if a.domain != nil && a.plan.Acquisition.IsUnknown() { // otherwise the plan showed the warning
		service.WarnAdopted(diags, a.plan.existing(ctx, before))
	}
}

// applySettings updates the domain to its planned settings.
func (a *acquisition) applySettings(ctx context.Context) error {
	var now model
	attribute.Flatten(&now, a.domain)
	body := a.plan.expandUpdate(now)
	if body == (api.UpdateDomainBody{}) {
		return nil
	}
	return a.client.UpdateDomain(ctx, a.domain.ID, body)
}

// await waits until the domain can be read, as the next plan does, and the registry registered it. It
// reports the last status, and stores the domain as last read in a.domain.
func (a *acquisition) await(ctx context.Context, diags *diag.Diagnostics) {
	var last *api.Domain
	var err error
	if a.domain.Status == vocab.DomainPendingPayment {
		last, err = a.read(ctx) // some APIs list it when it is paid, and the user learns where to pay when the apply ends
	} else {
		last, err = client.WaitFor(ctx, a.client, a.read, func(d *api.Domain) (bool, error) { return d.Status != vocab.DomainPending, nil })
	}
	if last != nil {
		a.domain = last
	}
	switch {
	case a.refused(diags):
	case a.domain.Status == vocab.DomainPendingPayment:
		warnPayment(diags, a.plan, a.paymentURL)
	case err != nil && (a.domain.Status == vocab.DomainPending || client.IsNotFound(err)):
		service.WarnNotReady(ctx, diags, "domain "+a.plan.display(), a.domain.Status, err)
	}
}

// read reads the domain. The id in the response to a purchase may be another one than the domain's.
func (a *acquisition) read(ctx context.Context) (*api.Domain, error) {
	d, err := a.client.Domains.Get(ctx, a.domain.ID)
	if client.IsNotFound(err) {
		return a.client.Domains.Get(ctx, a.domain.Name)
	}
	return d, err
}

// refused adds an error if the registry refused the domain. A bought domain stays in
// the state, so that the next apply replaces it.
func (a *acquisition) refused(diags *diag.Diagnostics) bool {
	if a.domain.Status != vocab.DomainFailed {
		return false
	}
	addFailed(diags, a.plan, !a.adopted)
	if a.adopted {
		a.domain = nil
	}
	return true
}
