package service

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// DomainReader reads domains: a client, or a cache in front of it.
type DomainReader interface {
	// GetDomain reads a domain by id or name.
	GetDomain(ctx context.Context, domain string) (*api.Domain, error)
}

// domainLister is the part of the client that [domainCache] needs.
type domainLister interface {
	DomainReader
	ListDomains(ctx context.Context, req api.ListDomainsRequest) iter.Seq2[api.Domain, error]
}

// domainCache caches domains while a list is flattened, because most objects of a
// list refer to the same few domains. It reads the first domain alone, and all
// domains when a second one is needed. It caches errors too. It is not safe for
// concurrent use.
type domainCache struct {
	api    domainLister
	byID   map[string]api.Domain
	listed bool
	err    error
}

func newDomainCache(c domainLister) DomainReader { return &domainCache{api: c} }

// GetDomain implements DomainReader, by id only.
func (m *domainCache) GetDomain(ctx context.Context, id string) (*api.Domain, error) {
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

func (m *domainCache) list(ctx context.Context) {
	m.listed = true
	for d, err := range m.api.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			m.err = err
			return
		}
		m.byID[strings.ToLower(d.ID)] = d
	}
}

// InactiveDomainAdvice returns what to do next if nothing can be created in a domain
// because it is not paid for or its registration failed. It is "" for any other
// domain, and if the domain can't be read.
func InactiveDomainAdvice(ctx context.Context, c DomainReader, ref string) string {
	d, err := c.GetDomain(ctx, ref)
	switch {
	case err != nil:
		return ""
	case d.Status == vocab.DomainPendingPayment:
		return fmt.Sprintf("Pay for the domain %s, and run apply again. The warning of the purchase and the service's own control panel show where to pay.", d.Name)
	case d.Status == vocab.DomainFailed:
		return fmt.Sprintf("The domain %s was not registered. Find out why in the service's own control panel; nothing can be created in the domain before it is active.", d.Name)
	}
	return ""
}

// AddCreateError reports why an object could not be created. conflict returns what to do
// about a conflict. domain, if set, refers to a domain that must be active.
func AddCreateError(ctx context.Context, c DomainReader, diags *diag.Diagnostics, err error, object fmt.Stringer, domain string, fields Fields, conflict func() string) {
	summary := "Can't create the " + object.String()
	if !client.IsConflict(err) {
		AddError(diags, CreateError(ctx, err), summary, fields)
		return
	}
	next := ""
	if domain != "" {
		next = InactiveDomainAdvice(ctx, c, domain)
	}
	if next == "" {
		next = conflict()
	}
	AddErrorWithAdvice(diags, err, summary, fields, next)
}
