package account

import (
	"errors"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// ClaimDedicatedIP implements api.ClaimDedicatedIP.
func ClaimDedicatedIP(c *Call, in *api.ClaimDedicatedIPRequest) (*api.DedicatedIP, error) {
	id := c.rules.random.ID()
	return transact(c, func(tx store.Tx) (*api.DedicatedIP, error) {
		option, err := tx.DedicatedIPOption(c.caller.AccountID, in.Body.OptionID)
		if errors.Is(err, store.ErrNotFound) {
			return nil, api.Unprocessable(api.Invalid("there is no dedicated IP option %s for this account", in.Body.OptionID).InBody("option_id"))
		}
		if err != nil {
			return nil, err
		}
		for _, address := range free(option) {
			d := store.DedicatedIP{
				ID: id, AccountID: c.caller.AccountID, OptionID: option.ID, Name: option.Name + " " + address,
				Type: vocab.DedicatedIPType, State: store.Provisioning{Status: vocab.DedicatedIPActive},
				ASN: option.ASN, CountryCode: option.CountryCode, CreatedAt: c.at,
				Addresses: []store.IPAddress{{IP: address, Healthy: new(true)}},
			}
			err := tx.CreateDedicatedIP(&d)
			if _, ok := errors.AsType[*store.ExistsError](err); ok {
				continue // another account was faster
			}
			if err != nil {
				return nil, err
			}
			return new(c.dedicatedIP(d)), nil
		}
		return nil, api.Conflict("the option %s (%s) is exhausted", option.Name, option.ID)
	})
}

// free returns the addresses of an option that no account has claimed.
func free(option store.DedicatedIPOption) []string {
	return slices.DeleteFunc(slices.Clone(option.Addresses), func(ip string) bool { return slices.Contains(option.Claimed, ip) })
}

// ListDedicatedIPs implements api.ListDedicatedIPs.
func ListDedicatedIPs(c *Call, in *api.ListDedicatedIPsRequest) (*api.Page[api.DedicatedIP], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.DedicatedIP, int, error) {
		return r.DedicatedIPs(c.caller.AccountID, store.DedicatedIPFilter{
			Status: in.Status, Now: c.at, CountryCode: strings.ToUpper(in.CountryCode),
		}, s)
	}, c.dedicatedIP)
}

// ListDedicatedIPOptions implements api.ListDedicatedIPOptions.
func ListDedicatedIPOptions(c *Call, in *api.ListDedicatedIPOptionsRequest) (*api.Page[api.DedicatedIPOption], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.DedicatedIPOption, int, error) {
		return r.DedicatedIPOptions(c.caller.AccountID, s)
	}, func(o store.DedicatedIPOption) api.DedicatedIPOption {
		return api.DedicatedIPOption{ID: o.ID, Name: o.Name, Type: o.Type, CountryCode: o.CountryCode, Available: len(free(o))}
	})
}

// GetDedicatedIP implements api.GetDedicatedIP.
func GetDedicatedIP(c *Call, in *api.DedicatedIPRequest) (*api.DedicatedIP, error) {
	return view(c, func(r store.Reader) (*api.DedicatedIP, error) {
		d, err := r.DedicatedIP(c.caller.AccountID, in.DedicatedIPID)
		return new(c.dedicatedIP(d)), statusOf(err, "dedicated_ip_id", "dedicated IP")
	})
}

// ReleaseDedicatedIP implements api.ReleaseDedicatedIP.
func ReleaseDedicatedIP(c *Call, in *api.DedicatedIPRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		domains, err := tx.DomainsOfDedicatedIP(c.caller.AccountID, in.DedicatedIPID)
		if err != nil {
			return nil, err
		}
		if len(domains) > 0 {
			return nil, api.Conflict("the dedicated IP %s is assigned to the domains %s", in.DedicatedIPID, strings.Join(domains, ", "))
		}
		return &api.NoContent{}, statusOf(tx.DeleteDedicatedIP(c.caller.AccountID, in.DedicatedIPID), "dedicated_ip_id", "dedicated IP")
	})
}

func (c *Call) dedicatedIP(d store.DedicatedIP) api.DedicatedIP {
	addresses := make([]api.IPAddress, len(d.Addresses))
	for i, a := range d.Addresses {
		addresses[i] = api.IPAddress{IP: a.IP, FCrDNSConfirmed: a.FCrDNSConfirmed, Healthy: a.Healthy, RDNS: optional(a.RDNS)}
	}
	return api.DedicatedIP{
		ID: d.ID, Name: d.Name, Status: d.State.At(c.at), Type: d.Type, ASN: optional(d.ASN), CountryCode: optional(d.CountryCode),
		IPAddresses: addresses, CreatedAt: optionalTimestamp(d.CreatedAt), UpdatedAt: optionalTimestamp(d.UpdatedAt),
	}
}
