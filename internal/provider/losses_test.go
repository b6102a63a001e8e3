package provider_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// settingsOfTerraform are the attributes that are no part of an object, by the reason why their change loses nothing.
var settingsOfTerraform = map[string]string{
	"on_existing":   "it has an effect only when an object is created",
	"timeouts":      "it limits the time of an apply",
	"max_deletions": "it allows a loss, which the plan shows if there is one",
}

// variant is a configuration of a kind that sets some of its attributes.
type variant struct {
	config values
	// attributes are the attributes of the kind with their changes. Each attribute needs one variant.
	attributes map[string]attributeLoss
}

// attributeLoss describes what is lost when an attribute of an object changes.
type attributeLoss struct {
	changes []change
	// isNeeded means that a configuration without the attribute describes another object, or is invalid.
	isNeeded bool
}

// change is a change of a configuration. It loses the assets in the last line of each warning, without
// "Concerns: ", or nothing for the reason in why.
type change struct {
	to    values
	loses []string
	why   string
}

func loses(to values, assets ...string) change { return change{to: to, loses: assets} }

func losesNothing(to values, why string) change { return change{to: to, why: why} }

func changes(all ...change) attributeLoss { return attributeLoss{changes: all} }

func needed(all ...change) attributeLoss { return attributeLoss{changes: all, isNeeded: true} }

const (
	shown   = "the plan shows both values"
	rotated = "a rotation is meant to end the token"
)

// everyLoss has the variants of each kind, with their objects in an account.
var everyLoss = map[string]func(t *testing.T, s *acctest.Server) []variant{
	"mailhost_domain": func(t *testing.T, s *acctest.Server) []variant {
		s.Domain(t, "example.com")
		other := maps.Clone(sample.Contact())
		other["city"] = "Bonn"
		watched := s.Owner(t).Workspace("watched")
		s.Owner(t).Password("Archive", values{"workspace_id": watched})
		return []variant{{
			values{
				"name": "example.com", "on_existing": "adopt", "auto_renew": true, "redirect_url": "https://www.example.com/", "workspace_id": s.WorkspaceID, "contact_info": sample.Contact(),
			}, map[string]attributeLoss{
				"name":       needed(loses(values{"name": "example.org"}, "money, mail, DNS, reach, access", "purchase")),
				"auto_renew": changes(loses(values{"auto_renew": false}, "money")),
				"redirect_url": changes(
					loses(values{"redirect_url": ""}, "reach"),
					losesNothing(values{"redirect_url": "https://shop.example.com/"}, shown),
				),
				"workspace_id": changes(
					loses(values{"workspace_id": watched}, "access, reach"),
					losesNothing(values{"workspace_id": s.Owner(t).Workspace("sales")}, "everything moves with the domain"),
				),
				"contact_info": changes(losesNothing(values{"contact_info": other}, "it is only stored")),
			},
		}}
	},
	"mailhost_mailbox": func(t *testing.T, s *acctest.Server) []variant {
		s.Domain(t, "example.com")
		s.Domain(t, "example.org")
		return []variant{{
			values{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}, map[string]attributeLoss{
				"domain":     needed(loses(values{"domain": "example.org"}, "mail")),
				"local_part": needed(loses(values{"local_part": "joan"}, "mail")),
				"first_name": changes(losesNothing(values{"first_name": "Joan"}, shown)),
				"last_name":  changes(losesNothing(values{"last_name": "Roe"}, shown)),
			},
		}}
	},
	"mailhost_dns_record": func(t *testing.T, s *acctest.Server) []variant {
		s.Domain(t, "example.com")
		s.Domain(t, "example.org")
		return []variant{
			{values{"domain": "example.com", "name": "www", "type": "TXT", "value": "text", "ttl": 300}, map[string]attributeLoss{
				"domain": needed(loses(values{"domain": "example.org"}, "DNS")),
				"name":   needed(loses(values{"name": "web"}, "DNS")),
				"type":   needed(loses(values{"type": "A", "value": "192.0.2.1"}, "DNS")),
				"value":  changes(losesNothing(values{"value": "other"}, shown)),
				"ttl":    changes(losesNothing(values{"ttl": 600}, shown)),
			}},
			{values{"domain": "example.com", "name": "@", "type": "MX", "value": "mx1.example.net", "priority": 10}, map[string]attributeLoss{
				"value":    changes(loses(values{"value": "mx2.example.net"}, "reach")),
				"priority": needed(losesNothing(values{"priority": 20}, "mail goes to the same host")),
			}},
		}
	},
	"mailhost_dns_zone": func(t *testing.T, s *acctest.Server) []variant {
		s.Domain(t, "example.com")
		s.Domain(t, "example.org")
		web, mx := values{"values": []string{"192.0.2.1"}, "ttl": 300}, values{"values": []string{"10 mx1.example.net"}}
		records := func(more values) values {
			return values{"records": merged(values{"www A": web, "@ MX": mx}, more)}
		}
		return []variant{{
			merged(records(values{"old A": web}), values{"domain": "example.com", "ignore": []string{"dev"}}), map[string]attributeLoss{
				"domain": needed(loses(values{"domain": "example.org"}, "DNS", "reach")),
				"records": changes(
					loses(records(nil), "DNS"),
					loses(records(values{"old A": web, "@ MX": values{"values": []string{"10 mx2.example.net"}}}), "reach"),
					losesNothing(records(values{"old A": web, "new A": web}), shown),
					losesNothing(records(values{"old A": values{"values": []string{"192.0.2.1"}, "ttl": 600}}), shown),
				),
				"ignore": changes(losesNothing(values{"ignore": []string{"dev", "new"}}, "the records stay")),
			},
		}}
	},
	"mailhost_forwarding": func(t *testing.T, s *acctest.Server) []variant {
		s.Domain(t, "example.com")
		s.Domain(t, "example.org")
		s.Mailbox(t, "example.com", "jane")
		s.Mailbox(t, "example.com", "joan")
		return []variant{
			{values{"domain": "example.com", "target_email": "jane@example.com", "active": true}, map[string]attributeLoss{
				"domain":       needed(loses(values{"domain": "example.org"}, "reach")),
				"target_email": changes(loses(values{"target_email": "joan@example.com"}, "reach")),
				"active":       changes(loses(values{"active": false}, "reach")),
			}},
			{values{"workspace_id": s.WorkspaceID, "target_email": "jane@example.com", "active": false}, map[string]attributeLoss{
				"workspace_id": needed(loses(values{"workspace_id": s.Owner(t).Workspace("sales")}, "reach")),
				"active":       changes(losesNothing(values{"active": true}, "the target is an address of the account")),
			}},
		}
	},
	"mailhost_master_password": func(t *testing.T, s *acctest.Server) []variant {
		s.Domain(t, "example.com")
		const secret, another = "the first secret", "another secret"
		return []variant{
			{values{"domain": "example.com", "name": "Backup", "value": secret}, map[string]attributeLoss{
				"name":     changes(losesNothing(values{"name": "Migration"}, "the secret stays")),
				"domain":   needed(loses(values{"domain": nil}, "access")),
				"value":    changes(loses(values{"value": another}, "access")),
				"value_wo": changes(loses(values{"value": nil, "value_wo": another, "value_wo_version": 1}, "access")),
				"generate": changes(loses(values{"value": nil, "generate": true}, "access")),
			}},
			{values{"workspace_id": s.WorkspaceID, "name": "Backup", "value_wo": secret, "value_wo_version": 1}, map[string]attributeLoss{
				"workspace_id":     needed(loses(values{"workspace_id": nil}, "access")),
				"value_wo_version": needed(loses(values{"value_wo_version": 2}, "access")),
			}},
		}
	},
	"mailhost_service_account": func(*testing.T, *acctest.Server) []variant {
		view, create := values{"capability_key": "mailbox.view"}, values{"capability_key": "mailbox.create"}
		return []variant{
			{values{"name": "ci", "expires_at": "2099-01-01T00:00:00Z", "rotation_triggers": values{"year": "2027"}, "permissions": []any{view, create}}, map[string]attributeLoss{
				"name": needed(loses(values{"name": "cd"}, "access")),
				"expires_at": changes(
					losesNothing(values{"expires_at": "2100-01-01T00:00:00Z"}, rotated),
					loses(values{"expires_at": "2098-01-01T00:00:00Z"}, "access"),
				),
				"rotation_triggers": changes(losesNothing(values{"rotation_triggers": values{"year": "2028"}}, rotated)),
				"permissions": changes(
					loses(values{"permissions": []any{view}}, "access"),
					losesNothing(values{"permissions": []any{view, create, values{"capability_key": "domain.view"}}}, shown),
				),
			}},
			{values{"name": "bot", "valid_for": "720h", "rotate_before": "24h"}, map[string]attributeLoss{
				"valid_for": changes(
					losesNothing(values{"valid_for": "721h"}, rotated),
					loses(values{"valid_for": "719h"}, "access"),
				),
				"rotate_before": changes(losesNothing(values{"rotate_before": "48h"}, "it is only stored")),
			}},
		}
	},
	"mailhost_dedicated_ip": func(_ *testing.T, s *acctest.Server) []variant {
		return []variant{{values{"option_id": sample.Option(s.AccountID, "eu")}, map[string]attributeLoss{
			"option_id": needed(loses(values{"option_id": sample.Option(s.AccountID, "us")}, "money, purchase")),
		}}}
	},
	"mailhost_mailbox_set": func(t *testing.T, s *acctest.Server) []variant {
		s.Domain(t, "example.com")
		s.Domain(t, "example.org")
		person := func(first string) values { return values{"first_name": first, "last_name": "Doe"} }
		jane := values{"jane": person("Jane")}
		return []variant{{
			values{"domain": "example.com", "mailboxes": with(jane, "joan", person("Joan")), "retired": values{"bob": "keep"}, "max_deletions": 2}, map[string]attributeLoss{
				"domain": needed(loses(values{"domain": "example.org"}, "mail")),
				"mailboxes": changes(
					loses(values{"mailboxes": jane}, "mail"),
					losesNothing(values{"mailboxes": with(jane, "joan", person("Joanna"))}, shown),
				),
				"retired": changes(losesNothing(values{"retired": values{"bill": "delete"}}, "nobody of the map is retired")),
			},
		}}
	},
}

// TestLosses omits, changes and removes each attribute of each kind after an import, and omits it in an adoption.
// What a configuration does not set stays, without a warning, and what a change ends has one with its assets.
func TestLosses(t *testing.T) {
	t.Parallel()
	for typeName, described := range schemas(t).ResourceSchemas {
		variants, ok := everyLoss[typeName]
		assert.Check(t, ok, "add %s to everyLoss, with what is lost by a change of each of its attributes", typeName)
		assert.Check(t, !member(definitions()[typeName], "Losses").IsNil(), "%s has no Losses in its definition: return what its changes lose, or nil if nothing can be", typeName)
		if !ok {
			continue
		}
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			has := map[string]bool{}
			for i, v := range variants(t, acctest.NewServer(t, acctest.Options{})) {
				for name := range v.attributes {
					has[name] = true
				}
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					s := acctest.NewServer(t, acctest.Options{})
					v := variants(t, s)[i] // the ids of this account
					o := &lossSubject{T: t, p: s.Protocol(t, ""), typeName: typeName, config: v.config}
					o.create()
					for _, name := range slices.Sorted(maps.Keys(v.attributes)) {
						o.take(name, v.attributes[name])
					}
				})
			}
			known := map[string]bool{}
			for _, a := range described.Block.Attributes {
				known[a.Name] = true
				if (a.Optional || a.Required) && settingsOfTerraform[a.Name] == "" {
					assert.Check(t, has[a.Name], "add %s.%s to everyLoss: what does its change end, and does it stay if it is omitted?", typeName, a.Name)
				}
			}
			for name := range has {
				assert.Check(t, known[name], "%s in everyLoss has %s, which is no attribute", typeName, name)
			}
		})
	}
}

// lossSubject is an object whose attributes change.
type lossSubject struct {
	*testing.T
	p        *acctest.Protocol
	typeName string
	config   values
	id       string
	// managed is the object in a state that an import and an apply made.
	managed *acctest.Object
	// facts is the object as an import reads it.
	facts values
}

func (x *lossSubject) create() {
	x.Helper()
	made, diags := x.p.Apply(x.Context(), x.typeName, x.config, nil)
	x.p.NoErrors(diags)
	x.id = made.Text("id")
	x.managed = x.apply(x.config, x.imports())
	x.facts = x.read()
}

// imports returns the object after an import and a refresh.
func (x *lossSubject) imports() *acctest.Object {
	x.Helper()
	o, diags := x.p.Walk().Import(x.typeName, x.id, nil)
	x.p.NoErrors(diags)
	o, diags = x.p.Read(x.typeName, o)
	x.p.NoErrors(diags)
	return o
}

// read returns the attributes of the object, without the time of its last change.
func (x *lossSubject) read() values {
	x.Helper()
	attributes := plain(x.T, x.imports().State).(values)
	delete(attributes, "updated_at")
	return attributes
}

func (x *lossSubject) plan(config values, prior *acctest.Object) (*acctest.Object, []*tfprotov6.Diagnostic) {
	x.Helper()
	plan, diags := x.p.Walk().Plan(x.typeName, config, prior)
	x.p.NoErrors(diags)
	return plan, diags
}

// apply applies a configuration, unless nothing differs.
func (x *lossSubject) apply(config values, prior *acctest.Object) *acctest.Object {
	x.Helper()
	plan, _ := x.plan(config, prior)
	if prior != nil && plan.State.Equal(prior.State) {
		return prior
	}
	o, diags := x.p.ApplyPlan(x.Context(), x.typeName, config, prior, plan)
	x.p.NoErrors(diags)
	return o
}

// take omits, changes and removes an attribute.
func (x *lossSubject) take(name string, a attributeLoss) {
	x.Helper()
	omitting := maps.Clone(x.config)
	delete(omitting, name)
	mayOmit := len(omitting) < len(x.config) && !a.isNeeded && !isRequired(x.T, x.typeName, name)
	if mayOmit {
		x.stays(name+", omitted after an import", omitting, x.imports())
		if hasAttribute(x.T, x.typeName, "on_existing") && member(definitions()[x.typeName], "Names").String() != "" {
			plan, diags := x.p.Walk().Plan(x.typeName, with(omitting, "on_existing", "adopt"), nil)
			x.p.NoErrors(diags)
			_, diags = x.p.ApplyPlan(x.Context(), x.typeName, with(omitting, "on_existing", "adopt"), nil, plan)
			x.p.NoErrors(diags)
			x.isUnchanged(name + ", omitted in an adoption")
		}
	}
	for _, c := range a.changes {
		config := merged(x.config, c.to)
		plan, diags := x.plan(config, x.managed)
		what := fmt.Sprintf("%s: %v", name, c.to)
		assert.Check(x, (len(c.loses) == 0) == (c.why != ""), "%s: say what it loses, or why it loses nothing", what)
		if got := concerns(diags); !slices.Equal(got, c.loses) {
			x.Errorf("%s concerns %q, want %q, in\n%s", what, got, c.loses, acctest.Render(diags))
		}
		if len(plan.Replace) > 0 {
			continue
		}
		changed := x.apply(config, x.managed)
		again, diags := x.plan(config, changed)
		assert.Check(x, again.State.Equal(changed.State) && len(concerns(diags)) == 0, "%s: the next plan is %s\n%s", what, again.State, acctest.Render(diags))
		x.managed = x.apply(x.config, changed)
		x.facts = x.read() // a restored entry may have another id
	}
	if mayOmit {
		x.stays(name+", removed", omitting, x.managed)
	}
}

// stays checks that a configuration changes nothing of the object, and warns of no loss.
func (x *lossSubject) stays(what string, config values, prior *acctest.Object) {
	x.Helper()
	plan, diags := x.plan(config, prior)
	assert.Check(x, len(plan.Replace) == 0 && len(concerns(diags)) == 0, "%s: replaces because of %v\n%s", what, plan.Replace, acctest.Render(diags))
	if len(plan.Replace) == 0 {
		x.apply(config, prior)
	}
	x.isUnchanged(what)
}

func (x *lossSubject) isUnchanged(what string) {
	x.Helper()
	if d := cmp.Diff(x.facts, x.read()); d != "" {
		x.Errorf("%s: the object changed (-before +after):\n%s", what, d)
	}
}

func isRequired(t *testing.T, typeName, name string) bool {
	t.Helper()
	return slices.ContainsFunc(schemas(t).ResourceSchemas[typeName].Block.Attributes, func(a *tfprotov6.SchemaAttribute) bool { return a.Name == name && a.Required })
}

// concerns returns the assets of each warning of a loss, in alphabetical order.
func concerns(diags []*tfprotov6.Diagnostic) (all []string) {
	for _, d := range diags {
		if _, assets, ok := strings.Cut(d.Detail, "\n\nConcerns: "); ok {
			all = append(all, assets)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
