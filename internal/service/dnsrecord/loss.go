package dnsrecord

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// losses returns the losses of a planned change: the record, and a change of the MX, SPF or DMARC records
// in force. An adoption changes only the ttl.
func losses(ctx context.Context, ch service.Change[model]) (all []service.Loss) {
	switch ch.Fate {
	case service.Destroyed, service.Replaced:
		l := ch.Ending("deletes", "the "+ch.Before.String(), service.DNS)
		l.Consequence = "The name can't be resolved any more with the value " + shortened(ch.Before.Value.ValueString()) + "."
		all = append(all, l)
		all = append(all, reachLosses(ctx, &ch, ch.Before, ch.Before.mail(nil), nil)...)
		if ch.Fate == service.Destroyed {
			return all
		}
		fallthrough
	case service.Created:
		m := ch.After
		m.DomainName = types.StringNull()                                        // a replacement plans the name of the old domain
		if m.zoneName() == "" && !m.Domain.IsUnknown() && len(m.mail(nil)) > 0 { // the configuration refers to the domain by its id
			m.DomainName = types.StringValue(attribute.DomainName(m.DomainLabel(m.Domain.ValueString())))
		}
		return append(all, reachLosses(ctx, &ch, m, nil, m.mail(nil))...)
	case service.Updated:
		was := ch.Before.mail(nil)
		return reachLosses(ctx, &ch, ch.Before, was, ch.After.mail(was))
	}
	return nil
}

// zoneName returns the name of the record's domain, or "" if only the API knows it.
func (m model) zoneName() string {
	return cmp.Or(m.DomainName.ValueString(), attribute.DomainName(m.Domain.ValueString()))
}

// mail returns the record as the only one of its domain. before contains a record that may have become
// one with an unknown value.
func (m model) mail(before Mail) Mail {
	all := Mail{}
	name, err := dnsdata.NormalizeName(m.Name.ValueString(), m.zoneName())
	if err != nil {
		return nil
	}
	recordType := m.Type.ValueString()
	if m.Value.IsUnknown() || m.Priority.IsUnknown() {
		all.AddUnknown(name, recordType, before)
	} else if value, err := dnsdata.NormalizeValue(recordType, m.Value.ValueString()); err == nil {
		all.Add(name, recordType, value, m.Priority.ValueInt64Pointer())
	}
	return all
}

// reachLosses returns the losses of a plan that replaces the MX, SPF and DMARC records was by will, in the
// domain of m. It lists the domain's records only if they differ.
func reachLosses(ctx context.Context, ch *service.Change[model], m model, was, will Mail) []service.Loss {
	ref := m.Domain.ValueString()
	isNew := ch.CreatesDomain(ref) || ch.Walk().IsAcquired(session.Object{Type: "mailhost_domain", ID: ref})
	if maps.EqualFunc(was, will, slices.Equal) || m.Domain.IsUnknown() || len(was) == 0 && isNew {
		return nil // nothing is in force in a new domain
	}
	before, builtIn, err := inForce(ctx, ch, ref)
	if len(was) == 0 && client.IsNotFound(err) {
		return nil
	}
	if err != nil { // nothing is known about the other records
		before = maps.Clone(was)
	}
	after := Mail{}
	for p, values := range before {
		after[p] = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(was[p], v) })
	}
	for p, values := range will {
		if p.purpose.Single() {
			after[p] = nil // a second one is refused
		}
		for _, v := range values {
			if !slices.Contains(after[p], v) {
				after[p] = append(after[p], v)
			}
		}
	}
	changed := func(p place, _ []string) bool { return len(was[p]) == 0 && len(will[p]) == 0 }
	maps.DeleteFunc(before, changed)
	maps.DeleteFunc(after, changed)
	losses := ReachLosses(cmp.Or(m.zoneName(), ref), before, after, func() (Mail, bool) { return builtIn, err == nil })
	for i := range losses {
		if m.Type.ValueString() == dnsdata.TypeMX {
			losses[i].Because = "Other resources of the plan may change the MX records too; this is the effect of this record alone."
			if len(will) == 0 {
				losses[i].Because += " Without any MX record of yours at the domain itself, its mail goes to the service's own hosts."
			}
		}
		if ch.Fate != service.Destroyed {
			losses[i].At = path.Root("value")
		}
	}
	return losses
}

// inForce returns the MX, SPF and DMARC records of a domain: the customer's and the system-managed ones. A
// list omits the system-managed ones that the customer's replace.
func inForce(ctx context.Context, ch *service.Change[model], domain string) (own, builtIn Mail, err error) {
	own, builtIn = Mail{}, Mail{}
	c := ch.ClientIfOpen(ctx)
	if c == nil {
		return nil, nil, client.ErrReadUnsupported
	}
	all, err := listed(ctx, c, ch.Notes(), domain)
	for _, records := range all {
		for _, r := range records {
			m := own
			if r.IsSystemManaged {
				m = builtIn
			}
			name, _ := dnsdata.NormalizeName(r.Name, attribute.DomainName(domain))
			value, _ := dnsdata.NormalizeValue(r.Type, r.Value)
			m.Add(cmp.Or(name, r.Name), r.Type, cmp.Or(value, r.Value), r.Priority)
		}
	}
	return own, builtIn, err
}
