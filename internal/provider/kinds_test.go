package provider_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// kind has configurations of a kind of object. What follows from its definition is not here, see
// definitions.
type kind struct {
	config values // of its sample, unless it is a collection of objects
	// again is the same object in another spelling, if the kind has natural keys.
	again values
	// change changes the object in place; nil if the API can't.
	change values
	// replacing changes the configuration into a replacement; nil if no change does.
	replacing values
	// known has what the plan of the create knows, beside what TestPlanKnowsWhatIsKnown derives.
	known values
	// conflict is what an apply says of an object that was created after its plan, if the kind has
	// on_existing and natural keys.
	conflict string
	// remains is said of an object that the API can't delete.
	remains []string
	// isValuable: the object holds mail or money, so that no plan may delete it by mistake.
	isValuable bool
}

// kinds has every resource except the set of mailboxes, and without those that an API with the
// published operations alone can't create. It buys the domains example.com and example.org.
func kinds(t *testing.T, s *acctest.Server) map[string]kind {
	t.Helper()
	s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	web := values{"web A": values{"values": []string{"192.0.2.1"}}}
	all := map[string]kind{
		"mailhost_domain": {
			again: values{"name": "ACME.com."}, conflict: "The domain acme.com exists already",
			remains: []string{"answering DNS queries until its registration ends"}, isValuable: true,
		},
		"mailhost_mailbox": {
			again: values{"domain": "EXAMPLE.com", "local_part": "Jane"},
			known: values{"primary_email": "jane@example.com"}, conflict: "The mailbox exists. ",
			remains: []string{"The mailbox jane@example.com", "still paid for"}, isValuable: true,
		},
		"mailhost_dns_record": {
			again: values{"name": "WWW"},
			known: values{"is_system_managed": false, "fqdn": "www.example.com"}, conflict: "exists already with the id ",
			remains: []string{"The A record www of example.com", "192.0.2.1", "can't be imported"},
		},
		"mailhost_dns_zone": {
			config: values{"domain": "example.com", "records": web, "ignore": []string{"www"}}, again: values{"domain": "EXAMPLE.com."},
			change: values{"records": values{"web A": values{"values": []string{"192.0.2.2"}}}}, known: values{"id": isSet, "domain_id": isSet}, replacing: values{"domain": "example.org"}, isValuable: true,
		},
		"mailhost_forwarding": {
			again: values{"target_email": "Jane@EXAMPLE.org"}, conflict: "A scope has one rule for a target",
		},
		"mailhost_master_password": {
			remains: []string{"The master password \"Backup\"", "STILL WORKS", "another name"},
		},
		"mailhost_service_account": {},
		"mailhost_dedicated_ip": {
			config: values{"option_id": sample.Option(s.AccountID, "eu")}, replacing: values{"option_id": sample.Option(s.AccountID, "us")}, remains: []string{"still paid for"}, isValuable: true,
		},
	}
	for name, k := range all {
		if s.PublishedOnly && !publishes(name, http.MethodPost) {
			delete(all, name)
			continue
		}
		if k.config == nil {
			of := sample.Resource(name)
			k.config, k.change, k.replacing = maps.Clone(of.Config), of.Change, of.Replace
		}
		k.again = merged(k.config, k.again)
		if k.replacing != nil {
			k.replacing = merged(k.config, k.replacing)
		}
		all[name] = k
	}
	return all
}

// definitions has the [service.Definition] of each resource, by its name.
var definitions = sync.OnceValue(func() map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for _, newResource := range provider.New("test")().Resources(context.Background()) {
		d := reflect.ValueOf(newResource()).Elem().FieldByName("Definition").Elem()
		all["mailhost_"+d.FieldByName("Name").String()] = d
	}
	return all
})

// hasKey reports whether the account has one object for each natural key.
func hasKey(typeName string) bool { return !definitions()[typeName].FieldByName("NaturalKeys").IsNil() }

// operations returns the operations of the kind of a resource: none for a zone and a set, whose
// objects are of another kind.
func operations(typeName string) []api.Spec {
	kind := definitions()[typeName].FieldByName("DeleteOperation").Interface().(api.Spec).Kind
	return slices.DeleteFunc(api.Specs(), func(s api.Spec) bool { return s.Kind != kind })
}

// publishes reports whether one of the kind's published operations has a method: POST creates an
// object, and GET lists them.
func publishes(typeName, method string) bool {
	all := operations(typeName)
	return len(all) == 0 || slices.ContainsFunc(all, func(s api.Spec) bool { return !s.Lifecycle() && s.Method == method })
}

// hasAttribute reports whether the schema of a resource has an attribute.
func hasAttribute(t *testing.T, typeName, name string) bool {
	t.Helper()
	return slices.ContainsFunc(schemas(t).ResourceSchemas[typeName].Block.Attributes, func(a *tfprotov6.SchemaAttribute) bool { return a.Name == name })
}

// TestEveryKindIsTested checks that the tables of this package have every resource, and that a
// configuration has the contract's limits. Zones and sets have lives and lookups in packages of
// their own.
func TestEveryKindIsTested(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p, have := s.Protocol(t, ""), withSet(t, s)
	for name := range schemas(t).ResourceSchemas {
		k, ok := have[name]
		assert.Assert(t, ok, "add %s to kinds, with its configurations", name)
		all := operations(name)
		assert.Check(t, hasKey(name) != reflect.DeepEqual(k.again, k.config) || k.again == nil, "%s: again in kinds is another spelling if, and only if, the definition has NaturalKeys", name)
		isUpdated := slices.ContainsFunc(all, func(s api.Spec) bool { return s.Method == http.MethodPatch })
		assert.Check(t, k.change != nil || !isUpdated, "%s in kinds has no change, but the API can change such an object", name)
		assert.Check(t, k.conflict != "" || !hasAttribute(t, name, "on_existing") || !hasKey(name) || len(all) == 0, "%s in kinds has no conflict, but the resource has on_existing", name)
		assert.Check(t, k.isValuable == definitions()[name].FieldByName("IsValuable").Bool(), "%s: isValuable in kinds is %t, unlike IsValuable in the definition", name, k.isValuable)
		assert.Check(t, everyLife[name] != nil || len(all) == 0, "add %s to everyLife, with updates, replacements and imports", name)
		assert.Check(t, everyLookup[name] != nil || len(all) == 0, "add %s to everyLookup, with its data sources", name)
		for _, op := range all {
			body := op.Body()
			if body == nil {
				continue
			}
			for _, f := range body.Members {
				if f.MaxLength == nil || !hasAttribute(t, name, f.Name) {
					continue
				}
				text := acctest.Render(p.Validate(name, with(k.config, f.Name, strings.Repeat("x", int(*f.MaxLength)+1))))
				assert.Check(t, strings.Contains(text, fmt.Sprintf("ERROR at AttributeName(%q)", f.Name)), "%s.%s can be longer than %s allows: declare it with attribute.Argument[api.%[4]s](%[2]q, …), or give it validate.Length[api.%[4]s](%[2]q)", name, f.Name, op.ID, op.Request.FieldByIndex(body.Index).Type.Name())
			}
		}
	}
}

// merged returns a configuration with other attributes.
func merged(config, changes values) values {
	config = maps.Clone(config)
	maps.Copy(config, changes)
	return config
}

// withSet is like kinds, with the set of mailboxes, of which only the create is tested.
func withSet(t *testing.T, s *acctest.Server) map[string]kind {
	t.Helper()
	all := kinds(t, s)
	all["mailhost_mailbox_set"] = kind{
		config: values{"domain": "example.com", "mailboxes": values{"jack": values{"first_name": "Jack", "last_name": "Doe"}}},
		known:  values{"addresses": values{"jack": "jack@example.com"}}, isValuable: true,
	}
	return all
}
