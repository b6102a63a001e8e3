package dedicatedip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.State.Raw.IsNull():
		replaces := service.GetPrivate[successor](ctx, req.Private, successorKey).Replaces
		plan.Acquisition = r.planCreate(ctx, &plan, replaces, req, &resp.Diagnostics)
		resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, successorKey, successor{replaces})...)
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	case req.Plan.Raw.IsNull():
	// The option of an imported address is unknown, and an unknown planned option may be the same.
	case !state.OptionID.IsNull() && !plan.OptionID.IsUnknown() && !plan.OptionID.Equal(state.OptionID):
		resp.RequiresReplace.Append(path.Root("option_id"))
		resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, successorKey, successor{state.ID.ValueString()})...)
		if r.WillOrphan(ctx, req, resp) { // the engine then warns of the orphan in place of the losses
			service.AddLosses(&resp.Diagnostics, claim(ctx, r.Session, r.ClientIfOpen(ctx), plan))
		}
	default:
		r.warnUnused(ctx, state, &resp.Diagnostics)
	}
}

// successor is the plan of a create. It is stored in the planned private state, and never reaches the state.
type successor struct {
	// Replaces is the id of the address that another option replaces, or "".
	Replaces string `json:"replaces"`
}

// successorKey is the key of the [successor]. Core passes it from the first to the second plan of a
// replacement, and from the plan to the delete of the replaced address, which may be tainted.
const successorKey = "successor"

// planCreate returns the acquisition: a purchase, an adoption, null after an error, or unknown if only the
// apply can decide. It plans the known values of an adopted address.
//
// Core plans a create again in the apply, and fails if the acquisition is another one. That plan does not see
// the state, so the acquisition must not depend on it: an unused address stops a claim whether the state has
// the address or not, and an adoption takes the oldest one, or fails if the state has it.
func (r *Resource) planCreate(ctx context.Context, plan *model, replaces string, req resource.ModifyPlanRequest, diags *diag.Diagnostics) types.String {
	if service.IsReplacement(ctx, req.Private) && replaces == "" { // by -replace or a trigger
		service.AddConflict(diags, "dedicated IP of this resource", "", session.InState)
		return types.StringNull()
	}
	c := r.ClientForPlan(ctx, diags)
	if diags.HasError() {
		return types.StringNull()
	}
	if c == nil {
		return types.StringUnknown()
	}
	if requireOption(ctx, c, req, diags); diags.HasError() {
		return types.StringNull()
	}
	var unused []api.DedicatedIP
	var err error
	if !plan.OptionID.IsUnknown() {
		unused, err = unusedOf(ctx, r.Session, c, plan.OptionID.ValueString())
		unused = slices.DeleteFunc(unused, func(ip api.DedicatedIP) bool { return ip.ID == replaces })
	}
	adopts := service.Adopts(plan.OnExisting)
	switch {
	case err != nil && (adopts || !isRefused(err)):
		report.ErrorWithAdvice(diags, err, "Can't find out whether the account has a dedicated IP that no domain uses", nil,
			"Nothing was claimed. Plan again when the API can list the dedicated IPs and the domains.")
	case plan.OptionID.IsUnknown():
		return types.StringUnknown()
	case len(unused) == 0 || plan.OnExisting.ValueString() == createAnother:
		return types.StringValue(acquisitionPurchase)
	case adopts:
		return r.planAdoption(ctx, plan, unused, diags)
	case r.Walk().MayBeInState(session.Object{}): // a disabled walk can't tell an address that this apply has claimed
		return types.StringValue(acquisitionPurchase)
	default:
		r.addUnused(ctx, *plan, unused, diags)
	}
	return types.StringNull()
}

// isRefused reports whether the API lacks a list, or the credential may not view it.
func isRefused(err error) bool {
	return errors.Is(err, client.ErrReadUnsupported) || client.StatusOf(err) == http.StatusForbidden
}

// planAdoption plans the adoption of the oldest unused address that no other create adopts. With several
// addresses its values are unknown: core may plan the creates in another order in the apply.
func (r *Resource) planAdoption(ctx context.Context, plan *model, unused []api.DedicatedIP, diags *diag.Diagnostics) types.String {
	for _, ip := range unused {
		e := plan.existing(ctx, ip)
		switch conflict := r.Walk().PlanExisting(e.Object, true); conflict {
		case session.NoConflict:
			r.WarnAdoption(diags, e)
			if len(unused) == 1 {
				plan.planAdopted(ctx, ip, diags)
			}
			return types.StringValue(acquisitionAdopt)
		case session.Taken:
		default:
			e.Choice = "This resource would adopt it, as the oldest address that no domain uses. To claim and pay for another one, set on_existing = \"create\"."
			service.AddExistsError(diags, e, conflict)
			return types.StringNull()
		}
	}
	diags.AddAttributeError(path.Root("on_existing"), "No unused dedicated IP is left to adopt",
		fmt.Sprintf("Other resources adopt what the account has in this country and no domain uses:%s\n\n", report.Bullets(named(unused)))+
			"Nothing was claimed. To claim another address with this resource, set on_existing = \"create\". With count or for_each, import the existing addresses in place of adopting them.")
	return types.StringNull()
}

// planAdopted plans the values that an adopted address keeps.
func (m *model) planAdopted(ctx context.Context, ip api.DedicatedIP, diags *diag.Diagnostics) {
	var now model
	attribute.Flatten(&now, ip)
	m.ID, m.Name, m.Type, m.ASN, m.CountryCode, m.CreatedAt = now.ID, now.Name, now.Type, now.ASN, now.CountryCode, now.CreatedAt
	addresses := now.IPAddresses.Elements()
	for i, a := range addresses {
		o, _ := a.(types.Object)
		values := o.Attributes()
		for name, t := range o.AttributeTypes(ctx) {
			if name != "ip" { // its health may change until the apply
				values[name], _ = t.ValueFromTerraform(ctx, tftypes.NewValue(t.TerraformType(ctx), tftypes.UnknownValue))
			}
		}
		addresses[i] = types.ObjectValueMust(o.AttributeTypes(ctx), values)
	}
	list, problems := types.ListValue(now.IPAddresses.ElementType(ctx), addresses)
	diags.Append(problems...)
	m.IPAddresses = list
}

// existing describes an address that a claim would duplicate.
func (m model) existing(ctx context.Context, ip api.DedicatedIP) service.Existing {
	key := ip.ID
	if len(ip.IPAddresses) > 0 {
		key = ip.IPAddresses[0].IP
	}
	e := Definition.DescribeExisting(ctx, &ip, m, key)
	e.Label = "dedicated IP " + cmp.Or(ip.Name, ip.ID)
	return e
}

// addUnused adds the error of a claim while the account has addresses that no domain uses. It prefers one
// that the state may lack.
func (r *Resource) addUnused(ctx context.Context, plan model, unused []api.DedicatedIP, diags *diag.Diagnostics) {
	found := unused[max(0, slices.IndexFunc(unused, func(ip api.DedicatedIP) bool { return !r.Walk().IsInState(object(ip)) }))]
	e := plan.existing(ctx, found)
	e.Choice = "No domain uses it, and you pay for it. An apply that was killed may have claimed it. To claim and pay for another one, set on_existing = \"create\"."
	if len(unused) > 1 {
		e.Choice = "No domain uses it, and you pay for it, as for all of these:" + report.Bullets(named(unused)) +
			"\n\nAn apply that was killed may have claimed them. To claim and pay for another one, set on_existing = \"create\"."
	}
	conflict := session.Exists
	switch {
	case r.Walk().IsDestroyed(e.Object):
		conflict = session.Destroyed
	case r.Walk().IsInState(e.Object):
		conflict = session.InState
	}
	if r.Walk().MayReport() {
		service.AddExistsError(diags, e, conflict)
	}
}

// warnUnused warns in each plan of an address that no domain uses, or that is being released.
func (r *Resource) warnUnused(ctx context.Context, state model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil {
		return
	}
	if state.Status.ValueString() == vocab.DedicatedIPReleasing {
		diags.AddWarning("The "+state.String()+" is being released",
			"Its status is releasing: the account loses the address, and it can't be claimed again. The domains that use it then send from other addresses. Ask the mail host why, or remove the resource.")
		return
	}
	users, err := users(ctx, r.Session, c)
	if err != nil || users[strings.ToLower(state.ID.ValueString())] {
		return
	}
	diags.AddWarning("No domain uses the "+state.String(),
		"You pay for the address, and no domain that the provider's credential may view sends its mail from it. The API can't assign an address to a domain: ask the mail host to assign it, when its status is active. "+
			"If you no longer need it, remove the resource: that releases the address.")
}

// losses returns the losses of a planned change.
func losses(ctx context.Context, ch service.Change[model]) []service.Loss {
	switch ch.Fate {
	case service.Created:
		if a := ch.After.Acquisition; !a.IsNull() && a.ValueString() != acquisitionAdopt {
			l := claim(ctx, ch.Session, ch.ClientIfOpen(ctx), ch.After)
			if service.WasDropped(ctx, ch.Private) {
				l.Again = true
				l.Because = "An address was in the state, but the account no longer has it: it was released outside Terraform."
			}
			return []service.Loss{l}
		}
	case service.Destroyed:
		l := ch.Ending("releases", "the "+ch.Before.String(), service.Money)
		l.Consequence = releaseConsequence
		return []service.Loss{l}
	case service.Replaced:
		l := ch.Ending("releases", "the "+ch.Before.String(), service.Money, service.Purchase)
		l.Because = "Another option_id claims and pays for another address, and releases this one. The API does not return the price before the claim."
		other := claim(ctx, ch.Session, ch.ClientIfOpen(ctx), ch.After)
		l.Again, l.Lists, l.Items = other.Again, other.Lists, other.Items
		l.Consequence = releaseConsequence
		return []service.Loss{l}
	}
	return nil
}

// claim returns the purchase of an address. c is nil while the account can't be opened.
func claim(ctx context.Context, s *session.Session, c *client.Client, plan model) service.Loss {
	l := service.Loss{
		Of: []service.Asset{service.Purchase}, At: path.Root("option_id"),
		Does:        "claims and pays for a dedicated IP of an option that is known after the apply",
		Consequence: "The API does not return the price before the claim. If the address is released later, it can't be claimed again.",
	}
	id := plan.OptionID.ValueString()
	if plan.OptionID.IsUnknown() || c == nil {
		return l
	}
	l.Does = "claims and pays for a dedicated IP of the option " + cmp.Or(optionOf(ctx, s, c, id).Name, id)
	unused, err := unusedOf(ctx, s, c, id)
	unused = slices.DeleteFunc(unused, func(ip api.DedicatedIP) bool { return s.Walk().IsInState(object(ip)) })
	switch {
	case err != nil:
		l.Because = "The account may have an address that no domain uses: the provider can't find out (" + strings.TrimSuffix(err.Error(), ".") + ")."
	case len(unused) > 0:
		l.Again = true
		l.Lists, l.Items = "The account has addresses in the same country already that no domain uses, and that the state may lack:", named(unused)
		l.Keep = "To use one of them instead, import it, or set on_existing = \"adopt\"."
	}
	return l
}

// requireOption adds an error to the plan of a create without an option. Create checks an option
// unknown in the plan.
func requireOption(ctx context.Context, c *client.Client, req resource.ModifyPlanRequest, diags *diag.Diagnostics) {
	var optionID customtype.String
	if diags.Append(req.Config.GetAttribute(ctx, path.Root("option_id"), &optionID)...); optionID.IsNull() && !diags.HasError() {
		addOptionMissing(ctx, c, diags)
	}
}

func object(ip api.DedicatedIP) session.Object {
	return session.Object{Type: typeName, ID: ip.ID, IsValuable: true}
}

func named(ips []api.DedicatedIP) (names []string) {
	for _, ip := range ips {
		names = append(names, fmt.Sprintf("%s, with the id %s", cmp.Or(ip.Name, ip.ID), ip.ID))
	}
	return names
}

// unusedOf returns the addresses of the account that may be of an option and that no domain uses, the oldest
// first. It compares countries, because the API does not return the option of an address. The addresses are
// listed once in a walk, before the walk claims any.
func unusedOf(ctx context.Context, s *session.Session, c *client.Client, optionID string) (unused []api.DedicatedIP, err error) {
	all, err := claimed(ctx, s, c)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	isUsed, err := users(ctx, s, c)
	if err != nil {
		return nil, err
	}
	country := optionOf(ctx, s, c, optionID).CountryCode
	for _, ip := range all {
		isElsewhere := country != "" && ip.CountryCode != nil && !strings.EqualFold(*ip.CountryCode, country)
		if !isUsed[strings.ToLower(ip.ID)] && ip.Status != vocab.DedicatedIPReleasing && !isElsewhere && !s.Walk().IsGone(object(ip)) {
			unused = append(unused, ip)
		}
	}
	return unused, nil
}

// claimed returns the addresses of the account, the oldest first.
func claimed(ctx context.Context, s *session.Session, c *client.Client) ([]api.DedicatedIP, error) {
	type noteKey struct{}
	return service.OnceResult(s.Notes(), noteKey{}, func() ([]api.DedicatedIP, error) {
		var all []api.DedicatedIP
		for ip, err := range c.ListDedicatedIPs(s.ForPlan(ctx), api.ListDedicatedIPsRequest{}) {
			if err != nil {
				return nil, err
			}
			all = append(all, ip)
		}
		at := func(ip api.DedicatedIP) string { return api.Value(ip.CreatedAt) }
		slices.SortFunc(all, func(a, b api.DedicatedIP) int {
			return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.ID, b.ID))
		})
		return all, nil
	})
}

// users returns the ids of the addresses that a domain uses.
func users(ctx context.Context, s *session.Session, c *client.Client) (map[string]bool, error) {
	type noteKey struct{}
	return service.OnceResult(s.Notes(), noteKey{}, func() (map[string]bool, error) {
		all := map[string]bool{}
		for d, err := range c.ListDomains(s.ForPlan(ctx), api.ListDomainsRequest{}) {
			if err != nil {
				return nil, err
			}
			all[strings.ToLower(api.Value(d.DedicatedIPID))] = true
		}
		return all, nil
	})
}

// optionOf returns an option, or an empty one if the API does not list it.
func optionOf(ctx context.Context, s *session.Session, c *client.Client, id string) api.DedicatedIPOption {
	type noteKey struct{}
	all := service.Once(s.Notes(), noteKey{}, func() (all []api.DedicatedIPOption) {
		for o, err := range c.ListDedicatedIPOptions(ctx) {
			if err == nil {
				all = append(all, o)
			}
		}
		return all
	})
	for _, o := range all {
		if customtype.UUID.Same(o.ID, id) {
			return o
		}
	}
	return api.DedicatedIPOption{}
}
