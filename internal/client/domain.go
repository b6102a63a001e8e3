package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

var domainKind = kind[api.Domain]{
	noun: "domain",
	id:   func(d *api.Domain) string { return d.ID },
	key:  func(d *api.Domain) string { return d.Name },
	fold: foldDomain,
}

// foldDomain brings a name to canonical form, and an id to lower case.
func foldDomain(s string) string {
	if canonical, err := domainname.Normalize(s); err == nil {
		return canonical
	}
	return foldID(s)
}

// ListDomains returns the domains that match the request's filters.
func (c *Client) ListDomains(ctx context.Context, req api.ListDomainsRequest) iter.Seq2[api.Domain, error] {
	return sweep(ctx, c, api.ListDomains, req, domainKind.id)
}

// GetDomain reads a domain by id or name.
func (c *Client) GetDomain(ctx context.Context, domain string) (*api.Domain, error) {
	return read(ctx, c, api.GetDomain, &api.DomainRequest{Domain: domain}, c.domains, domain)
}

// DomainAvailability reports whether a domain can be bought, and at what price. An
// API without that operation can't: ErrReadUnsupported.
func (c *Client) DomainAvailability(ctx context.Context, name string) (*api.DomainAvailability, error) {
	op := api.CheckDomainAvailability
	if c.caps.absent(op.Spec) {
		return nil, unsupported(ErrReadUnsupported, op.Spec, name)
	}
	a, err := call(ctx, c, op, &api.DomainAvailabilityRequest{Name: name})
	if IsUnsupported(err) || StatusOf(err) == http.StatusNotFound || err == nil && a.DomainName == "" {
		c.caps.missing(op.Spec) // 404 too: it may be read as a domain of this name
		return nil, unsupported(ErrReadUnsupported, op.Spec, name)
	}
	return a, err
}

// FindDomain looks a domain up by its name.
func (c *Client) FindDomain(ctx context.Context, name string) (*api.Domain, error) {
	canonical := foldDomain(name)
	list := c.ListDomains(ctx, api.ListDomainsRequest{Search: canonical})
	found, err := matching(list, func(d *api.Domain) bool { return foldDomain(d.Name) == canonical })
	return only(domainKind, name, found, err)
}

// UpdateDomain changes what body names of a domain's settings, and returns those
// settings.
func (c *Client) UpdateDomain(ctx context.Context, domain string, body api.UpdateDomainBody) (*api.DomainSettings, error) {
	req := &api.UpdateDomainRequest{Domain: domain, Body: body}
	s, err := change(ctx, c, api.UpdateDomain, req, c.domains, domain)
	if err != nil {
		return nil, err
	}
	// The redirect's mode and the time of the change are not in the answer.
	c.domains.touch(domain)
	if s.ID != "" {
		c.domains.touch(s.ID)
		return s, nil
	}
	d, err := c.GetDomain(ctx, domain) // the answer was without content
	if err != nil {
		return nil, err
	}
	return &api.DomainSettings{AutoRenew: d.AutoRenew, ID: d.ID, WorkspaceID: d.WorkspaceID, RedirectURL: d.RedirectURL}, nil
}

// DeleteDomain deletes a domain.
func (c *Client) DeleteDomain(ctx context.Context, domain string) error {
	return remove(ctx, c, api.DeleteDomain, &api.DomainRequest{Domain: domain}, c.domains, domain)
}

// DeletesDomains reports whether this API is taken to have an operation that deletes
// domains; it may read one to find out.
func (c *Client) DeletesDomains(ctx context.Context, domain string) bool {
	return c.offers(ctx, api.DeleteDomain.Spec, api.GetDomain.Spec, func() error {
		_, err := c.GetDomain(ctx, domain)
		return err
	})
}

// domainID returns the id of a domain that is named by id or name.
func (c *Client) domainID(ctx context.Context, domain string) (string, error) {
	if uuid.Validate(domain) == nil {
		return foldID(domain), nil
	}
	d, err := c.GetDomain(ctx, domain)
	if IsNotFound(err) {
		return "", notFound("domain " + domain)
	}
	if err != nil {
		return "", err
	}
	return foldID(d.ID), nil
}

// domainName returns the name of a domain that is named by id or name.
func (c *Client) domainName(ctx context.Context, domain string) (string, error) {
	isID := uuid.Validate(domain) == nil
	if !isID {
		return domain, nil
	}
	d, err := c.GetDomain(ctx, domain)
	if err != nil {
		return "", err
	}
	return d.Name, nil
}
