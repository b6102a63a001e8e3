package service

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// DomainReader is what a scope needs of the client.
type DomainReader interface {
	// GetDomain reads a domain by id or name.
	GetDomain(ctx context.Context, domain string) (*api.Domain, error)
}

// KeepDomainRef plans to keep a prior reference to a domain where the
// configuration names the same domain by its other form: by name for by id, or
// in another spelling. The resource must have the attributes domain_id and
// domain_name. Put it before RequiresReplace.
func KeepDomainRef() planmodifier.String { return keepDomainRef{} }

type keepDomainRef struct{}

func (keepDomainRef) Description(context.Context) string {
	return "keeps the prior reference to the same domain"
}

func (k keepDomainRef) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (keepDomainRef) PlanModifyString(ctx context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	var id, name types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("domain_id"), &id)...)
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("domain_name"), &name)...)
	if customtype.RefersTo(req.ConfigValue.ValueString(), id.ValueString(), name.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}

// RememberDomains returns a reader of domains for the records of one list, most of
// which name the same few: it asks for the first domain alone, and with the second
// one for the list of all. What it has been told, that something went wrong
// included, it does not ask again. It is for one goroutine.
func RememberDomains(c *client.Client) DomainReader { return &domainMemo{api: c} }

// domainLister is what the memo needs of the client.
type domainLister interface {
	DomainReader
	ListDomains(ctx context.Context, req api.ListDomainsRequest) iter.Seq2[api.Domain, error]
}

type domainMemo struct {
	api    domainLister
	byID   map[string]api.Domain
	listed bool
	err    error
}

// GetDomain implements DomainReader, for ids alone.
func (m *domainMemo) GetDomain(ctx context.Context, id string) (*api.Domain, error) {
	id = strings.ToLower(id)
	if m.byID == nil {
		m.byID = map[string]api.Domain{}
		d, err := m.api.GetDomain(ctx, id)
		if err == nil {
			m.byID[id] = *d
		}
		return d, err
	}
	if d, ok := m.byID[id]; ok {
		return &d, nil
	}
	if !m.listed {
		m.list(ctx)
	}
	if d, ok := m.byID[id]; ok {
		return &d, nil
	}
	if m.err != nil {
		return nil, m.err
	}
	return nil, fmt.Errorf("domain %s: %w", id, client.ErrNotFound)
}

func (m *domainMemo) list(ctx context.Context) {
	m.listed = true
	for d, err := range m.api.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			m.err = err
			return
		}
		m.byID[strings.ToLower(d.ID)] = d
	}
}

// UnusableDomain says what to do about a domain in which nothing can be made,
// because it waits for its payment or its registration has failed. It is "" where
// that is not so, or can't be told.
func UnusableDomain(ctx context.Context, c DomainReader, ref string) string {
	d, err := c.GetDomain(ctx, ref)
	switch {
	case err != nil:
		return ""
	case d.Status == vocab.DomainPendingPayment:
		return fmt.Sprintf("Pay for the domain %s, and run apply again. The warning of its purchase says where, and so does the service's own control panel.", d.Name)
	case d.Status == vocab.DomainFailed:
		return fmt.Sprintf("The domain %s was not registered. Find out why in the service's own control panel; nothing can be made in it before it is active.", d.Name)
	}
	return ""
}
