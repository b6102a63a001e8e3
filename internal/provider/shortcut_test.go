package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// wrapped is a provider to which the server gives no shortcuts.
type wrapped struct{ validating }

type validating interface {
	framework.ProviderWithValidateConfig
}

// TestShortcuts makes random calls in random walks to a provider with shortcuts and to one
// without: every response is the same.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	taken := 0
	rapid.Check(t, func(r *rapid.T) {
		s := acctest.NewServer(t, acctest.Options{})
		s.Domain(t, "example.com")
		sales := s.Workspace(t, "Sales").ID
		fast := s.Protocol(t, "").Together()
		slow := s.ProtocolOf(t, "", wrapped{provider.New("test")().(validating)}).Together()
		kinds := kinds(s.AccountID)
		names := slices.Sorted(maps.Keys(kinds))
		objects := map[string]*acctest.Object{}
		pick := func() (typeName string, config map[string]any) {
			// Most calls are for a kind with shortcuts.
			typeName = rapid.SampledFrom(append(names, "mailhost_mailbox", "mailhost_mailbox", "mailhost_mailbox", "mailhost_mailbox")).Draw(r, "type")
			config = maps.Clone(kinds[typeName][rapid.IntRange(0, 1).Draw(r, "config")])
			if objects[typeName] == nil {
				o, diags := slow.Apply(t.Context(), typeName, kinds[typeName][0], nil)
				slow.NoErrors(diags)
				o, diags = slow.Read(typeName, o)
				slow.NoErrors(diags)
				objects[typeName] = o
				slow.Together()
				fast.Together()
			}
			return typeName, config
		}
		r.Repeat(map[string]func(*rapid.T){
			"walk": func(*rapid.T) { fast.Together(); slow.Together() },
			"plan": func(r *rapid.T) {
				typeName, config := pick()
				vary(r, config)
				var prior *acctest.Object
				if rapid.IntRange(0, 3).Draw(r, "prior") > 0 {
					prior = varied(r, fast, s.AccountID, typeName, objects[typeName])
				}
				got, diags := fast.Plan(typeName, config, prior)
				want, expected := slow.Plan(typeName, config, prior)
				compare(r, fmt.Sprintf("plan of %s with %v", typeName, config), got, want, diags, expected)
				if prior != nil && typeName == "mailhost_mailbox" && got.State.Equal(prior.State) {
					taken++
				}
			},
			"validate": func(r *rapid.T) {
				typeName, config := pick()
				vary(r, config)
				compare(r, fmt.Sprintf("validation of %s with %v", typeName, config), nil, nil, fast.Validate(typeName, config), slow.Validate(typeName, config))
			},
			"upgrade": func(r *rapid.T) {
				typeName, _ := pick()
				state := stored(r, varied(r, fast, s.AccountID, typeName, objects[typeName]))
				version := rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(r, "version")
				got, diags := fast.Upgrade(typeName, version, state)
				want, expected := slow.Upgrade(typeName, version, state)
				compare(r, fmt.Sprintf("upgrade of %s from %d: %s", typeName, version, state), got, want, diags, expected)
			},
			"read": func(r *rapid.T) {
				typeName, _ := pick()
				o := varied(r, fast, s.AccountID, typeName, objects[typeName])
				got, diags := fast.Read(typeName, o)
				want, expected := slow.Read(typeName, o)
				compare(r, "read of "+typeName, got, want, diags, expected)
				if acctest.Errors(diags) == 0 && !got.Gone() && rapid.Bool().Draw(r, "refresh") {
					objects[typeName] = got
				}
			},
			"replace": func(r *rapid.T) {
				typeName, config := pick()
				o := objects[typeName]
				for range rapid.IntRange(0, 2).Draw(r, "addresses") {
					got, diags := fast.Read(typeName, o)
					want, expected := slow.Read(typeName, o)
					compare(r, "read of "+typeName, got, want, diags, expected)
				}
				got, diags := fast.PlanReplacement(typeName, config, o)
				want, expected := slow.PlanReplacement(typeName, config, o)
				compare(r, fmt.Sprintf("replacement of %s with %v", typeName, config), got, want, diags, expected)
			},
			"move": func(r *rapid.T) {
				to := rapid.SampledFrom([]string{s.WorkspaceID, sales}).Draw(r, "workspace")
				acctest.Call(t, s, api.UpdateDomain, &api.UpdateDomainRequest{Domain: "example.com", Body: api.UpdateDomainBody{WorkspaceID: &to}})
			},
			"change": func(r *rapid.T) {
				if o := objects["mailhost_mailbox"]; o != nil {
					name := rapid.SampledFrom([]string{"Jane", "Joan", "Zoë"}).Draw(r, "first name")
					acctest.Call(t, s, api.UpdateMailbox, &api.UpdateMailboxRequest{Mailbox: o.Text("id"), Body: api.UpdateMailboxBody{FirstName: &name}})
				}
			},
		})
	})
	if taken == 0 {
		t.Error("no plan kept an object as it is")
	}
}

// vary changes a configuration, mostly of a mailbox.
func vary(r *rapid.T, config map[string]any) {
	spellings := map[string][]any{
		"domain":     {"EXAMPLE.com", "example.org", "example.com.", "example..com", "", nil, acctest.Unknown},
		"local_part": {"JANE", "joan", "jane@example.com", acctest.Unknown},
		"first_name": {"Zoë", "", strings.Repeat("x", 300), nil, acctest.Unknown},
		"status":     {"active"},
		"timeouts":   {map[string]any{"create": "5m"}, nil},
	}
	name := rapid.SampledFrom([]string{"", "", "domain", "local_part", "first_name", "status", "timeouts"}).Draw(r, "vary")
	if _, ok := config[name]; ok || (name == "timeouts" || name == "status") && config["local_part"] != nil {
		config[name] = rapid.SampledFrom(spellings[name]).Draw(r, name)
	}
}

// stored returns the state of an object as a CLI stores it, sometimes with another
// attribute or without one, or with a value of another type.
func stored(r *rapid.T, o *acctest.Object) []byte {
	state := decoded(r, o.State).(map[string]any)
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(state))).Draw(r, "attribute")
	switch rapid.SampledFrom([]string{"", "", "more", "less", "null", "number", "big", "bool", "list", "object"}).Draw(r, "stored") {
	case "more":
		state["more"] = "x"
	case "less":
		delete(state, name)
	case "null":
		state[name] = nil
	case "number":
		state[name] = 1
	case "big":
		state[name] = json.Number("1e400")
	case "bool":
		state[name] = true
	case "list":
		state[name] = []any{"x"}
	case "object":
		state[name] = map[string]any{"allowed": 1.5, "used": "x"}
	}
	encoded, err := json.Marshal(state)
	if err != nil {
		r.Fatal(err)
	}
	return encoded
}

// decoded returns a known value as encoding/json decodes it.
func decoded(r *rapid.T, v tftypes.Value) any {
	var text *string
	var flag *bool
	var number *big.Float
	var list []tftypes.Value
	var object map[string]tftypes.Value
	switch {
	case v.IsNull():
		return nil
	case v.As(&text) == nil:
		return *text
	case v.As(&flag) == nil:
		return *flag
	case v.As(&number) == nil:
		return json.Number(number.Text('f', -1))
	case v.As(&list) == nil:
		all := []any{}
		for _, item := range list {
			all = append(all, decoded(r, item))
		}
		return all
	case v.As(&object) == nil:
		all := map[string]any{}
		for name, item := range object {
			all[name] = decoded(r, item)
		}
		return all
	}
	r.Fatalf("%s can't be decoded", v)
	return nil
}

// varied returns an object as another state, identity or private state has it.
func varied(r *rapid.T, p *acctest.Protocol, accountID, typeName string, o *acctest.Object) *acctest.Object {
	changed := *o
	more := func(private []byte, key, value string) []byte {
		all := map[string][]byte{}
		_ = json.Unmarshal(private, &all) // an object may have none
		all[key] = []byte(value)
		encoded, err := json.Marshal(all)
		if err != nil {
			r.Fatal(err)
		}
		return encoded
	}
	switch rapid.SampledFrom([]string{"", "", "", "name", "spelling", "null", "workspace", "identity", "private", "imported", "account", "mark", "more", "stranger"}).Draw(r, "varied") {
	case "name":
		if typeName == "mailhost_mailbox" {
			changed = *p.With(typeName, o, "first_name", "Joan")
		}
	case "spelling":
		if typeName == "mailhost_mailbox" {
			changed = *p.With(typeName, o, "domain", rapid.SampledFrom([]any{"EXAMPLE.com", o.Text("domain_id"), "example.org"}).Draw(r, "domain"))
		}
	case "null":
		if typeName == "mailhost_mailbox" {
			changed = *p.With(typeName, o, rapid.SampledFrom([]string{"quota", "aliases", "status", "domain"}).Draw(r, "null"), nil)
		}
	case "workspace":
		if typeName == "mailhost_mailbox" {
			changed = *p.With(typeName, o, "workspace_id", rapid.SampledFrom([]any{"0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10", nil}).Draw(r, "workspace"))
			changed.Identity = rapid.SampledFrom([]*tfprotov6.ResourceIdentityData{o.Identity, nil}).Draw(r, "identity")
		}
	case "identity":
		changed.Identity = nil
	case "private":
		changed.Private = nil
	case "imported":
		changed.Private = more(o.Private, ".import_before_read", "true")
	case "stranger":
		changed.Identity = p.Identity(typeName, map[string]any{"account_id": "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10", "id": o.Text("id")})
	case "account":
		changed.Private, changed.Identity = marked("bb"), nil
	case "mark":
		changed.Private = marked(accountID)
		if rapid.Bool().Draw(r, "more") {
			changed.Private = more(changed.Private, "more", "1")
		}
	case "more":
		changed.Private = more(o.Private, "more", "1")
	}
	return &changed
}

// compare fails the test unless two responses are the same.
func compare(r *rapid.T, call string, got, want *acctest.Object, diags, expected []*tfprotov6.Diagnostic) {
	r.Helper()
	if d := cmp.Diff(acctest.Render(expected), acctest.Render(diags)); d != "" {
		r.Fatalf("%s: diagnostics (-framework +shortcut):\n%s", call, d)
	}
	if (got == nil) != (want == nil) {
		r.Fatalf("%s: the framework returns %v, the shortcut %v", call, want, got)
	}
	if got == nil {
		return
	}
	if !got.State.Equal(want.State) {
		r.Fatalf("%s: the framework returns\n%s, the shortcut\n%s", call, want.State, got.State)
	}
	if d := cmp.Diff(string(want.Private), string(got.Private)); d != "" {
		r.Fatalf("%s: private state (-framework +shortcut):\n%s", call, d)
	}
	if d := cmp.Diff(want.Identity, got.Identity, cmp.AllowUnexported(tfprotov6.DynamicValue{})); d != "" {
		r.Fatalf("%s: identity (-framework +shortcut):\n%s", call, d)
	}
	if len(got.Replace) != len(want.Replace) {
		r.Fatalf("%s: the framework replaces because of %v, the shortcut of %v", call, want.Replace, got.Replace)
	}
}
