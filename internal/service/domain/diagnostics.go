package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// purchaseFields maps the fields of a purchase to attributes.
var purchaseFields = report.Fields{"domains": "name", "domains.0": "name"}

func (m model) display() string {
	return cmp.Or(m.canonicalName(), m.ID.ValueString())
}

func addContactMissing(diags *diag.Diagnostics, plan model) {
	diags.AddAttributeError(path.Root("contact_info"), "contact_info is missing to buy the "+plan.String(),
		fmt.Sprintf("The account does not own %s, so this resource has to buy it, and a purchase needs the registrant.\n\n"+
			"Add contact_info = { first_name, last_name, organization, email, phone, address_1, zip, city, state, country }. "+
			"If the account should own the domain already, check the spelling of the name and the provider's account_id. "+
			"A domain that you hold at another registrar can't be bought: ask your mail host to add it to the account, and import it or set on_existing = \"adopt\".", plan.display()))
}

const nameAdvice = "Write the name as it is registered, such as example.com: one label before the top-level domain, without www or another host in front."

func addNotRegistrable(diags *diag.Diagnostics, plan model, err error) {
	diags.AddAttributeError(path.Root("name"), "Can't buy the "+plan.String(),
		fmt.Sprintf("The account does not own %s, so this resource has to buy it, but it is %s.\n\n%s "+
			"A host below a domain of the account needs no purchase: create its DNS records with mailhost_dns_record. "+
			"If the account should own the domain already, check the spelling of the name and the provider's account_id.", plan.display(), err, nameAdvice))
}

func addPurchaseError(diags *diag.Diagnostics, err error, plan model) {
	summary := "Can't buy the domain " + plan.display()
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	refusals := client.ProblemsAt(err, "body", "domains", "0")
	switch {
	case unknown:
		report.ErrorWithAdvice(diags, err, summary, nil,
			"Run apply again. If the domain is in the account by then, the plan says so, and with on_existing = \"adopt\" it is adopted; it is not bought a second time. If there is neither a domain nor a payment, nothing was bought, and the apply buys it.")
	case len(refusals) > 0 && client.StatusOf(err) == api.PurchaseDomains.Status:
		report.ErrorWithAdvice(diags, err, summary, purchaseFields, purchaseAdvice(refusals[0].Type))
	case plan.WorkspaceID.IsUnknown() && len(client.ProblemsAt(err, "body", "workspace_id")) > 0:
		report.ErrorWithAdvice(diags, err, summary, purchaseFields, "The API does not return the account's default workspace. Set workspace_id to the workspace of the domain.")
	default:
		report.Error(diags, err, summary, purchaseFields)
	}
}

// purchaseAdvices maps the API's error codes of purchases to the next step.
var purchaseAdvices = map[string]string{
	api.PurchaseInvalidDomain:  nameAdvice,
	api.PurchaseUnsupportedTLD: "Choose a name under another top-level domain. If the domain is registered elsewhere, add it to the account in the service's own control panel, and set on_existing = \"adopt\".",
	api.PurchaseUnavailable:    "Choose another name. If the domain is yours, transfer it to the account in the service's own control panel, and set on_existing = \"adopt\".",
	api.PurchasePremiumDomain:  "Choose another name, or buy this one in the service's own control panel and set on_existing = \"adopt\".",
	api.PurchaseAlreadyOwned:   "The account's list does not include the domain yet. Set on_existing = \"adopt\" and run apply again later: it is adopted, and nothing is bought.",
}

func purchaseAdvice(code string) string {
	if code == "" {
		return "Nothing was bought. Run apply again. If it fails again, send the request id to the API's operator."
	}
	return fmt.Sprintf("Error code %s. %s", code, cmp.Or(purchaseAdvices[code], "Nothing was bought. Ask the API's operator what this code means."))
}

func addNotListed(diags *diag.Diagnostics, plan model, err error) {
	report.ErrorWithAdvice(diags, err, "The "+plan.String()+" was bought, but can't be found yet", nil,
		"The API accepted the purchase without returning the domain's id. Set on_existing = \"adopt\" and run apply again later: the domain is adopted, and not bought a second time.")
}

func warnUnset(diags *diag.Diagnostics, plan model, err error) {
	diags.AddWarning("The "+plan.String()+" was bought, but its settings are not set",
		fmt.Sprintf("auto_renew and redirect_url are set after a purchase, and that failed: %s\n\n"+
			"The domain is in the state. Run apply again to set them.", err))
}

// warnPayment warns of a purchase that waits for its payment, after the purchase and in each later plan. url is
// "" if it is unknown.
func warnPayment(diags *diag.Diagnostics, m model, url string) {
	where := "in the service's own control panel"
	if url != "" {
		where = "at " + url
	}
	diags.AddWarning("The "+m.String()+" waits for its payment",
		fmt.Sprintf("Its status is %s. Pay %s.\n\nUntil then the domain is not registered, and a purchase that nobody pays expires. After the payment, the next plan or apply shows the domain as active. It is not bought a second time.",
			vocab.DomainPendingPayment, where))
}

// addFailed adds the error of a domain that the registry refused. kept means that the domain is
// in the state.
func addFailed(diags *diag.Diagnostics, plan model, kept bool) {
	next := "Find out why in the service's own control panel, and remove the failed domain there; then run apply again to buy it."
	if kept {
		next = "Find out why in the service's own control panel. The domain is in the state and marked as tainted: the next apply deletes it and buys it again. " +
			"If it has become active by then, keep it with terraform untaint."
	}
	diags.AddAttributeError(path.Root("name"), "The registration of the "+plan.String()+" failed",
		fmt.Sprintf("The account has the domain, but its status is %s: the registry did not register it.\n\n%s", vocab.DomainFailed, next))
}

// changedSince explains the effect of a change by another run after the plan. Core makes the error, because a
// provider does not get the earlier plan of a create.
const changedSince = "If any of that has changed when the plan is applied, the apply stops before it buys or changes anything: plan again. The CLI calls that an \"inconsistent final plan\" and a fault of the provider; it means no more than this."

// existing describes a domain that the account owns, for the plan m of its adoption.
func (m model) existing(ctx context.Context, owned api.Domain) service.Existing {
	m.RedirectURL = m.redirect()
	e := Definition.DescribeExisting(ctx, &owned, m, owned.Name)
	if !m.ContactInfo.IsNull() {
		e.Note = "contact_info is not sent; the registrant stays the same."
	}
	return e
}

// warnPurchase warns in the plan that a domain will be bought, with its price. offer is nil if the
// price is unknown, and err is the failure of its lookup. It adds an error instead if the lookup
// may succeed later.
func warnPurchase(diags *diag.Diagnostics, plan model, because string, offer *api.DomainAvailability, err error) {
	price := "The plan can't show the price: the API does not return it."
	switch {
	case offer != nil && offer.Price != nil:
		price = "The price is " + priceOf(offer) + "."
	case err != nil && mayPass(err):
		addNoPrice(diags, plan, err, "the price")
		return
	case err != nil:
		price = fmt.Sprintf("The plan can't show the price: %s.", strings.TrimSuffix(err.Error(), "."))
	}
	does := "buys the " + plan.String()
	if because != "" {
		does += " again"
	}
	service.AddLosses(diags, service.Loss{
		Of: []service.Asset{service.Purchase}, Does: does, Again: because != "", At: path.Root("name"),
		Because:     fmt.Sprintf("%sThe account does not own %s, so the apply buys it. %s There is no refund.", because, plan.display(), price),
		Consequence: changedSince + " If the account should own the domain, check the spelling of the name and the provider's account_id.",
	})
}

func priceOf(offer *api.DomainAvailability) string {
	return strings.TrimSpace(*offer.Price + " " + api.Value(offer.Currency))
}

// addNoPrice adds the error of a plan that can't look up a domain now. If contact_info is set, an
// apply may buy the domain. unknown names the missing result of the lookup.
func addNoPrice(diags *diag.Diagnostics, plan model, err error, unknown string) {
	advice := fmt.Sprintf("The plan has to show %s, because an apply of it may buy the domain and there is no refund. Plan again when the API responds.", unknown)
	if plan.ContactInfo.IsNull() {
		advice = "The plan has to show whether the account owns it. Plan again when the API responds."
	}
	report.ErrorWithAdvice(diags, err, "Can't look up the "+plan.String(), nil, advice)
}

// warnUndecided warns in the plan that a domain may be bought. Without contact_info nothing can
// be bought, and it only warns if a lookup failed.
func warnUndecided(diags *diag.Diagnostics, plan model, reason string, failed bool) {
	name := plan.display()
	does, otherwise := "may buy a domain", `otherwise fails; if not, the apply buys it, at a price that the plan can't show. There is no refund.

Plan again when this is known. So that the apply buys nothing, remove contact_info.`
	switch {
	case plan.ContactInfo.IsNull() && !failed:
		return
	case plan.ContactInfo.IsNull():
		does, otherwise = "could not look up the domain "+name, `otherwise the apply fails, because it can't buy a domain without contact_info.

Remove the cause and plan again.`
	case name != "":
		does = "may buy the domain " + name
	}
	detail := fmt.Sprintf("The plan can't find out whether the account owns %s: %s. If the account owns it, the apply adopts it with on_existing = \"adopt\", and %s", cmp.Or(name, "the domain"), reason, otherwise)
	if plan.ContactInfo.IsNull() {
		diags.AddAttributeWarning(path.Root("name"), "The plan "+does, detail)
		return
	}
	service.AddLosses(diags, service.Loss{Of: []service.Asset{service.Purchase}, Does: does, At: path.Root("name"), Because: detail})
}

func addNotForSale(diags *diag.Diagnostics, plan model, offer *api.DomainAvailability) {
	code := api.Value(offer.ErrorCode)
	diags.AddAttributeError(path.Root("name"), "Can't buy the "+plan.String(),
		fmt.Sprintf("The account does not own %s, so this resource has to buy it, but the API would refuse the purchase: %s.\n\n%s",
			plan.display(), cmp.Or(api.Value(offer.Error), code, "it returns no reason"), purchaseAdvice(code)))
}
