// Package registrar decides which domains can be bought, and their prices. The caller checks who
// owns a domain.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package registrar

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// The price of a domain without a price for its suffix.
const defaultPrice, defaultCurrency = "12.00", "USD"

// Registrar is the price list of domains. The zero value sells every registrable name immediately.
type Registrar struct {
	// Taken and Premium list names that are not for sale.
	Taken   []string `json:"taken,omitempty"`
	Premium []string `json:"premium,omitempty"`
	// UnsupportedTLDs lists suffixes that are not sold, without a leading dot.
	UnsupportedTLDs []string `json:"unsupported_tlds,omitempty"`
	// Prices maps a suffix to a decimal amount in Currency.
	Prices   map[string]string `json:"prices,omitempty"`
	Currency string            `json:"currency,omitempty"`
	// PaymentNeeded makes a purchase wait for a payment.
	PaymentNeeded bool `json:"payment_needed,omitempty"`
	// ProvisioningDelay is how long a domain is pending after its purchase.
	ProvisioningDelay Duration `json:"provisioning_delay,omitempty"`
}

// Clone returns a copy that shares nothing with r.
func (r Registrar) Clone() Registrar {
	r.Taken, r.Premium, r.UnsupportedTLDs = slices.Clone(r.Taken), slices.Clone(r.Premium), slices.Clone(r.UnsupportedTLDs)
	r.Prices = maps.Clone(r.Prices)
	return r
}

// Offer is the registrar's offer for one name.
type Offer struct {
	// Name is canonical, or empty if the request does not name a domain.
	Name string
	// Code and Reason explain why the domain can't be bought, or are empty.
	Code, Reason    string
	Price, Currency string
	PaymentNeeded   bool
	// State is the state of a domain bought now.
	State store.Provisioning
}

// Offer returns the offer for a name in any form.
func (r Registrar) Offer(requested string, now time.Time) Offer {
	name, err := domainname.Normalize(requested)
	if err != nil {
		return Offer{Code: api.PurchaseInvalidDomain, Reason: "this is no domain name: " + err.Error()}
	}
	suffix := name[strings.IndexByte(name, '.')+1:]
	o := Offer{
		Name: name, Price: cmp.Or(r.Prices[suffix], defaultPrice), Currency: cmp.Or(r.Currency, defaultCurrency),
		PaymentNeeded: r.PaymentNeeded, State: r.PaidState(now),
	}
	if r.PaymentNeeded {
		o.State = store.Provisioning{Status: vocab.DomainPendingPayment}
	}
	switch err := domainname.Registrable(name); {
	case errors.Is(err, domainname.ErrUnsupportedTLD) || slices.Contains(r.UnsupportedTLDs, suffix):
		o.Code, o.Reason = api.PurchaseUnsupportedTLD, "domains under ."+suffix+" are not sold"
	case err != nil:
		o.Code, o.Reason = api.PurchaseInvalidDomain, err.Error()
	case slices.ContainsFunc(r.Taken, func(t string) bool { return domainname.Equal(t, name) }):
		o.Code, o.Reason = api.PurchaseUnavailable, "the domain is registered already"
	case slices.ContainsFunc(r.Premium, func(p string) bool { return domainname.Equal(p, name) }):
		o.Code, o.Reason = api.PurchasePremiumDomain, "premium domains are not sold over the API"
	}
	return o
}

// PaidState returns the state of a domain directly after its payment.
func (r Registrar) PaidState(now time.Time) store.Provisioning {
	if delay := time.Duration(r.ProvisioningDelay); delay > 0 {
		return store.Provisioning{Status: vocab.DomainActive, Until: vocab.DomainPending, ReadyAt: now.Add(delay)}
	}
	return store.Provisioning{Status: vocab.DomainActive}
}

// Duration is a time.Duration that JSON writes as "90s".
type Duration time.Duration

func (d *Duration) UnmarshalText(b []byte) error {
	parsed, err := time.ParseDuration(string(b))
	if *d = Duration(parsed); err != nil {
		return fmt.Errorf(`must be a duration such as "250ms" or "72h": %w`, err)
	}
	return nil
}

// JSONForm describes a duration in the errors of package strictjson.
func (Duration) JSONForm() string { return `a duration such as "250ms" or "72h"` }

func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// PurchasedDomain is a domain of a purchase.
type PurchasedDomain struct {
	AccountID string `json:"account_id"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
}
