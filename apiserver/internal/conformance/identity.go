package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// This file contains the rules for the objects of a response: they are those of the request, they contain
// the values that the request sets, and their members do not contradict each other.

// objects checks each object of a response.
func (c *comparison) objects(value any) {
	o, _ := value.(object)
	_, isPage := o["items"]
	switch {
	case c.operation.ID == api.CreateMailboxes.ID:
		c.created(o)
	case o != nil && !isPage:
		c.sent("", o, c.requestBody())
		c.consistent("", o)
		c.requested(o)
	}
	base := "/*"
	if isPage {
		base = "/items/*"
	}
	for _, o := range Items(value) {
		c.consistent(base, o)
	}
}

// created checks the mailboxes of a bulk request, each by its item.
func (c *comparison) created(response object) {
	body := c.requestBody()
	items, _ := body["items"].([]any)
	created, _ := response["created"].([]any)
	otherIndexes := slices.ContainsFunc(c.found, func(d Difference) bool { return d.Place == inBody })
	for _, element := range created {
		o, _ := element.(object)
		mailbox, _ := o["mailbox"].(object)
		if i, ok := number(o["index"]); ok && i >= 0 && i < int64(len(items)) && !otherIndexes {
			item, _ := items[i].(object)
			c.sent("/created/*/mailbox", mailbox, item)
			c.sent("/created/*/mailbox", mailbox, object{"domain": body["domain"]})
		}
		c.consistent("/created/*/mailbox", mailbox)
	}
}

// requested checks that an object is the one that the request names.
func (c *comparison) requested(o object) {
	parameters, path := c.operation.PathParameters(), c.operation.PathValues(c.Request.URL)
	name := parameters[len(parameters)-1]
	want := path[name]
	switch isID := api.IsID(want); {
	case c.operation.ID == api.GetAccount.ID, isID && len(parameters) > 1:
		c.agree("/id", "the id in the path", o["id"], sameID, want)
	case name == "mailbox":
		c.agree("/primary_email", "the address in the path", o["primary_email"], sameAddress, want)
	case name == "domain":
		c.agree("/name", "the name in the path", o["name"], domainname.Equal, want)
	case name == "dns_record_id":
		id, isNumber := number(o["id"])
		if n, err := strconv.ParseInt(want, 10, 64); err == nil && isNumber && id != n {
			c.contradict("/id", "the id in the path", "another one")
		}
	case c.operation.ID == api.CheckDomainAvailability.ID:
		c.agree("/domain_name", "the name in the query", o["domain_name"], domainname.Equal, c.Request.URL.Query().Get("name"))
	}
}

// Two texts for the same id, address, part of an address, or time.
func sameID(a, b string) bool        { return api.CanonicalID(a) == api.CanonicalID(b) }
func sameAddress(a, b string) bool   { return domainname.EqualAfter(emailaddr.Normalize, a, b) }
func sameLocalPart(a, b string) bool { return domainname.EqualAfter(emailaddr.ParseLocalPart, a, b) }
func sameTime(a, b string) bool {
	first, err1 := api.ParseTime(a)
	second, err2 := api.ParseTime(b)
	return cmp.Or(err1, err2) != nil || first.Equal(second) // the schema reports another form
}

// agree adds a difference if a text is not the expected one in the sense of same.
func (c *comparison) agree(member, expected string, value any, same func(a, b string) bool, want string) {
	if text, ok := value.(string); ok && !same(text, want) {
		c.contradict(member, expected, "another one")
	}
}

// contradict adds the difference of a rule, unless one at the same place is known, or in one of the causes:
// the members that the rule depends on.
func (c *comparison) contradict(member, expected, received string, causes ...string) {
	isKnown := slices.ContainsFunc(c.found, func(d Difference) bool { return d.Place == inBody+" "+member })
	if !isKnown && !c.differsIn(causes...) {
		c.differ(inBody+" "+member, expected, received)
	}
}

// differsIn reports whether a difference at one of the members, or in its value, is known.
func (c *comparison) differsIn(members ...string) bool {
	return slices.ContainsFunc(c.found, func(d Difference) bool {
		return slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(d.Place+"/", inBody+" "+m+"/") })
	})
}

// responseNames are the names in a response of members with another name in a request.
var responseNames = map[string]string{"prio": "priority", "plan_id": "target_plan_id"}

// sent checks that an object contains the values of the request, or the defaults of a create.
func (c *comparison) sent(base string, o, sent object) {
	body := c.operation.Body()
	if body == nil || sent == nil {
		return
	}
	fields := body.Members
	if c.operation.ID == api.CreateMailboxes.ID {
		fields = api.CreateMailbox.Body().Members
	}
	for _, f := range fields {
		want, isSent := sent[f.Name]
		name := cmp.Or(responseNames[f.Name], f.Name)
		got, exists := o[name]
		switch {
		case f.Name == "domain" || f.Name == "workspace_id" && o["scope_type"] != nil:
			c.sentScope(base, o, f.Name, want)
		case !exists || want == nil && f.Default == "" && !(isSent && f.Removable):
		case want == nil && f.Default != "" && fmt.Sprint(got) != f.Default:
			c.contradict(base+"/"+name, "the default, "+f.Default, "another value")
		case want != nil && !c.same(f, want, got, o, sent), want == nil && f.Removable && got != nil:
			c.contradict(base+"/"+name, "the value of the request", "another value")
		}
	}
	if c.operation.Method == http.MethodPost && sent["domain"] == nil && sent["workspace_id"] == nil {
		c.scope(base, o, vocab.ScopeAccount, c.operation.PathValues(c.Request.URL)["account_id"])
	}
}

// scope checks the scope of an object, of which id may be a name.
func (c *comparison) scope(base string, o object, scope, id string) {
	const expected = "the scope of the request"
	c.agree(base+"/scope_type", expected, o["scope_type"], strings.EqualFold, scope)
	if text, ok := o["scope_id"].(string); ok && api.IsID(id) && !sameID(text, id) {
		c.contradict(base+"/scope_id", expected, "another one", base+"/scope_type")
	}
}

// sentScope checks the domain or the workspace that a request names.
func (c *comparison) sentScope(base string, o object, name string, value any) {
	want, ok := value.(string)
	if !ok {
		return
	}
	switch {
	case o["scope_type"] != nil:
		c.scope(base, o, strings.TrimSuffix(name, "_id"), want)
	case api.IsID(want):
		c.agree(base+"/domain_id", "the domain of the request", o["domain_id"], sameID, want)
	default:
		c.agree(base+"/domain_name", "the domain of the request", o["domain_name"], domainname.Equal, want)
	}
}

// same reports whether a response contains the value of a request, in the form in which the contract
// stores it. The schema reports another type.
func (c *comparison) same(f *api.Field, want, got any, o, sent object) bool {
	if _, isNumber := want.(json.Number); isNumber {
		w, ok := number(want)
		g, gotOK := number(got)
		return !ok || !gotOK || w == g
	}
	w, isText := want.(string)
	g, gotText := got.(string)
	recordType, _ := o["type"].(string)
	zone, _ := sent["domain"].(string)
	inKnownZone := zone != "" && !api.IsID(zone)
	switch {
	case !isText || !gotText:
		return reflect.DeepEqual(want, got)
	case f.Name == "local_part":
		return sameLocalPart(w, g)
	case f.Name == "target_email":
		return sameAddress(w, g)
	case f.Format == api.FormatTime:
		return sameTime(w, g)
	case c.operation.Kind.Noun != api.CreateDNSRecord.Kind.Noun:
		return w == g || sameID(w, g)
	case f.Name == "value":
		return dnsdata.EqualValues(recordType, w, g)
	case f.Name == "name" && inKnownZone:
		relative, err := dnsdata.NormalizeName(w, zone)
		return err != nil || relative == g
	case f.Name == "name":
		return strings.Contains(w, ".") || dnsdata.EqualNames(w, g, "") // with a dot, it may be absolute
	}
	return strings.EqualFold(w, g)
}

// consistent checks that an object belongs to the account of the path, and that its members do not
// contradict each other.
func (c *comparison) consistent(base string, o object) {
	text := func(member string) string { s, _ := o[member].(string); return s }
	account := c.operation.PathValues(c.Request.URL)["account_id"]
	c.agree(base+"/account_id", "the account in the path", o["account_id"], sameID, account)
	if api.IsID(account) {
		c.agree(base+"/default_workspace_id", "the id that follows from the account's", o["default_workspace_id"], sameID, api.DefaultWorkspaceID(account))
	}
	if id := text("scope_id"); id != "" && text("scope_type") == vocab.ScopeAccount && !sameID(id, account) {
		c.contradict(base+"/scope_id", "the account in the path, because scope_type is account", "another one", base+"/scope_type")
	}
	local, domain, address := text("local_part"), text("domain_name"), text("primary_email")
	if local != "" && domain != "" && address != "" && !strings.EqualFold(address, local+"@"+domain) {
		c.contradict(base+"/primary_email", "local_part@domain_name", "another address", base+"/local_part", base+"/domain_name")
	}
	if value := text("value"); value != "" { // of a DNS record
		if canonical, err := dnsdata.NormalizeValue(text("type"), value); err != nil || canonical != value {
			c.contradict(base+"/value", "the contract's form of the type "+text("type"), formOfValue(value), base+"/type")
		}
		if zone := c.Request.URL.Query().Get("domain"); strings.HasSuffix(text("name"), ".") || zone != "" && strings.HasSuffix("."+text("name"), "."+zone) {
			c.contradict(base+"/name", "a name relative to the domain", "an absolute name")
		}
	}
	for _, d := range dependents {
		cause, known := o[d.cause]
		if value, exists := o[d.member]; known && exists && (value != nil && value != false) != d.expected(cause) {
			expected, received := d.other, d.one
			if d.expected(cause) {
				expected, received = d.one, d.other
			}
			c.contradict(base+"/"+d.member, expected+", because of "+d.cause, received, base+"/"+d.cause)
		}
	}
}

// formOfValue describes the value of a DNS record in another form.
func formOfValue(value string) string {
	switch {
	case strings.HasPrefix(value, `"`):
		return "a text in quotes"
	case strings.HasSuffix(value, "."):
		return "a name with a final dot"
	}
	return "another form"
}

const aValue, null = "a value", "null"

// dependents are the members that another member of the same object decides.
var dependents = []struct {
	member, cause string
	expected      func(cause any) bool
	one, other    string // the member if expected returns true, and if it returns false
}{
	{"priority", "type", isOneOf("MX", "SRV"), aValue, null},
	{"capability_key", "grant_kind", isOneOf(vocab.GrantCapability), aValue, null},
	{"resource_id", "resource_type", isSet, aValue, null},
	{"redirect_mode", "redirect_url", isSet, aValue, null},
	{"verification_required", "verification_state", func(v any) bool { return v != vocab.VerificationInternal }, "true", "false"},
	{"verification_verified_at", "verification_state", isOneOf(vocab.VerificationVerified), aValue, null},
	{"error_code", "status", isOneOf(api.PurchaseFailed), aValue, null},
	{"error_code", "available", isOneOf(false), aValue, null},
	{"error", "error_code", isSet, aValue, null},
}

func isSet(v any) bool { return v != nil }

func isOneOf(values ...any) func(any) bool {
	return func(v any) bool { return slices.Contains(values, v) }
}
