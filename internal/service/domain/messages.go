package domain

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
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
			api.DomainPendingPayment, where))
}

// addFailed says that the registry refused the domain; kept: it is in the state.
func addFailed(diags *diag.Diagnostics, plan model, kept bool) {
	next := "Find out why in the service's own control panel, and remove the failed domain there; then run apply again to buy it."
	if kept {
		next = "Find out why in the service's own control panel. The domain is in the state and marked as tainted: the next apply deletes it and buys it again. " +
			"If it has become active by then, keep it with terraform untaint."
	}
	diags.AddAttributeError(path.Root("name"), "The registration of the domain "+plan.display()+" failed",
		fmt.Sprintf("The account has the domain, but its status is %s: the registry did not register it.\n\n%s", api.DomainFailed, next))
}

// addAdopted warns that nothing was bought, and says what was changed of a
// domain that was there before.
func addAdopted(diags *diag.Diagnostics, plan model, before api.Domain, body api.UpdateDomainBody) {
	var changed []string
	tell := func(attribute string, from, to any) {
		changed = append(changed, fmt.Sprintf("%s from %v to %v", attribute, from, to))
	}
	if body.WorkspaceID != nil {
		tell("workspace_id", before.WorkspaceID, *body.WorkspaceID)
	}
	if body.AutoRenew != nil {
		tell("auto_renew", before.AutoRenew, *body.AutoRenew)
	}
	if body.RedirectURL.Sent {
		tell("redirect_url", orNull(before.RedirectURL), orNull(plan.RedirectURL.ValueStringPointer()))
	}
	detail := "The account owned it already, so nothing was bought. From now on Terraform manages it: a destroy deletes it."
	if !plan.ContactInfo.IsNull() {
		detail += " contact_info was not sent; the registrant is who it was."
	}
	if len(changed) > 0 {
		detail += "\n\nTo be as configured it was changed: " + strings.Join(changed, ", ") + "."
	}
	diags.AddWarning("The domain "+plan.display()+" was adopted", detail)
}

func orNull(p *string) string {
	if p = given(p); p == nil {
		return "null"
	}
	return *p
}
