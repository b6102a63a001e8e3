package account

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// dedicatedIPOperations binds the operations on dedicated IPs to their rules.
var dedicatedIPOperations = []Operation{
	change(api.ClaimDedicatedIP, claimDedicatedIP),
	read(api.ListDedicatedIPs, listDedicatedIPs),
	read(api.ListDedicatedIPOptions, listDedicatedIPOptions),
	read(api.GetDedicatedIP, getDedicatedIP),
	remove(api.ReleaseDedicatedIP, releaseDedicatedIP),
}

// claimDedicatedIP claims the first free address of an option. An address is unique in the store.
func claimDedicatedIP(c *Call, tx store.Tx, in *api.ClaimDedicatedIPRequest) (*api.DedicatedIP, error) {
	option, err := store.Get[store.DedicatedIPOption](tx, c.Caller.AccountID, in.Body.OptionID)
	if err != nil {
		return nil, ifUnknown(err, api.Invalid("there is no dedicated IP option %s for this account", in.Body.OptionID).InBody("option_id"))
	}
	_, n, err := tx.DedicatedIPs(c.Caller.AccountID, store.DedicatedIPFilter{Now: c.Arrival}, store.Slice{})
	switch limit := c.Rules.MaxDedicatedIPs; {
	case err != nil:
		return nil, err
	case limit >= 0 && n >= limit:
		return nil, api.Conflict("the account has reached its limit of %d dedicated IPs; release one that no domain uses", limit)
	}
	id := c.Rules.Random.ID()
	for _, address := range option.Addresses {
		d := store.DedicatedIP{
			ID: id, AccountID: c.Caller.AccountID, OptionID: option.ID, Name: option.Name + " " + address,
			Type: vocab.DedicatedIPType, State: store.Provisioning{Status: vocab.DedicatedIPActive},
			ASN: option.ASN, CountryCode: option.CountryCode, CreatedAt: c.Arrival,
			Addresses: []store.IPAddress{{IP: address, Healthy: new(true)}},
		}
		err := tx.Create(&d)
		if _, ok := errors.AsType[*store.ExistsError](err); !ok { // otherwise the address is taken
			return new(c.dedicatedIP(d)), err
		}
	}
	return nil, api.Conflict("the option %s (%s) is exhausted", option.Name, option.ID)
}

func listDedicatedIPs(c *Call, r store.Reader, in *api.ListDedicatedIPsRequest) (*api.Page[api.DedicatedIP], error) {
	return page(c, in.Paged, c.dedicatedIP, r.DedicatedIPs, store.DedicatedIPFilter{
		Status: in.Status, Now: c.Arrival, CountryCode: strings.ToUpper(in.CountryCode),
	})
}

func listDedicatedIPOptions(c *Call, r store.Reader, in *api.ListRequest) (*api.Page[api.DedicatedIPOption], error) {
	option := func(o store.DedicatedIPOption) api.DedicatedIPOption {
		claimed := func(ip string) bool { return slices.Contains(o.Claimed, ip) }
		free := slices.DeleteFunc(slices.Clone(o.Addresses), claimed)
		return api.DedicatedIPOption{ID: o.ID, Name: o.Name, Type: o.Type, CountryCode: o.CountryCode, Available: len(free)}
	}
	return page(c, in.Paged, option, unfiltered(r.DedicatedIPOptions), struct{}{})
}

func getDedicatedIP(c *Call, r store.Reader, in *api.DedicatedIPRequest) (*api.DedicatedIP, error) {
	d, err := store.Get[store.DedicatedIP](r, c.Caller.AccountID, in.DedicatedIPID)
	return new(c.dedicatedIP(d)), err
}

func releaseDedicatedIP(c *Call, tx store.Tx, in *api.DedicatedIPRequest) error {
	if err := c.expire(tx, c.Caller.AccountID, ""); err != nil { // includes overdue domains that the caller can't see
		return err
	}
	domains, _, err := tx.Domains(c.Caller.AccountID, store.DomainFilter{DedicatedIPID: in.DedicatedIPID}, store.Slice{Limit: math.MaxInt32})
	if err != nil {
		return err
	}
	if len(domains) > 0 {
		ids := objects(domains, func(d store.Domain) string { return d.ID })
		return api.Conflict("the dedicated IP %s is assigned to the domains %s", in.DedicatedIPID, strings.Join(ids, ", "))
	}
	return store.Delete[store.DedicatedIP](tx, c.Caller.AccountID, in.DedicatedIPID, c.Arrival)
}

func (c *Call) dedicatedIP(d store.DedicatedIP) api.DedicatedIP {
	address := func(a store.IPAddress) api.IPAddress {
		return api.IPAddress{IP: a.IP, FCrDNSConfirmed: a.FCrDNSConfirmed, Healthy: a.Healthy, RDNS: optional(a.RDNS)}
	}
	return api.DedicatedIP{
		ID: d.ID, Name: d.Name, Status: d.State.At(c.Arrival), Type: d.Type, ASN: optional(d.ASN), CountryCode: optional(d.CountryCode),
		IPAddresses: objects(d.Addresses, address), CreatedAt: optionalTimestamp(d.CreatedAt), UpdatedAt: optionalTimestamp(d.UpdatedAt),
	}
}
