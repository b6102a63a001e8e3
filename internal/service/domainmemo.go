package service

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

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
