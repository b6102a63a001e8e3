package service

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// DomainReader reads a domain by id or name.
type DomainReader func(ctx context.Context, domain string) (*api.Domain, error)

// listedDomains returns a reader of domains by id from one list, which the first call requests: most
// objects of a list refer to the same few domains. The reader is not safe for concurrent use.
func listedDomains(c *client.Client) DomainReader {
	var byID map[string]*api.Domain
	var failure error
	return func(ctx context.Context, id string) (*api.Domain, error) {
		if byID == nil {
			byID = map[string]*api.Domain{}
			for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
				if failure = err; err == nil {
					byID[strings.ToLower(d.ID)] = &d
				}
			}
		}
		if d := byID[strings.ToLower(id)]; d != nil {
			return d, nil
		}
		return nil, cmp.Or(failure, client.ErrNotFound)
	}
}

// InDomain names the domain of an object in messages. The model of a kind with objects in a domain embeds it.
type InDomain struct {
	// nameOf returns the name of the domain with a UUID, or "" if it can't be looked up. It is nil while a
	// configuration is only validated.
	nameOf func(id string) string
}

func (d *InDomain) setNameOf(nameOf func(id string) string) { d.nameOf = nameOf }

// DomainLabel returns a domain's name in the API's form, from the first of several references to the domain that
// yields a name: the configured one comes first, because the others may be of a prior state. A UUID remains
// only if no name is known.
func (d InDomain) DomainLabel(refs ...string) string {
	for _, ref := range refs {
		canonical, err := customtype.DomainRef.Normalize(ref)
		switch {
		case err != nil:
		case !isUUID(canonical):
			return canonical
		case d.nameOf != nil:
			if name := d.nameOf(canonical); name != "" {
				return name
			}
		}
	}
	return cmp.Or(refs...)
}

// domainNameOf returns the name of the domain with a UUID, or "". It looks a domain up once in a walk.
func (c *connection) domainNameOf(ctx context.Context, id string) string {
	type nameKey struct{ id string }
	account := c.ClientIfOpen(ctx)
	if account == nil {
		return ""
	}
	return Once(c.Notes(), nameKey{id}, func() string {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		d, err := account.Domains.Get(c.ForPlan(ctx), id)
		if err != nil {
			return ""
		}
		return d.Name
	})
}

// InactiveDomainAdvice returns the next step if nothing can be created in a domain because it is
// unpaid or its registration failed, and "" otherwise.
func InactiveDomainAdvice(ctx context.Context, c *client.Client, ref string) string {
	d, err := c.Domains.Get(ctx, ref)
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

// lookupTimeout limits a lookup, so that no plan waits for its warnings during an outage.
const lookupTimeout = 10 * time.Second

// WarnMissingDomain warns once in a plan of objects in a domain if the account lacks the domain and
// no resource planned so far buys or adopts it; "" is no domain. It does not add an error, because a
// resource planned later may still buy or adopt the domain.
func (c *connection) WarnMissingDomain(ctx context.Context, ref string, diags *diag.Diagnostics) {
	type lookedUp struct{ domain string }
	name, err := customtype.DomainRef.Normalize(ref)
	account := c.ClientIfOpen(ctx)
	if ref == "" || err != nil || account == nil || c.CreatesDomain(ref) {
		return
	}
	if _, isLookedUp := c.Notes().LoadOrStore(lookedUp{name}, true); isLookedUp {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	if _, err := account.Domains.Get(c.ForPlan(ctx), name); !client.IsNotFound(err) {
		return
	}
	next := report.MissingDomainAdvice
	ref = name
	if similar := c.similarDomain(ctx, account, name); similar != "" {
		next = fmt.Sprintf("Did you mean %s? %s", similar, next)
	}
	diags.AddAttributeWarning(path.Root("domain"), "The account does not have the domain "+ref,
		"The plan creates objects in it, so the apply fails unless the account has the domain by then. (One that the credential may not view counts as missing.) This warning is shown once for all resources with this domain.\n\n"+next)
}

// similarDomain returns the domain of the account or of the plan with the most similar name, or ""
// if every name differs by more than a spelling error.
func (c *connection) similarDomain(ctx context.Context, account *client.Client, name string) (similar string) {
	const most = 500 // domains
	fewest := 1 + min(3, len(name)/4)
	compare := func(other string) {
		if n := levenshtein.Distance(name, other, nil); n < fewest {
			similar, fewest = other, n
		}
	}
	for _, other := range c.Walk().Expected("mailhost_domain") {
		compare(other)
	}
	n := 0
	for d, err := range account.ListDomains(ctx, api.ListDomainsRequest{}) {
		if n++; err != nil || n > most {
			break
		}
		compare(strings.ToLower(d.Name))
	}
	return similar
}

// OwnsDomain reports whether the account has a domain with a canonical name. One list, which the first call
// requests, serves the whole walk. If it can't be read, the account has none.
func (c *connection) OwnsDomain(ctx context.Context, name string) bool {
	type namesKey struct{}
	account := c.ClientIfOpen(ctx)
	return account != nil && Once(c.Notes(), namesKey{}, func() map[string]bool {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		names := map[string]bool{}
		for d, err := range account.ListDomains(ctx, api.ListDomainsRequest{}) {
			if err == nil {
				names[attribute.DomainName(d.Name)] = true
			}
		}
		return names
	})[name]
}

// CreatesDomain reports whether the walk creates the domain that a reference names. Such a domain is
// still empty.
func (c *connection) CreatesDomain(ref string) bool {
	name, err := customtype.DomainRef.Normalize(ref)
	return err == nil && c.Walk().IsExpected(session.Named("mailhost_domain", name))
}
