package examples_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const permissions = "../../docs/guides/permissions.md"

// TestPermissions compares the guide with the contract's capabilities.
func TestPermissions(t *testing.T) {
	t.Parallel()
	guide := read(t, permissions)
	named := capabilities(guide)
	for _, c := range api.Capabilities() {
		assert.Check(t, slices.Contains(named, c), "templates/guides/permissions.md does not mention %s; add it, and run make generate", c)
	}
	_, plans, _ := strings.Cut(guide, "`--plan-only` grants ")
	plans, _, _ = strings.Cut(plans, "It does not grant ")
	for _, c := range api.PlanCapabilities() {
		assert.Check(t, slices.Contains(capabilities(plans), c), "templates/guides/permissions.md does not say that --plan-only grants %s; add it, and run make generate", c)
	}
	for _, c := range named {
		assert.Check(t, c == "data.mailhost" || slices.Contains(api.Capabilities(), c), "there is no capability %s", c)
	}
}

// capabilities returns the capabilities that a text mentions.
func capabilities(text string) (named []vocab.Capability) {
	for _, m := range regexp.MustCompile("`([a-z_]+\\.[a-z]+)`").FindAllStringSubmatch(text, -1) {
		named = append(named, vocab.Capability(m[1]))
	}
	return named
}

// TestPermissionsAreEnough creates, changes and deletes each resource with only the
// capabilities of the guide's table.
func TestPermissionsAreEnough(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `(mailhost_[a-z_]+)` \\|(.*)\\|(.*)\\|(.*)\\|(.*)\\|$").FindAllStringSubmatch(read(t, permissions), -1)
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{})
			s.Domain(t, "example.com")
			resource := configsOf(s, row[1])
			var o *acctest.Object
			for i, config := range resource {
				step := row[3+i]
				if i == 1 && strings.TrimSpace(step) == "–" {
					continue
				}
				granted := slices.Concat(capabilities(row[2]), capabilities(step))
				if row[1] == "mailhost_service_account" && i == 2 {
					granted = append(granted, capabilities(row[3])...) // because it has inherited them
				}
				s.Token = s.LimitedToken(t, granted...)
				p := s.Protocol(t, "")
				next, diags := p.Apply(t.Context(), row[1], config, o)
				text := acctest.Render(diags)
				assert.Assert(t, !strings.Contains(text, "capability") && acctest.Errors(diags) <= 0, "with %s: %s", step, text)
				o = next
			}
			assert.Check(t, o.Gone(), "it is still there")
		})
	}
}

// configsOf returns the configurations that create, change and delete a resource. An object that no
// operation changes is replaced.
func configsOf(s *acctest.Server, typeName string) [3]map[string]any {
	switch typeName {
	case "mailhost_mailbox_set":
		return [3]map[string]any{setOf("Jane", "Bob"), setOf("Janet", "Eve")}
	case "mailhost_dns_zone":
		return [3]map[string]any{
			{"domain": "example.com", "records": map[string]any{"www A": map[string]any{"values": []string{"192.0.2.1"}}}},
			{"domain": "example.com", "records": map[string]any{"www A": map[string]any{"values": []string{"192.0.2.2"}}, "web A": map[string]any{"values": []string{"192.0.2.2"}}}},
		}
	}
	of := sample.Resource(typeName)
	config, changed := maps.Clone(of.Config), maps.Clone(of.Change)
	if changed == nil {
		changed = maps.Clone(of.Replace)
	}
	switch typeName { // take more than the create of the sample
	case "mailhost_domain":
		config["auto_renew"], changed["auto_renew"] = true, false
	case "mailhost_forwarding":
		config["domain"], config["active"] = "example.com", false
	case "mailhost_master_password":
		config["domain"] = "example.com"
	case "mailhost_service_account":
		view := map[string]any{"capability_key": "service_account.view"}
		config["permissions"] = []any{view}
		changed = map[string]any{"permissions": []any{view, map[string]any{"capability_key": "authorization.view"}}}
	case "mailhost_dedicated_ip":
		config["option_id"], changed["option_id"] = sample.Option(s.AccountID, "eu"), sample.Option(s.AccountID, "us")
	}
	for name, value := range config {
		if _, ok := changed[name]; !ok {
			changed[name] = value
		}
	}
	return [3]map[string]any{config, changed}
}

// setOf returns the configuration of a set with jane, of that name, and another mailbox.
func setOf(jane, other string) map[string]any {
	return map[string]any{"domain": "example.com", "max_deletions": 2, "mailboxes": map[string]any{
		"jane.doe":             map[string]any{"first_name": jane, "last_name": "Doe"},
		strings.ToLower(other): map[string]any{"first_name": other, "last_name": "Roe"},
	}}
}

// TestPlanOnly plans creates, changes and destroys of every resource, and reads every list,
// with the capabilities of a token for plans. Without any one of them a list fails.
func TestPlanOnly(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	owner, ownerToken := s.Protocol(t, ""), s.Token
	limited := func(capabilities ...vocab.Capability) *acctest.Protocol {
		s.Token = ownerToken
		s.Token = s.LimitedToken(t, capabilities...)
		return s.Protocol(t, "")
	}
	planner := limited(api.PlanCapabilities()...)
	for _, typeName := range slices.Sorted(maps.Keys(schemas(t).schema.ResourceSchemas)) {
		configs := configsOf(s, typeName)
		_, diags := planner.Plan(typeName, configs[0], nil)
		planner.NoErrors(diags)
		o, diags := owner.Apply(t.Context(), typeName, configs[0], nil)
		owner.NoErrors(diags)
		o, diags = planner.Walk().Read(typeName, o)
		planner.NoErrors(diags)
		for _, config := range configs {
			_, diags = planner.Plan(typeName, config, o)
			planner.NoErrors(diags)
		}
	}
	lists := []string{"mailhost_account"}
	for name, data := range schemas(t).schema.DataSourceSchemas {
		if data.Block.Attributes[strings.TrimPrefix(name, "mailhost_")] != nil { // the objects of a plural data source
			lists = append(lists, name)
		}
	}
	for _, name := range lists {
		_, diags := planner.ReadData(name, nil)
		planner.NoErrors(diags)
	}
	for i, missing := range api.PlanCapabilities() {
		without := limited(slices.Delete(api.PlanCapabilities(), i, i+1)...)
		if !slices.ContainsFunc(lists, func(name string) bool {
			_, diags := without.ReadData(name, nil)
			return strings.Contains(acctest.Render(diags), string(missing))
		}) {
			t.Errorf("every list can be read without %s", missing)
		}
	}
}
