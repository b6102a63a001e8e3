package service

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agext/levenshtein"
	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// WarnMissingDomain warns in a plan that creates an object in a domain that the account does
// not have and that no resource planned so far buys or adopts. It is no error, because
// another resource may do that later in the plan, without a reference to it. It looks each
// domain up once in a walk, and warns of it once. A plan that keeps the object in its domain
// looks nothing up.
func (c *connection) WarnMissingDomain(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	ref := attribute(resp.Plan.Raw, "domain")
	if resp.Diagnostics.HasError() || ref == attribute(req.State.Raw, "domain") {
		return
	}
	c.WarnMissingDomainRef(ctx, ref, &resp.Diagnostics)
}

// WarnMissingDomainRef is WarnMissingDomain for a reference to a domain; "" is none.
func (c *connection) WarnMissingDomainRef(ctx context.Context, ref string, diags *diag.Diagnostics) {
	d := c.domainLookup(ctx, ref)
	if d == nil || !d.isMissing || d.isReported.Swap(true) {
		return
	}
	next := MissingDomainAdvice
	if d.similar != "" {
		next = fmt.Sprintf("Did you mean %s? %s", d.similar, next)
	}
	diags.AddAttributeWarning(path.Root("domain"), "The account does not have the domain "+ref,
		"The plan creates objects in it, so the apply fails unless the account has the domain by then. (One that the credential may not view counts as missing.) This warning is shown once for all resources with this domain.\n\n"+next)
}

// domainLookup is the result of looking up a domain that plans refer to.
type domainLookup struct {
	isMissing  bool
	similar    string // the name of a domain that the reference may mean, or ""
	isReported atomic.Bool
}

// lookedUp is the key of a [domainLookup] in the walk's notes.
type lookedUp struct{ domain string }

// lookupTimeout limits a lookup, so that no plan waits for its warnings during an outage.
const lookupTimeout = 10 * time.Second

// domainLookup returns the lookup of a domain, or nil if there is nothing to look up.
func (c *connection) domainLookup(ctx context.Context, ref string) *domainLookup {
	name, err := customtype.DomainRef.Normalize(ref)
	if c.session == nil || ref == "" || err != nil || c.Walk().IsExpected(session.Named("mailhost_domain", name)) {
		return nil
	}
	d, _ := Once(ctx, c.Notes(), lookedUp{name}, func() *domainLookup {
		d := &domainLookup{}
		account := c.ClientForWarning(ctx)
		if account == nil {
			return d
		}
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		_, err := account.GetDomain(c.session.ForPlan(ctx), name)
		if d.isMissing = client.IsNotFound(err); d.isMissing && uuid.Validate(name) != nil {
			d.similar = c.similarDomain(ctx, account, name)
		}
		return d
	})
	return d
}

// similarDomain returns the domain of the account or of the plan whose name differs least,
// if that is little enough for an error in spelling.
func (c *connection) similarDomain(ctx context.Context, account *client.Client, name string) (similar string) {
	const most = 500 // domains: one page
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
	for d, err := range account.ListDomains(client.WithPageSize(ctx, most), api.ListDomainsRequest{}) {
		if n++; err != nil || n > most {
			break
		}
		compare(strings.ToLower(d.Name))
	}
	return similar
}

// CreatesDomain reports whether the walk creates the domain that a reference names, so that
// it has nothing yet.
func (c *connection) CreatesDomain(ref string) bool {
	name, err := customtype.DomainRef.Normalize(ref)
	return err == nil && c.Walk().IsExpected(session.Named("mailhost_domain", name))
}
