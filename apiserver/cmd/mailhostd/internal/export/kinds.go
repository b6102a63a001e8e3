package export

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/hcltext"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// kinds write the objects of one kind each, after the domains.
var kinds = []func(*configuration, context.Context) error{
	(*configuration).rules, (*configuration).passwords, (*configuration).serviceAccounts, (*configuration).dedicatedIPs,
}

// scope describes where a rule or a master password applies.
type scope struct {
	file string
	// label begins the name of the resource. key begins its import id; it ends with a slash, or is "".
	label, key string
	// attribute is the line that sets the scope, or "" for the account.
	attribute string
}

func (c *configuration) scope(scopeType, id string) scope {
	name := c.names[id]
	switch {
	case scopeType == vocab.ScopeDomain && name != "":
		return scope{name + ".tf", name, name + "/", "domain = mailhost_domain." + hcltext.Label(name) + ".name\n"}
	case scopeType == vocab.ScopeDomain:
		return scope{accountFile, "domain", id + "/", "domain = " + hcltext.Quote(id) + "\n"}
	case scopeType == vocab.ScopeWorkspace:
		label := c.workspaces[id]
		if label == "" {
			label = "workspace"
		}
		return scope{accountFile, label, id + "/", "workspace_id = " + c.workspace(id) + "\n"}
	}
	return scope{accountFile, "account", "", ""}
}

func (c *configuration) rules(ctx context.Context) error {
	all, err := list(ctx, c, "Forwarding rules", api.ListForwarding, &api.ListForwardingRequest{}, func(f api.Forwarding) string {
		return f.ScopeType + " " + f.ScopeID + " " + f.TargetEmail
	})
	for _, f := range all {
		s := c.scope(f.ScopeType, f.ScopeID)
		body := s.attribute + "target_email = " + hcltext.Quote(f.TargetEmail)
		isConfirmed := f.VerificationState == vocab.VerificationInternal || f.VerificationState == vocab.VerificationVerified
		if isConfirmed && !f.Active {
			body += "\nactive = false"
		}
		c.resource(s.file, "mailhost_forwarding", s.label+"_to_"+f.TargetEmail, s.key+f.TargetEmail, body)
	}
	return err
}

func (c *configuration) passwords(ctx context.Context) error {
	all, err := list(ctx, c, "Master passwords", api.ListMasterPasswords, &api.ListMasterPasswordsRequest{}, func(p api.MasterPassword) string {
		return p.ScopeType + " " + p.ScopeID + " " + p.Name
	})
	for _, p := range all {
		s := c.scope(p.ScopeType, p.ScopeID)
		c.resource(s.file, "mailhost_master_password", s.label+"_"+p.Name, p.ID,
			"# The API does not return the secret: it stays as it is, and a replacement needs one.\n"+s.attribute+"name = "+hcltext.Quote(p.Name))
	}
	return err
}

// serviceAccounts writes the service accounts with an active token, except the caller's own.
func (c *configuration) serviceAccounts(ctx context.Context) error {
	all, err := list(ctx, c, "Service accounts", api.ListServiceAccounts, &api.ListRequest{}, func(s api.ServiceAccount) string { return s.Name + " " + s.ID })
	all = slices.DeleteFunc(all, func(s api.ServiceAccount) bool {
		state := apiclient.TokenState(s, time.Now())
		isOwn := c.Token != "" && strings.Contains(c.Token, s.TokenPublicID)
		switch {
		case isOwn:
			c.leave("Service account `%s`: Terraform should not manage the credential that it uses itself.", s.Name)
		case state == "expired":
			c.leave("Service account `%s` (%s): its token has expired.", s.Name, s.ID)
		}
		return isOwn || state != "active"
	})
	if err != nil || len(all) == 0 {
		return err
	}
	grants, err := apiclient.TokenGrants(ctx, c.Client)
	for _, s := range all {
		c.serviceAccount(&s, grants[s.ID])
	}
	return err
}

func (c *configuration) serviceAccount(s *api.ServiceAccount, grants []api.Authorization) {
	body := "# Its users have the token, which the API does not return.\nname = " + hcltext.Quote(s.Name) + "\n"
	if s.ExpiresAt != nil {
		body += "expires_at = " + hcltext.Quote(strings.Replace(*s.ExpiresAt, ".000000Z", "Z", 1)) + "\n"
	}
	if len(grants) > 0 && !slices.ContainsFunc(grants, func(g api.Authorization) bool { return g.CapabilityKey == nil }) {
		slices.SortFunc(grants, func(a, b api.Authorization) int {
			return cmp.Or(strings.Compare(*a.CapabilityKey, *b.CapabilityKey), strings.Compare(api.Value(a.ResourceID), api.Value(b.ResourceID)))
		})
		var permissions strings.Builder
		for _, g := range grants {
			restricted := ""
			if g.ResourceType != nil {
				restricted = fmt.Sprintf(", resource_type = %s, resource_id = %s", hcltext.Quote(*g.ResourceType), hcltext.Quote(api.Value(g.ResourceID)))
			}
			fmt.Fprintf(&permissions, "{ capability_key = %s%s },\n", hcltext.Quote(*g.CapabilityKey), restricted)
		}
		body += "permissions = [\n" + permissions.String() + "]"
	}
	c.resource(accountFile, "mailhost_service_account", s.Name, s.ID, body)
}

func (c *configuration) dedicatedIPs(ctx context.Context) error {
	all, err := list(ctx, c, "Dedicated IPs", api.ListDedicatedIPs, &api.ListDedicatedIPsRequest{}, func(ip api.DedicatedIP) string { return ip.Name + " " + ip.ID })
	all = slices.DeleteFunc(all, func(ip api.DedicatedIP) bool {
		isReleased := ip.Status == vocab.DedicatedIPReleasing
		if isReleased {
			c.leave("Dedicated IP `%s`: it is being released.", ip.Name)
		}
		return isReleased
	})
	for _, ip := range all {
		addresses := make([]string, len(ip.IPAddresses))
		for i, a := range ip.IPAddresses {
			addresses[i] = a.IP
		}
		c.resource(accountFile, "mailhost_dedicated_ip", cmp.Or(ip.Name, "ip"), ip.ID, "# "+cli.Printable(strings.Join(addresses, ", "))+
			". To claim another one in its place, set option_id.\n\nlifecycle {\nprevent_destroy = true\n}")
	}
	return err
}
