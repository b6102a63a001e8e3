package dnsrecord_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const policy = "v=spf1 include:_spf.example.net -all"

func txt(name, value any) map[string]any {
	return map[string]any{"domain": "example.com", "name": name, "type": "TXT", "value": value}
}

func TestSecondPolicy(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	create(t, s, "example.com", "news", "TXT", policy, "")
	create(t, s, "example.com", "site", "TXT", "v=spf10 is something else", "")
	create(t, s, "example.com", "_mta-sts", "TXT", "v=STSv1; id=1;", "")
	p := s.Protocol(t, "")
	for name, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"at the apex":       {txt("@", `"V=SPF1 " "-all"`), []string{`WARNING at AttributeName("value")`, "A second SPF record at @ of example.com", "came with the domain", "_spf.mailhost.example", "permerror", "subdomain"}},
		"absolute":          {txt("Example.com", "v=spf1"), []string{"A second SPF record at Example.com of example.com"}},
		"beside another":    {txt("news.example.com.", "v=spf1 -all"), []string{"A second SPF record", policy, "Put all into one record"}},
		"a second DMARC":    {txt("_dmarc", "v=DMARC1; p=reject"), []string{"A second DMARC record at _dmarc of example.com", "came with the domain", "RFC 7489", "subdomain"}},
		"a DMARC elsewhere": {txt("_dmarc.news", "v=DMARC1; p=reject"), nil},
		"MTA-STS":           {txt("_mta-sts", "v=STSv1; id=2;"), []string{"A second MTA-STS record", "RFC 8461"}},
		"another kind":      {txt("_mta-sts", "v=TLSRPTv1; rua=mailto:a@example.com"), nil},
		"the same":          {txt("news", `"`+policy+`"`), nil},
		"elsewhere":         {txt("other", policy), nil},
		"no other policy":   {txt("site", policy), nil},
		"no policy":         {txt("@", "v=spf10"), nil},
		"unknown value":     {txt("@", acctest.Unknown), nil},
		"unknown name":      {txt(acctest.Unknown, policy), nil},
		"of no such domain": {map[string]any{"domain": "example.net", "name": "@", "type": "TXT", "value": policy}, nil},
	} {
		_, diags := p.Plan(typeName, c.config, nil)
		p.NoErrors(diags)
		if c.want == nil && len(diags) > 0 {
			t.Errorf("%s: %s", name, acctest.Render(diags))
		}
		acctest.Expect(t, diags, c.want...)
	}
}

// TestSecondPolicyLater changes a record: into a policy, which is told, and a policy
// into another, which is not.
func TestSecondPolicyLater(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	apex, diags := p.Apply(t.Context(), typeName, txt("@", "nothing"), nil)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, txt("@", policy), apex)
	acctest.Expect(t, diags, "A second SPF record")
	apex, diags = p.Apply(t.Context(), typeName, txt("@", policy), apex)
	p.NoErrors(diags)
	shorter := txt("@", policy)
	shorter["ttl"] = 300
	if _, diags := p.Plan(typeName, shorter, apex); len(diags) > 0 { // it has been told
		t.Error(acctest.Render(diags))
	}
	own, diags := p.Apply(t.Context(), typeName, txt("news", policy), nil)
	p.NoErrors(diags)
	for _, value := range []string{policy, "v=spf1 -all"} {
		if _, diags := p.Plan(typeName, txt("news", value), own); len(diags) > 0 {
			t.Error(acctest.Render(diags))
		}
	}
}

// TestSecondPolicyUntold can't look: by the API, or for now.
func TestSecondPolicyUntold(t *testing.T) {
	t.Parallel()
	published := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	published.Domain(t, "example.com")
	if _, diags := published.Protocol(t, "").Plan(typeName, txt("@", policy), nil); len(diags) > 0 {
		t.Error(acctest.Render(diags))
	}
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/dns-records") {
			acctest.Refuse(w, http.StatusForbidden, "header.Authorization", "the credential lacks the capability dns_record.view")
			return
		}
		next.ServeHTTP(w, r)
	}))
	if _, diags := p.Plan(typeName, txt("@", policy), nil); len(diags) > 0 {
		t.Error(acctest.Render(diags))
	}
}
