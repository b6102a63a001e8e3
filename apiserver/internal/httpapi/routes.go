package httpapi

import (
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
)

// routes serves every operation.
func (h *Handler) routes(mux *http.ServeMux, publishedOnly bool) {
	b := binder{handler: h, api: newAPI(mux), publishedOnly: publishedOnly}
	b.api.UseMiddleware(h.authenticate, strictQuery, h.requireJSON, h.receive, withRuleErrors, h.withReferenceErrors)
	b.operations()
}

// operations binds every operation of the contract to the function that implements it.
func (b binder) operations() {
	serve(b, api.CreateServiceAccount, account.CreateServiceAccount)
	serve(b, api.ListServiceAccounts, account.ListServiceAccounts)
	serve(b, api.GetServiceAccount, account.GetServiceAccount)
	serveEmpty(b, api.RevokeServiceAccount, account.RevokeServiceAccount)

	serve(b, api.ListAuthorizations, account.ListAuthorizations)
	serve(b, api.GrantAuthorization, account.GrantAuthorization)
	serveEmpty(b, api.RevokeAuthorization, account.RevokeAuthorization)

	serve(b, api.CreateMasterPassword, account.CreateMasterPassword)
	serve(b, api.ListMasterPasswords, account.ListMasterPasswords)
	serve(b, api.RenameMasterPassword, account.RenameMasterPassword)
	serve(b, api.GetMasterPassword, account.GetMasterPassword)
	serveEmpty(b, api.DeleteMasterPassword, account.DeleteMasterPassword)

	serve(b, api.CreateForwarding, account.CreateForwarding)
	serve(b, api.ListForwarding, account.ListForwarding)
	serve(b, api.UpdateForwarding, account.UpdateForwarding)
	serve(b, api.GetForwarding, account.GetForwarding)
	serveEmpty(b, api.DeleteForwarding, account.DeleteForwarding)
	serve(b, api.SetForwardingActive, account.SetForwardingActive)

	serve(b, api.CreateMailbox, account.CreateMailbox)
	serve(b, api.ListMailboxes, account.ListMailboxes)
	serve(b, api.UpdateMailbox, account.UpdateMailbox)
	serve(b, api.CreateMailboxes, account.CreateMailboxes)
	serveCSV(b, api.ExportMailboxes, account.ExportMailboxes)
	serve(b, api.GetMailbox, account.GetMailbox)
	serveEmpty(b, api.DeleteMailbox, account.DeleteMailbox)

	serve(b, api.PurchaseDomains, account.PurchaseDomains)
	serve(b, api.ListDomains, account.ListDomains)
	serve(b, api.UpdateDomain, account.UpdateDomain)
	serve(b, api.GetDomain, account.GetDomain)
	serve(b, api.CheckDomainAvailability, account.CheckDomainAvailability)
	serveEmpty(b, api.DeleteDomain, account.DeleteDomain)

	serve(b, api.CreateDNSRecord, account.CreateDNSRecord)
	serve(b, api.ListDNSRecords, account.ListDNSRecords)
	serve(b, api.GetDNSRecord, account.GetDNSRecord)
	serve(b, api.UpdateDNSRecord, account.UpdateDNSRecord)
	serveEmpty(b, api.DeleteDNSRecord, account.DeleteDNSRecord)

	serve(b, api.ClaimDedicatedIP, account.ClaimDedicatedIP)
	serve(b, api.ListDedicatedIPs, account.ListDedicatedIPs)
	serve(b, api.ListDedicatedIPOptions, account.ListDedicatedIPOptions)
	serve(b, api.GetDedicatedIP, account.GetDedicatedIP)
	serveEmpty(b, api.ReleaseDedicatedIP, account.ReleaseDedicatedIP)

	serve(b, api.CancelPlan, account.CancelPlan)
	serve(b, api.ChangePlan, account.ChangePlan)
	serve(b, api.SubmitFeedback, account.SubmitFeedback)

	serve(b, api.GetAccount, account.GetAccount)
	serve(b, api.ListWorkspaces, account.ListWorkspaces)
	serve(b, api.CreateWorkspace, account.CreateWorkspace)
	serve(b, api.GetWorkspace, account.GetWorkspace)
}
