package apiserver

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// routes binds every operation of the contract to the function that implements
// it.
func (s *Service) routes(mux *http.ServeMux) {
	h := api.NewAPI(mux)
	h.UseMiddleware(s.authenticate, api.StrictQuery, s.requireJSON, s.receive, s.withReferenceErrors)

	serve(s, h, api.CreateServiceAccount, createServiceAccount)
	serve(s, h, api.ListServiceAccounts, listServiceAccounts)
	serve(s, h, api.GetServiceAccount, getServiceAccount)
	serve(s, h, api.RevokeServiceAccount, revokeServiceAccount)

	serve(s, h, api.ListAuthorizations, listAuthorizations)
	serve(s, h, api.GrantAuthorization, grantAuthorization)
	serve(s, h, api.RevokeAuthorization, revokeAuthorization)

	serve(s, h, api.CreateMasterPassword, createMasterPassword)
	serve(s, h, api.ListMasterPasswords, listMasterPasswords)
	serve(s, h, api.RenameMasterPassword, renameMasterPassword)
	serve(s, h, api.GetMasterPassword, getMasterPassword)
	serve(s, h, api.DeleteMasterPassword, deleteMasterPassword)

	serve(s, h, api.CreateForwarding, createForwarding)
	serve(s, h, api.ListForwarding, listForwarding)
	serve(s, h, api.UpdateForwarding, updateForwarding)
	serve(s, h, api.GetForwarding, getForwarding)
	serve(s, h, api.DeleteForwarding, deleteForwarding)
	serve(s, h, api.SetForwardingActive, setForwardingActive)

	serve(s, h, api.CreateMailbox, createMailbox)
	serve(s, h, api.ListMailboxes, listMailboxes)
	serve(s, h, api.UpdateMailbox, updateMailbox)
	serve(s, h, api.CreateMailboxes, createMailboxes)
	serveCSV(s, h, api.ExportMailboxes, exportMailboxes)
	serve(s, h, api.GetMailbox, getMailbox)
	serve(s, h, api.DeleteMailbox, deleteMailbox)

	serve(s, h, api.PurchaseDomains, purchaseDomains)
	serve(s, h, api.ListDomains, listDomains)
	serve(s, h, api.UpdateDomain, updateDomain)
	serve(s, h, api.GetDomain, getDomain)
	serve(s, h, api.CheckDomainAvailability, checkDomainAvailability)
	serve(s, h, api.DeleteDomain, deleteDomain)

	serve(s, h, api.CreateDNSRecord, createDNSRecord)
	serve(s, h, api.ListDNSRecords, listDNSRecords)
	serve(s, h, api.GetDNSRecord, getDNSRecord)
	serve(s, h, api.UpdateDNSRecord, updateDNSRecord)
	serve(s, h, api.DeleteDNSRecord, deleteDNSRecord)

	serve(s, h, api.ClaimDedicatedIP, claimDedicatedIP)
	serve(s, h, api.ListDedicatedIPs, listDedicatedIPs)
	serve(s, h, api.ListDedicatedIPOptions, listDedicatedIPOptions)
	serve(s, h, api.GetDedicatedIP, getDedicatedIP)
	serve(s, h, api.ReleaseDedicatedIP, releaseDedicatedIP)

	serve(s, h, api.CancelPlan, cancelPlan)
	serve(s, h, api.ChangePlan, changePlan)
	serve(s, h, api.SubmitFeedback, submitFeedback)

	serve(s, h, api.GetAccount, getAccount)
	serve(s, h, api.ListWorkspaces, listWorkspaces)
	serve(s, h, api.CreateWorkspace, createWorkspace)
	serve(s, h, api.GetWorkspace, getWorkspace)
}

// serve binds an operation to the function that implements it.
func serve[Req, Resp any](s *Service, h huma.API, op api.Operation[Req, Resp], fn func(*call, *Req) (*Resp, error)) {
	if s.publishedOnly && op.Lifecycle() {
		return
	}
	op.Handle(h, func(ctx context.Context, in *Req) (*api.Reply[Resp], error) {
		c := s.newCall(ctx, op.Spec)
		out, err := keyed(c, in, fn)
		if err != nil {
			return nil, s.answerable(c, err)
		}
		reply := &api.Reply[Resp]{Body: *out}
		if c.idempotency.Replayed {
			reply.Replayed = "true"
		}
		if c.idempotency.Resumed {
			reply.Resumed = "true"
		}
		return reply, nil
	})
}

// serveCSV binds an operation that streams CSV.
func serveCSV[Req any](s *Service, h huma.API, op api.Operation[Req, api.CSV], fn func(*call, *Req) (*api.Stream, error)) {
	if s.publishedOnly && op.Lifecycle() {
		return
	}
	api.HandleStream(h, op, func(ctx context.Context, in *Req) (*api.Stream, error) {
		c := s.newCall(ctx, op.Spec)
		out, err := fn(c, in)
		if err != nil {
			return nil, s.answerable(c, err)
		}
		return out, nil
	})
}

func (s *Service) newCall(ctx context.Context, spec api.Spec) *call {
	return &call{Service: s, ctx: ctx, spec: spec, caller: auth.CallerFrom(ctx), at: api.Arrival(ctx)}
}
