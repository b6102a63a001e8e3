package domain

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// deletion describes the loss of a deleted domain.
const deletion = "The domain is deleted with everything in it, such as its DNS records and forwarding rules, its mail stops, and there is no refund. After the registration has ended, somebody else can register the name."

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
	case req.State.Raw.IsNull():
		planned := r.planCreate(ctx, req, plan, &resp.Diagnostics)
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &planned)...)
	case service.DestroysOrReplaces(resp):
		r.planCreate(ctx, req, plan, &resp.Diagnostics) // core drops the warnings of the replacement's second plan
	default:
		planUpdate(ctx, plan, state, resp)
		if state.Status.ValueString() == vocab.DomainPendingPayment {
			warnPayment(&resp.Diagnostics, state, service.GetPrivate[string](ctx, req.Private, paymentKey))
		}
	}
}

// losses returns the losses of a planned change.
func losses(ctx context.Context, ch service.Change[model]) (all []service.Loss) {
	switch ch.Fate {
	case service.Destroyed, service.Replaced:
		l := ch.Ending("destroys", "the "+ch.Before.String(), service.Money, service.Mail, service.DNS, service.Reach, service.Access)
		if l.Consequence = deleteConsequence(ctx, ch); ch.Fate == service.Replaced {
			l.Because = "A domain can't be renamed: another name buys or adopts another domain, and deletes this one."
		}
		return []service.Loss{l}
	case service.Updated, service.Adopted:
		before, after := ch.Before, ch.After
		if before.AutoRenew.ValueBool() && after.AutoRenew.Equal(types.BoolValue(false)) {
			all = append(all, service.Loss{
				Of: []service.Asset{service.Money}, Does: "ends the automatic renewal of the " + after.String(), At: path.Root("auto_renew"),
				Consequence: "Nobody renews the registration after that. When it ends, the domain's mail and web traffic stop, and somebody else can register the name.",
				Keep:        "To keep the renewal, set auto_renew = true or remove auto_renew.",
			})
		}
		if url := before.redirect(); !url.IsNull() && after.redirect().IsNull() {
			all = append(all, service.Loss{
				Of: []service.Asset{service.Reach}, Does: "ends the redirect of the " + after.String(), At: path.Root("redirect_url"),
				Consequence: fmt.Sprintf("Its web traffic goes to %s now, and nowhere after the apply.", url.ValueString()),
				Keep:        "To keep the redirect, set redirect_url to this URL or remove redirect_url.",
			})
		}
		all = append(all, moveLosses(ctx, ch)...)
	}
	return all
}

// deleteConsequence describes the loss of a deleted domain, with the number of its
// mailboxes if the API returns it.
func deleteConsequence(ctx context.Context, ch service.Change[model]) string {
	c := ch.ClientIfOpen(ctx)
	if c == nil {
		return deletion
	}
	n, _ := c.CountMailboxes(ctx, ch.Before.ID.ValueString()) // 0 after an error
	if n == 0 {
		return deletion
	}
	return fmt.Sprintf("%s\n\nThe domain has %d %s now. The API deletes only a domain without mailboxes: the apply succeeds if the configuration has all of them, and deletes them with their mail. If others remain, it fails, and the domain stays.", deletion, n, report.Plural(n, "mailbox", "mailboxes"))
}

// planCreate returns the plan of a new domain. It adds an error if the domain can be neither bought
// nor adopted, and otherwise a warning with the price or the changes. The acquisition is unknown, with
// a warning, if the name is unknown or the credential may not view the domain. An outage is an error,
// because core plans again in the apply, and would buy at a price that nobody has seen.
//
// Core plans again in the apply, without the result of the first plan, and fails with
// an "inconsistent final plan" if the two differ. So the acquisition must depend only
// on the domains of the account: nothing is bought if another run buys or deletes the
// domain between the plans, or if the price or the account (and so the workspace) changes.
func (r *Resource) planCreate(ctx context.Context, req resource.ModifyPlanRequest, plan model, diags *diag.Diagnostics) model {
	unknown := plan
	var config model
	diags.Append(req.Config.Get(ctx, &config)...)
	c := r.ClientForPlan(ctx, diags)
	if c == nil {
		if !diags.HasError() {
			warnUndecided(diags, plan, "a setting of the provider is known only after the apply has begun", false)
		}
		return unknown
	}
	if plan.Name.IsUnknown() {
		warnUndecided(diags, plan, "the name is known only after the apply has begun", false)
		return unknown
	}
	owned, err := c.Domains.Get(ctx, plan.canonicalName())
	switch {
	case client.IsNotFound(err):
		return r.purchased(ctx, c, config, plan, r.planPurchase(ctx, c, plan, diags))
	case err != nil:
		if mayPass(err) {
			addNoPrice(diags, plan, err, "whether the account owns it, and the price otherwise")
		} else { // the create looks it up again
			warnUndecided(diags, plan, err.Error(), true)
		}
		return unknown
	}
	adopted := plan.adopting(config, owned)
	isReplacement := !req.State.Raw.IsNull() // the second plan of a replacement comes without a state
	switch isInState := r.Walk().IsInState(session.Object{Type: typeName, ID: owned.ID}); {
	case isInState && owned.Status == vocab.DomainFailed && !isReplacement:
		offer, err := r.offer(ctx, c, plan)
		warnPurchase(diags, plan, "The registry refused it the first time, so the failed domain is deleted first. ", offer, err)
		planned := r.purchased(ctx, c, config, plan, offer)
		if offer == nil { // some APIs return the price once the failed domain is deleted
			planned.PurchasePrice = types.StringUnknown()
		}
		return planned
	case owned.Status == vocab.DomainFailed:
		addFailed(diags, plan, false)
	case isReplacement && service.Adopts(plan.OnExisting):
		r.WarnAdoption(diags, adopted.existing(ctx, *owned))
	default:
		r.AdoptOrRefuse(diags, plan.OnExisting, adopted.existing(ctx, *owned))
	}
	if owned.Status == vocab.DomainPendingPayment {
		warnPayment(diags, adopted, "")
	}
	adopted.Acquisition, adopted.PurchasePrice = types.StringValue(acquisitionAdopt), types.StringNull()
	return adopted
}

// adopting returns the plan of an adoption: it keeps the domain's values of the settings that the configuration
// omits.
func (m model) adopting(config model, owned *api.Domain) model {
	var now model
	attribute.Flatten(&now, owned)
	if config.WorkspaceID.IsNull() {
		m.WorkspaceID = now.WorkspaceID
	}
	if config.AutoRenew.IsNull() {
		m.AutoRenew = now.AutoRenew
	}
	if config.RedirectURL.IsNull() {
		m.RedirectURL = now.RedirectURL
	}
	m.RedirectMode = m.plannedMode(now)
	return m
}

// plannedMode returns the redirect_mode of a plan that changes before to m: the API sets it for a new redirect.
func (m model) plannedMode(before model) types.String {
	switch redirect := m.redirect(); {
	case redirect.IsUnknown(), before.redirect().IsNull() && !redirect.IsNull():
		return types.StringUnknown()
	case redirect.IsNull() && !before.redirect().IsNull():
		return types.StringNull()
	}
	return before.RedirectMode
}

// purchased plans a purchase, with the API's defaults of the settings that the configuration omits. offer is nil
// if the price is not known before it.
func (r *Resource) purchased(ctx context.Context, c *client.Client, config, plan model, offer *api.DomainAvailability) model {
	plan.Acquisition, plan.PurchasePrice = types.StringValue(acquisitionPurchase), types.StringNull()
	if offer != nil && offer.Price != nil {
		plan.PurchasePrice = types.StringValue(priceOf(offer))
	}
	if config.WorkspaceID.IsNull() {
		plan.WorkspaceID = r.defaultWorkspace(ctx, c)
	}
	if config.AutoRenew.IsNull() {
		plan.AutoRenew = types.BoolValue(false)
	}
	if config.RedirectURL.IsNull() {
		plan.RedirectURL = customtype.String{}
	}
	plan.RedirectMode = plan.plannedMode(model{})
	return plan
}

// defaultWorkspace returns the account's default workspace, or an unknown value if the API does
// not return it. It is read once for all domains.
func (r *Resource) defaultWorkspace(ctx context.Context, c *client.Client) customtype.String {
	type noteKey struct{}
	return service.Once(r.Notes(), noteKey{}, func() customtype.String {
		account, err := c.GetAccount(ctx)
		switch {
		case err == nil && account.DefaultWorkspaceID != "":
			return customtype.New(account.DefaultWorkspaceID)
		case client.StatusOf(err) == http.StatusForbidden: // the credential of the plan may view it
			return customtype.New(api.DefaultWorkspaceID(c.AccountID()))
		}
		return customtype.NewUnknown()
	})
}

// planPurchase adds an error to the plan if the domain can't be bought, and
// otherwise a warning with the price. It returns the offer, or nil after an error.
func (r *Resource) planPurchase(ctx context.Context, c *client.Client, plan model, diags *diag.Diagnostics) *api.DomainAvailability {
	// The API decides under which top-level domains it sells names.
	if err := domainname.Registrable(plan.canonicalName()); errors.Is(err, domainname.ErrNotRegistrable) {
		addNotRegistrable(diags, plan, err)
		return nil
	}
	offer, err := r.offer(ctx, c, plan)
	if offer != nil && !offer.Available {
		addNotForSale(diags, plan, offer)
		return nil
	}
	if plan.ContactInfo.IsNull() {
		addContactMissing(diags, plan)
		return nil
	}
	because := ""
	if r.Walk().Dropped(session.Named(typeName, plan.canonicalName())) != "" {
		because = "It was in the state, but the account no longer has it: it was deleted outside Terraform, or its registration ended. "
		if r.wasUnpaid(plan.canonicalName()) {
			because = "It was bought before, but nobody paid, and the account no longer has it: the purchase expired, or somebody deleted it. "
		}
	}
	warnPurchase(diags, plan, because, offer, err)
	return offer
}

// offer returns whether the domain can be bought, and its price. It returns nil if the API lacks the
// operation, or returns no price because the account owns the domain.
func (r *Resource) offer(ctx context.Context, c *client.Client, plan model) (*api.DomainAvailability, error) {
	offer, err := c.DomainAvailability(ctx, plan.canonicalName())
	switch {
	case errors.Is(err, client.ErrReadUnsupported):
		return nil, nil
	case err != nil:
		return nil, err
	case offer.ErrorCode != nil && *offer.ErrorCode == api.PurchaseAlreadyOwned && offer.Price == nil:
		return nil, nil
	}
	return offer, nil
}

// mayPass reports whether a failed lookup may succeed later: the API did not refuse it.
func mayPass(err error) bool {
	status := client.StatusOf(err)
	return status < 400 || status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
}

func planUpdate(ctx context.Context, plan, state model, resp *resource.ModifyPlanResponse) {
	isSet, isSetBefore := plan, state // "" and null are the same
	isSet.RedirectURL, isSetBefore.RedirectURL = plan.redirect(), state.redirect()
	if len(Definition.ChangedArguments(ctx, isSetBefore, isSet)) > 0 {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("updated_at"), types.StringUnknown())...)
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("redirect_mode"), plan.plannedMode(state))...)
	if contact := plan.ContactInfo; !contact.IsNull() && !contact.IsUnknown() && !contact.Equal(state.ContactInfo) {
		resp.Diagnostics.AddAttributeWarning(path.Root("contact_info"), "contact_info of "+state.display()+" is only stored",
			"It is sent only when a domain is bought. The account owns this domain already, so the new value goes into Terraform's state and nothing changes at the registrar. "+
				"Change the registrant in the service's own control panel.")
	}
}
