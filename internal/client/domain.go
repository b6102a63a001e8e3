package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// ListDomains returns the domains that match the request's filters.
func (c *Client) ListDomains(ctx context.Context, req api.ListDomainsRequest) iter.Seq2[api.Domain, error] {
	return list(ctx, c.core, api.ListDomains, req, domainKeys.ID)
}

// GetDomain reads a domain by id or name.
func (c *Client) GetDomain(ctx context.Context, domain string) (*api.Domain, error) {
	return c.domains.get(ctx, domain)
}

// DomainAvailability reports whether a domain can be bought, and at what price.
// Without that operation it is ErrReadUnsupported.
func (c *Client) DomainAvailability(ctx context.Context, name string) (*api.DomainAvailability, error) {
	op := api.CheckDomainAvailability
	if c.operation(op.Spec).isAbsent() {
		return nil, unsupported(ErrReadUnsupported, op.Spec, name)
	}
	a, err := transport.Do(ctx, c.transport, op, &api.DomainAvailabilityRequest{Name: name})
	if IsUnsupported(err) || StatusOf(err) == http.StatusNotFound || err == nil && a.DomainName == "" {
		c.operation(op.Spec).setAbsent() // 404 too: the API may read the path as a domain of this name
		return nil, unsupported(ErrReadUnsupported, op.Spec, name)
	}
	return a, err
}

// FindDomain looks a domain up by its name.
func (c *Client) FindDomain(ctx context.Context, name string) (*api.Domain, error) {
	canonical := normalizeDomain(name)
	return c.domains.share(ctx, "", canonical, func(ctx context.Context) (*api.Domain, error) {
		domains := c.ListDomains(ctx, api.ListDomainsRequest{Search: canonical})
		found, err := filter(domains, func(d *api.Domain) bool { return normalizeDomain(d.Name) == canonical })
		return c.domains.one(name, found, err)
	})
}

// UpdateDomain changes the settings of a domain that body has, and returns all
// settings.
func (c *Client) UpdateDomain(ctx context.Context, domain string, body api.UpdateDomainBody) (*api.DomainSettings, error) {
	s, _, err := write(ctx, c.domains, api.UpdateDomain, &api.UpdateDomainRequest{Domain: domain, Body: body}, domain, ErrUpdateUnsupported)
	if err != nil {
		return nil, err
	}
	// The response has neither the redirect's mode nor the time of the change.
	c.domains.Invalidate(domain)
	if s.ID != "" {
		c.domains.Invalidate(s.ID)
		return s, nil
	}
	d, err := c.GetDomain(ctx, domain) // the response had no content
	if err != nil {
		return nil, err
	}
	return &api.DomainSettings{AutoRenew: d.AutoRenew, ID: d.ID, WorkspaceID: d.WorkspaceID, RedirectURL: d.RedirectURL}, nil
}

// DeleteDomain deletes a domain.
func (c *Client) DeleteDomain(ctx context.Context, domain string) error {
	return c.domains.delete(ctx, domain)
}

// domainID returns the id of a domain, by id or name.
func (c *Client) domainID(ctx context.Context, domain string) (string, error) {
	if uuid.Validate(domain) == nil {
		return normalizeID(domain), nil
	}
	d, err := c.GetDomain(ctx, domain)
	if IsNotFound(err) {
		return "", notFound("domain " + domain)
	}
	if err != nil {
		return "", err
	}
	return normalizeID(d.ID), nil
}

// domainName returns the name of a domain, by id or name.
func (c *Client) domainName(ctx context.Context, domain string) (string, error) {
	if isID := uuid.Validate(domain) == nil; !isID {
		return domain, nil
	}
	d, err := c.GetDomain(ctx, domain)
	if err != nil {
		return "", err
	}
	return d.Name, nil
}
