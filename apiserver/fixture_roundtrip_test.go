package apiserver_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// TestDumpEqualsLoadedFixture checks that the dump of a loaded fixture equals the
// fixture. The generated fixtures contain every id and no default value.
func TestDumpEqualsLoadedFixture(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	seen := map[reflect.Type]map[string]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		drawn := drawFixture(rt)
		want := fixtureText(drawn)
		f := &drawn
		for range 2 {
			if err := h.Service.Reset(t.Context(), f); err != nil {
				rt.Fatalf("%v in:\n%s", err, want)
			}
			dumped, err := h.Service.DumpFixture(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			if got := fixtureText(*dumped); got != want {
				rt.Fatalf("dumped:\n%s\nloaded:\n%s", got, want)
			}
			f = dumped
		}
		noteFields(seen, reflect.ValueOf(drawn))
	})
	if testing.Short() {
		return // too few fixtures are generated
	}
	// The test does not cover a field that was never drawn.
	for typ, fields := range seen {
		for field := range typ.Fields() {
			if !fields[field.Name] {
				t.Errorf("%s.%s was never drawn: drawFixture needs a line for it", typ, field.Name)
			}
		}
	}
}

func fixtureText(f fixture.Fixture) string {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// noteFields adds the non-zero fields of all structs in v to seen.
func noteFields(seen map[reflect.Type]map[string]bool, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		noteFields(seen, v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			noteFields(seen, v.Index(i))
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		if seen[v.Type()] == nil {
			seen[v.Type()] = map[string]bool{}
		}
		for field, value := range v.Fields() {
			if !value.IsZero() {
				seen[v.Type()][field.Name] = true
			}
			noteFields(seen, value)
		}
	}
}

// fixtureDraw generates a random fixture.
type fixtureDraw struct {
	*rapid.T
	n int // number of names so far
}

func drawFixture(t *rapid.T) fixture.Fixture {
	d := &fixtureDraw{T: t}
	f := fixture.Fixture{
		Registrar: &apiserver.Registrar{
			Taken: d.texts("t%d.com"), Premium: d.texts("p%d.com"), UnsupportedTLDs: d.texts("tld%d"), Currency: d.choose("", "EUR"),
			PaymentNeeded: d.chance(), ProvisioningDelay: apiserver.Duration(d.number(0, 9)) * apiserver.Duration(time.Second),
		},
		MaxMailboxes: new(d.number(0, 9)),
	}
	if d.chance() {
		f.Registrar.Prices = map[string]string{"com": "9.50"}
	}
	for range d.number(1, 2) {
		f.Accounts = append(f.Accounts, d.account())
	}
	return f
}

func (d *fixtureDraw) number(least, most int) int { return rapid.IntRange(least, most).Draw(d.T, "n") }

func (d *fixtureDraw) chance() bool { return rapid.Bool().Draw(d.T, "chance") }

func (d *fixtureDraw) choose(values ...string) string {
	return rapid.SampledFrom(values).Draw(d.T, "value")
}

// unique returns a text that no earlier call has returned.
func (d *fixtureDraw) unique(format string) string {
	d.n++
	return fmt.Sprintf(format, d.n)
}

func (d *fixtureDraw) texts(format string) (texts []string) {
	for range d.number(0, 2) {
		texts = append(texts, d.unique(format))
	}
	return texts
}

func (d *fixtureDraw) id() string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(d.unique("%d"))).String()
}

// perhaps returns a pointer to a value, or sometimes nil.
func perhaps[T any](d *fixtureDraw, value T) *T {
	if d.chance() {
		return nil
	}
	return &value
}

// later returns a time after that of loading, to the microsecond.
func (d *fixtureDraw) later() time.Time {
	return apitest.Start.Add(time.Duration(d.number(1, 1000)) * time.Hour).Truncate(time.Microsecond)
}

func (d *fixtureDraw) account() fixture.Account {
	a := fixture.Account{
		ID: d.id(), Status: d.choose("", vocab.AccountPendingCancellation, vocab.AccountCancelled), PlanID: vocab.PlanSMTPPerProxy,
		DedicatedIPOptions: []fixture.DedicatedIPOption{},
	}
	switch {
	case a.Status == vocab.AccountPendingCancellation:
		a.CancelsAt = d.later()
	case a.Status == "" && d.chance():
		a.NextPlanID, a.PlanChangesAt = vocab.PlanSMTPPerMailbox, d.later()
	}
	a.Workspaces = []fixture.Workspace{{ID: api.DefaultWorkspaceID(a.ID), Name: "Default"}}
	for range d.number(0, 2) {
		a.Workspaces = append(a.Workspaces, fixture.Workspace{ID: d.id(), Name: d.unique("Team %d")})
	}
	for range d.number(0, 2) {
		d.option(&a)
	}
	for range d.number(0, 3) {
		a.Domains = append(a.Domains, d.domain(&a))
	}
	a.Forwarding = d.rules()
	for i := range a.Workspaces {
		a.Workspaces[i].Forwarding = d.rules()
	}
	for range d.number(0, 3) {
		a.Authorizations = append(a.Authorizations, d.grant(&a))
	}
	return a
}

// option adds an option, and sometimes an IP that was claimed from it.
func (d *fixtureDraw) option(a *fixture.Account) {
	o := fixture.DedicatedIPOption{
		ID: d.id(), Name: d.unique("Option %d"), CountryCode: d.choose("DE", "FR"), ASN: int64(d.number(0, 1<<32-1)), Addresses: d.texts("192.0.2.%d"),
	}
	a.DedicatedIPOptions = append(a.DedicatedIPOptions, o)
	for _, address := range o.Addresses {
		ip := fixture.DedicatedIP{
			ID: d.id(), Name: d.unique("IP %d"), Option: o.ID, IP: address, Status: d.choose("", "provisioning", "releasing"),
			FCrDNSConfirmed: d.chance(), Healthy: perhaps(d, false), RDNS: d.choose("", "mail.example.com"),
		}
		if d.chance() {
			a.DedicatedIPs = append(a.DedicatedIPs, ip)
		}
	}
}

func (d *fixtureDraw) domain(a *fixture.Account) fixture.Domain {
	f := fixture.Domain{
		ID: d.id(), Name: d.unique("d%d.com"), Workspace: a.Workspaces[d.number(0, len(a.Workspaces)-1)].ID, AutoRenew: d.chance(),
		OutboundRoutingReady: perhaps(d, false), Tags: d.texts("Tag %d"),
	}
	switch f.Status = d.choose("", "pending", "pending_payment", "failed"); {
	case f.Status == "pending" && d.chance():
		f.ReadyAt = d.later()
	case f.Status == "pending_payment":
		f.PurchaseBatchID = d.id()
	}
	if len(a.DedicatedIPs) > 0 && d.chance() {
		f.DedicatedIP = a.DedicatedIPs[0].ID
	}
	if d.chance() {
		f.RedirectURL, f.RedirectMode = "https://www.example.org/", d.choose("301", "302", "iframe")
	}
	if d.chance() {
		f.InboundTenant = &fixture.InboundTenant{ID: d.id(), ExternalID: d.choose("", "x"), Name: d.choose("", "n"), Type: d.choose("", "t")}
	}
	for range d.number(0, 2) {
		f.Mailboxes = append(f.Mailboxes, d.mailbox(f.Name))
	}
	for range d.number(0, 3) {
		record := fixture.DNSRecord{Name: d.unique("r%d"), Type: "A", Value: "192.0.2.1", TTL: perhaps(d, int64(d.number(60, 3599)))}
		if d.chance() {
			record.Type, record.Value, record.Priority = "MX", "mx.example.org", new(int64(d.number(0, 65535)))
		}
		f.DNSRecords = append(f.DNSRecords, record)
	}
	f.Forwarding = d.rules()
	if len(f.Mailboxes) > 0 { // internal rules need a mailbox
		f.Forwarding = append(f.Forwarding, fixture.Forwarding{ID: d.id(), TargetEmail: f.Mailboxes[0].LocalPart + "@" + f.Name})
	}
	return f
}

func (d *fixtureDraw) mailbox(domain string) fixture.Mailbox {
	m := fixture.Mailbox{
		ID: d.id(), LocalPart: d.unique("m%d"), FirstName: d.choose("Jane", "Zoë"), LastName: "Doe", Status: d.choose("", "provisioning", "paused", "deleting"),
		QuotaAllowed: perhaps(d, int64(d.number(0, 1<<30))), QuotaUsed: int64(d.number(0, 1<<30)),
	}
	if m.Status == "provisioning" && d.chance() {
		m.ReadyAt = d.later()
	}
	for range d.number(0, 2) {
		m.Aliases = append(m.Aliases, fixture.Alias{Alias: d.unique("a%d@" + domain), IsCatchAll: d.chance()})
	}
	return m
}

func (d *fixtureDraw) rules() (rules []fixture.Forwarding) {
	for range d.number(0, 2) {
		rules = append(rules, fixture.Forwarding{
			ID: d.id(), TargetEmail: d.unique("target%d@example.org"), Enabled: perhaps(d, false), VerificationState: d.choose("", "pending", "expired"),
		})
	}
	return rules
}

func (d *fixtureDraw) grant(a *fixture.Account) fixture.Authorization {
	g := fixture.Authorization{ID: d.id(), SubjectType: d.choose("", "group"), SubjectID: d.unique("s%d"), GrantKind: d.choose("", "account_owner", "super_admin")}
	if g.GrantKind != "" {
		return g
	}
	g.CapabilityKey = string(vocab.CapMailboxView)
	switch {
	case d.chance():
		g.ResourceType, g.Resource = vocab.ResourceWorkspace, a.Workspaces[0].ID
	case len(a.Domains) > 0:
		g.ResourceType, g.Resource = vocab.ResourceDomain, a.Domains[0].ID
	}
	return g
}
