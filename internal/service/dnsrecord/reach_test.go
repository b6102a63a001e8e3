package dnsrecord_test

import (
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

func mx(name string, host, priority any) map[string]any {
	return map[string]any{"domain": "example.com", "name": name, "type": "MX", "value": host, "priority": priority}
}

// TestReach checks that a plan names a change of the MX, SPF and DMARC in force, before and after, and
// that it says nothing of other records and of places where nothing is in force.
func TestReach(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	p := s.Protocol(t, "")
	changed := func(config map[string]any, more ...any) map[string]any {
		c := maps.Clone(config)
		for i := 0; i < len(more); i += 2 {
			c[more[i].(string)] = more[i+1]
		}
		return c
	}
	const builtIn = "mx1.mailhost.example and mx2.mailhost.example"
	const none = ""
	for name, c := range map[string]struct {
		before, after map[string]any
		summary       string // after "The plan ", none if there is no such warning
		lines         []string
	}{
		"a first MX": {nil, mx("@", "mx1.new.example", 10), "changes the MX of example.com: mail goes to mx1.new.example instead of " + builtIn,
			[]string{"before: 10 mx1.mailhost.example (built-in)", "before: 20 mx2.mailhost.example (built-in)", "after: 10 mx1.new.example"}},
		"by id": {nil, changed(mx("Example.COM.", "mx1.new.example", 10), "domain", d.ID), "changes the MX of example.com: mail goes to mx1.new.example instead of " + builtIn, nil},
		"the last MX": {mx("@", "mx1.new.example", 10), nil, "changes the MX of example.com: mail goes to the service's own hosts instead of mx1.new.example",
			[]string{"before: 10 mx1.new.example", "after: the service's own hosts"}},
		"another host":           {mx("@", "in.example", 10), mx("@", "out.example", 10), "changes the MX of example.com: mail goes to out.example instead of in.example", nil},
		"a null MX":              {mx("@", "in.example", 10), mx("@", ".", 0), "changes the MX of example.com: mail goes to no host instead of in.example", nil},
		"an unknown host":        {mx("@", "in.example", 10), mx("@", acctest.Unknown, 10), "changes the MX of example.com: mail goes to a host that only the apply knows instead of in.example", nil},
		"another priority":       {mx("@", "in.example", 10), mx("@", "in.example", 5), none, nil}, // the host stays the only one
		"another ttl":            {mx("@", "in.example", 10), changed(mx("@", "in.example", 10), "ttl", 300), none, nil},
		"another spelling":       {mx("@", "in.example", 10), mx("@", "IN.example.", 10), none, nil},
		"a subdomain":            {mx("sub", "in.example", 10), mx("sub", "out.example", 10), "changes the MX of sub.example.com: mail goes to out.example instead of in.example", nil},
		"a new subdomain":        {nil, mx("sub", "in.example", 10), none, nil},
		"no subdomain":           {mx("sub", "in.example", 10), nil, "removes the MX of sub.example.com: mail no longer goes to in.example", []string{"after: none"}},
		"another name":           {mx("@", "in.example", 10), mx("sub", "in.example", 10), "changes the MX of example.com: mail goes to the service's own hosts instead of in.example", nil},
		"another domain":         {mx("@", "in.example", 10), changed(mx("@", "in.example", 10), "domain", "example.org"), "changes the MX of example.org: mail goes to in.example instead of " + builtIn, nil},
		"a first SPF":            {nil, txt("@", policy), "changes the SPF of example.com", []string{"before: v=spf1 include:_spf.mailhost.example ~all (built-in)", "after: " + policy}},
		"the built-in SPF":       {nil, txt("@", "v=spf1 include:_spf.mailhost.example ~all"), none, nil},
		"the last SPF":           {txt("@", policy), nil, "changes the SPF of example.com", []string{"before: " + policy, "after: the built-in record of the service"}},
		"no SPF any more":        {txt("@", policy), txt("@", "hello"), "changes the SPF of example.com", nil},
		"an unknown SPF":         {txt("@", policy), txt("@", acctest.Unknown), "changes the SPF of example.com", []string{"after: (known only after the apply)"}},
		"a DMARC":                {txt("_dmarc", "v=DMARC1; p=reject"), txt("_dmarc", "v=DMARC1; p=none"), "changes the DMARC of example.com", []string{"before: v=DMARC1; p=reject", "after: v=DMARC1; p=none"}},
		"a first DMARC, unknown": {nil, txt("_dmarc", acctest.Unknown), "changes the DMARC of example.com", []string{"after: (known only after the apply)"}},
		"a DMARC of a subdomain": {txt("_dmarc.sub", "v=DMARC1; p=reject"), nil, "removes the DMARC of sub.example.com", nil},
		"no place of a DMARC":    {txt("@", "v=DMARC1; p=reject"), nil, none, nil},
		"a text":                 {txt("@", "hello"), txt("@", "goodbye"), none, nil},
		"another text":           {nil, txt("@", "hello"), none, nil},
	} {
		var o *acctest.Object
		if c.before != nil {
			made, diags := p.Apply(t.Context(), typeName, c.before, nil)
			p.NoErrors(diags)
			o = made
		}
		_, diags := p.Walk().Plan(typeName, c.after, o)
		p.NoErrors(diags)
		text := acctest.Render(diags)
		reach := strings.Count(text, "\nConcerns: reach\n")
		if c.summary == none {
			assert.Check(t, is.Equal(reach, 0), "%s: %s", name, text)
		} else {
			assert.Check(t, is.Contains(text, "The plan "+c.summary+"\n"), name)
		}
		for _, line := range c.lines {
			assert.Check(t, is.Contains(text, "\n  - "+line+"\n"), name)
		}
		assert.Check(t, strings.Contains(text, "\nConcerns: DNS\n") == (c.before != nil && (c.after == nil || c.after["name"] != c.before["name"] || c.after["domain"] != c.before["domain"])), "%s: %s", name, text)
		if o != nil {
			_, diags = p.Destroy(t.Context(), typeName, o)
			p.NoErrors(diags)
		}
	}
}

// TestReachOfSeveral checks the hosts that a change of one of several MX records leaves.
func TestReachOfSeveral(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	create(t, s, "example.com", "@", "MX", "b.example", "20")
	create(t, s, "example.com", "@", "MX", "c.example", "100")
	p := s.Protocol(t, "")
	first, diags := p.Apply(t.Context(), typeName, mx("@", "a.example", 10), nil)
	p.NoErrors(diags)
	_, diags = p.Walk().Plan(typeName, nil, first)
	acctest.Expect(t, diags, "mail goes to b.example and c.example instead of a.example, b.example and c.example", "Without any MX record of yours", "after: 20 b.example\n  - after: 100 c.example")
	_, diags = p.Walk().Plan(typeName, mx("@", "a.example", 20), first)
	acctest.Expect(t, diags, "mail goes to the same hosts with other priorities", "before: 10 a.example", "after: 20 a.example")
	_, diags = p.Walk().Plan(typeName, mx("@", "a.example", 30), first)
	acctest.Expect(t, diags, "mail goes to b.example, a.example and c.example instead of a.example, b.example and c.example")
	// The published operations don't list records.
	published := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	published.Domain(t, "example.com")
	_, diags = published.Protocol(t, "").Plan(typeName, mx("@", "a.example", 10), nil)
	acctest.Expect(t, diags, "mail goes to a.example instead of the hosts so far", "before: not known")
	// In a domain that the plan creates, nothing is in force.
	p.Together()
	_, diags = p.Plan("mailhost_domain", map[string]any{"name": "brandnew.com", "contact_info": acctest.Unknown}, nil)
	p.NoErrors(diags)
	config := mx("@", "a.example", 10)
	config["domain"] = "brandnew.com"
	_, diags = p.Plan(typeName, config, nil)
	p.NoErrors(diags)
	assert.Check(t, !strings.Contains(acctest.Render(diags), "MX of"), acctest.Render(diags))
}

// TestReachCostsNoRequest checks that only a plan which changes the MX, SPF or DMARC lists the records,
// and once for all records of a domain.
func TestReachCostsNoRequest(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	var lists atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/dns-records") {
			lists.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	configs := []map[string]any{mx("@", "a.example", 10), mx("@", "b.example", 10), www("192.0.2.1")}
	objects := make([]*acctest.Object, len(configs))
	for i, config := range configs {
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		objects[i] = o
	}
	for _, c := range []struct {
		after []map[string]any
		want  int32
	}{
		{configs, 0},
		{[]map[string]any{mx("@", "A.example.", 10), mx("@", "b.example", 10), www("192.0.2.2")}, 0},
		{[]map[string]any{mx("@", "a.example", 20), nil, nil}, 1},
	} {
		p.Together()
		lists.Store(0)
		for i, config := range c.after {
			_, diags := p.Plan(typeName, config, objects[i])
			p.NoErrors(diags)
		}
		assert.Check(t, is.Equal(lists.Load(), c.want), "%v", c.after)
	}
}
