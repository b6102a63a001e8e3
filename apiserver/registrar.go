package apiserver

import (
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// defaultPrice is what a domain costs where the registrar has no other price.
const defaultPrice, defaultCurrency = "12.00", "USD"

// Registrar decides which domains can be bought at what price, and how long
// that takes. The zero value sells every registrable name at once.
type Registrar struct {
	// Taken and Premium are names that are not for sale.
	Taken   []string `json:"taken,omitempty"`
	Premium []string `json:"premium,omitempty"`
	// UnsupportedTLDs are suffixes that are not sold, without a leading dot.
	UnsupportedTLDs []string `json:"unsupported_tlds,omitempty"`
	// Prices are decimal amounts by suffix; Currency is what they are in.
	Prices   map[string]string `json:"prices,omitempty"`
	Currency string            `json:"currency,omitempty"`
	// PaymentNeeded makes a purchase wait for a payment.
	PaymentNeeded bool `json:"payment_needed,omitempty"`
	// ProvisioningDelay is how long a bought domain is pending.
	ProvisioningDelay Duration `json:"provisioning_delay,omitempty"`
}

// clone returns a copy that shares nothing with r.
func (r Registrar) clone() Registrar {
	r.Taken, r.Premium, r.UnsupportedTLDs = slices.Clone(r.Taken), slices.Clone(r.Premium), slices.Clone(r.UnsupportedTLDs)
	r.Prices = maps.Clone(r.Prices)
	return r
}

// verdict is what the registrar says of one name.
type verdict struct {
	name string // canonical; empty where the name is none
	// code and reason say why it can't be bought; empty where it can.
	code, reason string
	price        string
	currency     string
	payment      bool
	delay        time.Duration
}

func (r Registrar) judge(asked string) verdict {
	name, err := domainname.Normalize(asked)
	if err != nil {
		return verdict{code: api.PurchaseInvalidDomain, reason: "this is no domain name: " + err.Error()}
	}
	v := verdict{name: name, price: defaultPrice, currency: defaultCurrency, payment: r.PaymentNeeded, delay: time.Duration(r.ProvisioningDelay)}
	suffix := name[strings.IndexByte(name, '.')+1:]
	if p, ok := r.Prices[suffix]; ok {
		v.price = p
	}
	if r.Currency != "" {
		v.currency = r.Currency
	}
	switch err := domainname.Registrable(name); {
	case errors.Is(err, domainname.ErrUnsupportedTLD) || slices.Contains(r.UnsupportedTLDs, suffix):
		v.code, v.reason = api.PurchaseUnsupportedTLD, "domains under ."+suffix+" are not sold"
	case err != nil:
		v.code, v.reason = api.PurchaseInvalidDomain, err.Error()
	case slices.ContainsFunc(r.Taken, func(t string) bool { return domainname.Equal(t, name) }):
		v.code, v.reason = api.PurchaseUnavailable, "the domain is registered already"
	case slices.ContainsFunc(r.Premium, func(p string) bool { return domainname.Equal(p, name) }):
		v.code, v.reason = api.PurchasePremiumDomain, "premium domains are not sold over the API"
	}
	return v
}

// state is a bought domain's state from its purchase on.
func (v verdict) state(now time.Time) store.Provisioning {
	if v.payment {
		return store.Provisioning{Status: vocab.DomainPendingPayment}
	}
	return provisioned(now, v.delay)
}

// provisioned is the state of a domain that is paid for, from then on.
func provisioned(now time.Time, delay time.Duration) store.Provisioning {
	if delay > 0 {
		return store.Provisioning{Status: vocab.DomainActive, Until: vocab.DomainPending, ReadyAt: now.Add(delay)}
	}
	return store.Provisioning{Status: vocab.DomainActive}
}

// bill adds up what a purchase costs.
type bill struct {
	total    big.Rat
	currency string
	payment  bool
}

func (b *bill) add(v verdict) {
	if price, ok := new(big.Rat).SetString(v.price); ok {
		b.total.Add(&b.total, price)
	}
	b.currency, b.payment = v.currency, b.payment || v.payment
}

// tell returns what a purchase answer says of money; null where nothing was
// bought.
func (b *bill) tell(publicURL, batch string) (currency, total, payment *string) {
	if b.currency == "" {
		return nil, nil, nil
	}
	if b.payment {
		payment = new(paymentURL(publicURL, batch))
	}
	return &b.currency, new(b.total.FloatString(2)), payment
}

// Duration is a time.Duration that JSON writes as "90s".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	parsed, err := time.ParseDuration(string(b))
	*d = Duration(parsed)
	return err
}

// JSONForm implements strictjson.Described.
func (Duration) JSONForm() string { return `a duration such as "250ms"` }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
