package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// This file describes the rights that token and grant give.

type rightsFlags struct {
	PlanOnly  bool     `variable:"-" xor:"rights" help:"Everything that a plan reads, and no change."`
	Grant     []string `variable:"-" xor:"rights" placeholder:"RIGHT" help:"A capability such as mailbox.view, or account_owner or super_admin. Repeat it, or separate several by commas."`
	Domain    string   `variable:"-" xor:"scope" placeholder:"NAME" help:"Restrict the capabilities to this domain."`
	Workspace string   `variable:"-" xor:"scope" placeholder:"NAME" help:"Restrict the capabilities to this workspace."`
}

func (f rightsFlags) Validate() error {
	restricted := f.Domain+f.Workspace != ""
	if restricted && len(f.Grant) == 0 {
		return errors.New("--domain and --workspace restrict single capabilities; name them with --grant")
	}
	known := slices.Clone(wholeAccount)
	for _, c := range api.Capabilities() {
		known = append(known, string(c))
	}
	for _, right := range f.Grant {
		canRestrict := func(s api.Spec) bool { return s.Capability == vocab.Capability(right) && s.Narrowable }
		switch {
		case !slices.Contains(known, right):
			return fmt.Errorf("--grant: %.64q is unknown; it must be one of %s", right, strings.Join(known, ", "))
		case restricted && !slices.ContainsFunc(api.Specs(), canRestrict):
			return fmt.Errorf("--grant: %s applies to the whole account only; grant it without --domain and --workspace", right)
		}
	}
	return nil
}

// wholeAccount are the rights other than capabilities.
var wholeAccount = []string{vocab.GrantAccountOwner, vocab.GrantSuperAdmin}

func (f rightsFlags) chosen() bool { return f.PlanOnly || len(f.Grant) > 0 }

// grants returns the chosen rights as grants without a subject.
func (f rightsFlags) grants(ctx context.Context, c *apiclient.Client) ([]api.GrantAuthorizationBody, error) {
	var resourceType, resourceID *string
	switch {
	case f.Domain != "":
		d, err := apiclient.Call(ctx, c, api.GetDomain, &api.DomainRequest{Domain: f.Domain})
		if err != nil {
			return nil, fmt.Errorf("--domain %s: %w", f.Domain, err)
		}
		resourceType, resourceID = new(vocab.ResourceDomain), &d.ID
	case f.Workspace != "":
		w, err := find(ctx, c, api.ListWorkspaces, &api.ListRequest{}, f.Workspace, func(w api.Workspace) (string, string) { return w.ID, w.Name })
		if err != nil {
			return nil, fmt.Errorf("--workspace: %w", err)
		}
		resourceType, resourceID = new(vocab.ResourceWorkspace), &w.ID
	}
	rights := f.Grant
	if f.PlanOnly {
		rights = nil
		for _, c := range api.PlanCapabilities() {
			rights = append(rights, string(c))
		}
	}
	var grants []api.GrantAuthorizationBody
	for _, right := range slices.Compact(slices.Sorted(slices.Values(rights))) {
		g := api.GrantAuthorizationBody{GrantKind: right, ResourceType: resourceType, ResourceID: resourceID}
		if !slices.Contains(wholeAccount, right) {
			g.GrantKind, g.CapabilityKey = vocab.GrantCapability, &right
		}
		grants = append(grants, g)
	}
	return grants, nil
}

// find returns the object with an id or a name in a list.
func find[Req, Item any](ctx context.Context, c *apiclient.Client, op api.Operation[Req, api.Page[Item]], in *Req, idOrName string, key func(Item) (id, name string)) (found Item, err error) {
	var ids []string
	for item, err := range apiclient.All(ctx, c, op, in) {
		if err != nil {
			return found, err
		}
		id, name := key(item)
		if id == api.CanonicalID(idOrName) {
			return item, nil
		}
		if name == idOrName {
			found, ids = item, append(ids, id)
		}
	}
	switch len(ids) {
	case 0:
		return found, fmt.Errorf("there is no %.255q", idOrName)
	case 1:
		return found, nil
	}
	return found, fmt.Errorf("there are several of the name %q; use an id: %s", idOrName, strings.Join(ids, ", "))
}

// DescribeGrant describes one grant.
func DescribeGrant(g api.Authorization, names *apiclient.Names) string {
	n := grantNames{names}
	return apiclient.RightOf(g) + " in " + n.scope(g) + " for " + n.subject(g)
}

// grantNames describes grants for people.
type grantNames struct{ *apiclient.Names }

func (n grantNames) subject(g api.Authorization) string {
	return apiclient.DescribeSubject(g.SubjectType, g.SubjectID, n.Subject(g.SubjectType, g.SubjectID))
}

func (n grantNames) scope(g api.Authorization) string {
	if g.ResourceType == nil || g.ResourceID == nil {
		return "account"
	}
	name := n.Resource(*g.ResourceType, *g.ResourceID)
	if name == "" {
		return *g.ResourceType + " " + *g.ResourceID
	}
	return *g.ResourceType + " " + name + " (" + *g.ResourceID + ")"
}
