package domain

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// purchaseFields is where a purchase has what the configuration has elsewhere.
var purchaseFields = service.Fields{"domains": "name", "domains.0": "name"}

// display is how messages name the domain.
func (m record) display() string {
	return cmp.Or(m.Name.ValueString(), m.ID.ValueString())
}

// addContactMissing says that a domain can't be bought without a registrant.
func addContactMissing(diags *diag.Diagnostics, plan model) {
	diags.AddAttributeError(path.Root("contact_info"), "contact_info is missing to buy the domain "+plan.display(),
		fmt.Sprintf("The account does not own %s, so this resource has to buy it, and a purchase needs the registrant.\n\n"+
			"Add contact_info = { first_name, last_name, organization, email, phone, address_1, zip, city, state, country }. "+
			"If the account should own the domain already, check the spelling of the name and the provider's account_id.", plan.display()))
}

// howToName says which names can be bought.
const howToName = "Write the name as it is registered, such as example.com: one label before the top-level domain, without www or another host in front."

// addNotRegistrable says in the plan that a name is not one that is sold.
func addNotRegistrable(diags *diag.Diagnostics, plan model, err error) {
	diags.AddAttributeError(path.Root("name"), "Can't buy the domain "+plan.display(),
		fmt.Sprintf("The account does not own %s, so this resource has to buy it, but it is %s.\n\n%s "+
			"A host below a domain of the account needs no purchase: its DNS is made of mailhost_dns_record. "+
			"If the account should own the domain already, check the spelling of the name and the provider's account_id.", plan.display(), err, howToName))
}

// addProbablyNotSold warns in the plan of a name that no registry is known to
// sell. It is no error, for the registries may have become more since the list
// of them was built in: the purchase decides.
func addProbablyNotSold(diags *diag.Diagnostics, plan model, err error) {
	diags.AddAttributeWarning(path.Root("name"), "The domain "+plan.display()+" can probably not be bought",
		fmt.Sprintf("The account does not own %s, so this resource has to buy it, but as far as the provider knows it is under an %s.\n\n"+
			"Check the spelling. If the registry is a new one, apply: the API decides, and nothing is paid for what it refuses.", plan.display(), err))
}

// addPurchaseError says why a domain was not bought, or that this is unknown.
func addPurchaseError(diags *diag.Diagnostics, err error, plan model) {
	summary := "Can't buy the domain " + plan.display()
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	refusals := client.ProblemsAt(err, "body", "domains", "0")
	switch {
	case unknown:
		service.AddErrorAdvising(diags, err, summary, nil,
			"If the domain turns out to be in the account, run apply again: it is adopted and not bought a second time. If neither the domain nor a payment is there, nothing was bought, and apply tries again.")
	case len(refusals) > 0 && client.StatusOf(err) == api.PurchaseDomains.Status:
		service.AddErrorAdvising(diags, err, summary, purchaseFields, remedy(refusals[0].Type))
	case plan.WorkspaceID.IsUnknown() && len(client.ProblemsAt(err, "body", "workspace_id")) > 0:
		addDefaultUnknown(diags, err, summary)
	default:
		service.AddError(diags, err, summary, purchaseFields)
	}
}

// addDefaultUnknown says why a domain was not bought, among other reasons perhaps
// because of a workspace that nobody chose.
func addDefaultUnknown(diags *diag.Diagnostics, err error, summary string) {
	var usual, chosen diag.Diagnostics
	service.AddError(&usual, err, summary, purchaseFields)
	service.AddErrorAdvising(&chosen, err, summary, purchaseFields, "The API does not tell which workspace is the account's default. Set workspace_id to the one that the domain belongs in.")
	for i, d := range usual {
		if at, ok := d.(diag.DiagnosticWithPath); ok && at.Path().Equal(path.Root("workspace_id")) {
			d = chosen[i]
		}
		diags.Append(d)
	}
}

// remedy says what to do about the error code of a purchase.
func remedy(code string) string {
	var next string
	switch code {
	case api.PurchaseInvalidDomain:
		next = howToName
	case api.PurchaseUnsupportedTLD:
		next = "Choose a name under another top-level domain. If the domain is registered elsewhere, add it to the account in the service's own control panel; the next apply adopts it."
	case api.PurchaseUnavailable:
		next = "Choose another name. If the domain is yours, transfer it to the account in the service's own control panel; the next apply adopts it."
	case api.PurchasePremiumDomain:
		next = "Choose another name, or buy this one in the service's own control panel; the next apply adopts it."
	case api.PurchaseAlreadyOwned:
		next = "The account's list does not show the domain yet. Run apply again in a while: it is adopted, and nothing is bought."
	case "":
		return "Nothing was bought. Run apply again; if it fails again, the API's operator can find the cause by the request id."
	default:
		next = "Nothing was bought. The API's operator can say what this code means."
	}
	return fmt.Sprintf("Error code %s. %s", code, next)
}

// addNotListed says that a bought domain can't be managed yet.
func addNotListed(diags *diag.Diagnostics, plan model, err error) {
	service.AddErrorAdvising(diags, err, "The domain "+plan.display()+" was bought, but can't be found yet", nil,
		"The API accepted the purchase without telling the domain's id. Run apply again in a while: the domain is adopted, and not bought a second time.")
}

// addUnset warns that a bought domain lacks its settings.
func addUnset(diags *diag.Diagnostics, plan model, err error) {
	diags.AddWarning("The domain "+plan.display()+" was bought, but its settings are not set",
		fmt.Sprintf("auto_renew and redirect_url are set after a purchase, and that failed: %s\n\n"+
			"The domain is in the state. Run plan again: it shows what is left, and apply sets it.", err))
}

// addPayment warns that a domain waits for money.
func addPayment(diags *diag.Diagnostics, plan model, url string) {
	where := "in the service's own control panel"
	if url != "" {
		where = "at " + url
	}
	diags.AddWarning("The domain "+plan.display()+" waits for its payment",
		fmt.Sprintf("Its status is %s. Pay %s.\n\nThe domain is in the state; the next plan or apply after the payment shows it become active. It is not bought a second time.",
			vocab.DomainPendingPayment, where))
}

// addFailed says that the registry refused the domain; kept: it is in the state.
func addFailed(diags *diag.Diagnostics, plan model, kept bool) {
	next := "Find out why in the service's own control panel, and remove the failed domain there; then run apply again to buy it."
	if kept {
		next = "Find out why in the service's own control panel. The domain is in the state and marked as tainted: the next apply deletes it and buys it again. " +
			"If it has become active by then, keep it with terraform untaint."
	}
	diags.AddAttributeError(path.Root("name"), "The registration of the domain "+plan.display()+" failed",
		fmt.Sprintf("The account has the domain, but its status is %s: the registry did not register it.\n\n%s", vocab.DomainFailed, next))
}

// changedSince says what protects a plan that another run overtakes.
const changedSince = "If this is no longer so when the plan is applied, the apply stops before it buys or changes anything (Terraform calls that an inconsistent final plan): plan again."

// addAdopted warns, after the apply of a plan that did not know it, that nothing
// was bought, and lists what was changed of a domain that was there before.
func addAdopted(diags *diag.Diagnostics, plan model, before api.Domain, body api.UpdateDomainBody) {
	detail := "The account owned it already, so nothing was bought. From now on Terraform manages it: a destroy deletes it."
	if !plan.ContactInfo.IsNull() {
		detail += " contact_info was not sent; the registrant stays the same."
	}
	if changed := settings(plan, before, body); len(changed) > 0 {
		detail += "\n\nTo be as configured it was changed: " + strings.Join(changed, ", ") + "."
	}
	diags.AddWarning("The domain "+plan.display()+" was adopted", detail)
}

// addAdoption warns in the plan that a domain will be adopted. There may be many:
// Terraform shows warnings of one summary as one.
func addAdoption(diags *diag.Diagnostics, plan model, before api.Domain) {
	detail := "The account owns " + plan.display() + " already, so nothing is bought. From then on Terraform manages it: a destroy deletes it."
	if !plan.ContactInfo.IsNull() {
		detail += " contact_info is not sent; the registrant stays the same."
	}
	var now record
	now.fill(&before)
	if changed := settings(plan, before, plan.changes(now)); len(changed) > 0 {
		detail += "\n\nThe adoption changes " + strings.Join(changed, ", ") + ". To keep a setting, write its present value in the configuration."
	}
	detail += "\n\n" + changedSince + " To make an adoption an error, set on_existing = \"error\"."
	diags.AddAttributeWarning(path.Root("name"), "The plan adopts a domain that the account owns", detail)
}

// settings lists what an update of a domain changes.
func settings(plan model, before api.Domain, body api.UpdateDomainBody) []string {
	var changed []string
	add := func(attribute string, unknown bool, from, to any) {
		if unknown {
			to = "a value that is known after the apply"
		}
		changed = append(changed, fmt.Sprintf("%s from %v to %v", attribute, from, to))
	}
	if body.WorkspaceID != nil {
		add("workspace_id", false, before.WorkspaceID, *body.WorkspaceID)
	}
	if body.AutoRenew != nil {
		add("auto_renew", plan.AutoRenew.IsUnknown(), before.AutoRenew, *body.AutoRenew)
	}
	if body.RedirectURL.Sent {
		add("redirect_url", plan.RedirectURL.IsUnknown(), orNull(before.RedirectURL), orNull(plan.RedirectURL.ValueStringPointer()))
	}
	return changed
}

func orNull(p *string) string {
	if p = given(p); p == nil {
		return "null"
	}
	return *p
}

// addPurchase warns in the plan that a domain will be bought, and at what price;
// offer is nil where that is not known. There may be many: Terraform shows warnings
// of one summary as one.
func addPurchase(diags *diag.Diagnostics, plan model, because string, offer *api.DomainAvailability) {
	price := "This API states the price only with the purchase."
	if offer != nil && offer.Price != nil {
		price = fmt.Sprintf("The price is %s %s.", *offer.Price, orNull(offer.Currency))
	}
	summary := "The plan buys a domain"
	if because != "" {
		summary += " again"
	}
	diags.AddAttributeWarning(path.Root("name"), summary,
		fmt.Sprintf("%sThe account does not own %s, so the apply buys it. %s A purchase is not paid back.\n\n"+changedSince+" If the account should own the domain, check the spelling of the name and the provider's account_id.",
			because, plan.display(), price))
}

// addNotForSale refuses in the plan a domain whose purchase the API would refuse.
func addNotForSale(diags *diag.Diagnostics, plan model, offer *api.DomainAvailability) {
	code := value(offer.ErrorCode)
	diags.AddAttributeError(path.Root("name"), "Can't buy the domain "+plan.display(),
		fmt.Sprintf("The account does not own %s, so this resource has to buy it, but the API would refuse the purchase: %s.\n\n%s",
			plan.display(), cmp.Or(value(offer.Error), code, "it gives no reason"), remedy(code)))
}

// addExists refuses to adopt a domain where the configuration says so.
func addExists(diags *diag.Diagnostics, plan model, id string) {
	diags.AddAttributeError(path.Root("on_existing"), "The account owns the domain "+plan.display()+" already",
		fmt.Sprintf("on_existing is \"error\", so it is not adopted. Nothing was bought or changed. Its id is %s.\n\n"+
			"To manage it with this resource, import it, or set on_existing = \"adopt\". Otherwise choose another name.", id))
}

// addInState refuses to create a domain that the state has.
func addInState(diags *diag.Diagnostics, plan model, id string) {
	diags.AddAttributeError(path.Root("name"), "The domain "+plan.display()+" is in the state already",
		fmt.Sprintf("The account owns it, and Terraform's state has it, id %s. This plan creates it again, which would replace the domain by itself: delete it and buy the same name again, or, with create_before_destroy, adopt the domain and delete it afterwards. "+
			"%s Nothing was bought or deleted.\n\n"+
			"- If -replace or replace_triggered_by replaces it, take that away. If it is tainted, run terraform untaint with its address. To buy it anew all the same, remove the resource, apply, and add it again.\n"+
			"- If the resource was renamed or moved, add a moved block with its old and its new address.\n"+
			"- If two blocks, or two keys of for_each, describe the domain, remove one of them.", id, loss))
}

// addOwnedMeanwhile refuses to adopt a domain whose purchase was planned.
func addOwnedMeanwhile(diags *diag.Diagnostics, plan model, id string) {
	diags.AddAttributeError(path.Root("name"), "The account owns the domain "+plan.display()+" by now",
		fmt.Sprintf("The plan was to buy it, but the account owns it, id %s. Nothing was bought, changed or deleted.\n\n"+
			"- If it came into the account after the plan, plan again: the new plan adopts it.\n"+
			"- If this resource replaces itself with create_before_destroy, of its own or of a resource that depends on it, the domain that it would adopt is the one that is deleted afterwards: leave the name as it is, and run terraform untaint if the resource is tainted.\n"+
			"- If the resource was renamed or moved, add a moved block with its old and its new address.\n"+
			"- If two blocks, or two keys of for_each, describe the domain, remove one of them.", id))
}

// addNoLongerOwned refuses to buy a domain whose adoption was planned.
func addNoLongerOwned(diags *diag.Diagnostics, plan model) {
	diags.AddAttributeError(path.Root("name"), "The account does not own the domain "+plan.display()+" any more",
		"The plan was to adopt it, and it is gone since. Nothing was bought. Plan again: if the domain is still in the configuration, the new plan buys it, and says at what price.")
}

// value returns *p, or "".
func value(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
