package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// objectID matches the places of a message that name an object by its id. A set and a zone have the id of
// their domain.
var objectID = regexp.MustCompile(`(?i)\bid (is )?[0-9a-f-]{36}`)

// TestMessagesNameDomainsAlike creates, adopts, changes and destroys each kind of object in a domain with an
// international name, which the configuration spells in Unicode or refers to by its UUID. No message of
// a plan or an apply contains another form of the name than the API's.
func TestMessagesNameDomainsAlike(t *testing.T) {
	t.Parallel()
	const ascii = "xn--ksehaus-5wa.de"
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		id := s.Domain(t, ascii).ID
		var fails bool
		url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if fails && r.Method != http.MethodGet {
				acctest.Refuse(w, http.StatusForbidden, "", "not today")
				return
			}
			next.ServeHTTP(w, r)
		})
		for n, ref := range []string{"Käsehaus.de.", strings.ToUpper(id)} {
			configs := inDomain(t, s, ref)
			if ref != strings.ToUpper(id) {
				configs["mailhost_domain"] = values{"name": ref}
			}
			configs["mailhost_forwarding"]["target_email"] = "Jane@Käsehaus.de"
			configs["mailhost_dns_record"]["name"] = "WWW.Käsehaus.de"
			configs["mailhost_master_password"]["name"] = fmt.Sprintf("Backup %d", n) // the published operations delete none
			for typeName, config := range configs {
				var all []*tfprotov6.Diagnostic
				p := s.Protocol(t, url).Together()
				say := func(o *acctest.Object, diags []*tfprotov6.Diagnostic) *acctest.Object {
					all = append(all, diags...)
					return o
				}
				for range 2 {
					say(p.Plan(typeName, config, nil)) // two creates of one object
				}
				adopting := maps.Clone(config)
				if hasAttribute(t, typeName, "on_existing") {
					adopting["on_existing"] = "adopt"
				}
				say(p.Walk().Plan(typeName, with(config, domainAttribute(typeName), "Bücher-fehlt.de"), nil))
				early := say(p.Walk().Plan(typeName, adopting, nil))
				fails = true
				say(p.ApplyPlan(t.Context(), typeName, adopting, nil, early))
				fails = false
				o, diags := p.Apply(t.Context(), typeName, adopting, nil)
				p.NoErrors(diags)
				say(o, diags)
				say(p.Walk().Plan(typeName, config, nil)) // it exists
				say(p.Walk().Plan(typeName, adopting, nil))
				say(p.Walk().ApplyPlan(t.Context(), typeName, config, nil, early))
				say(p.Together().Plan(typeName, config, o))
				say(p.Plan(typeName, nil, o)) // of a second address
				say(p.Walk().PlanReplacement(typeName, with(config, domainAttribute(typeName), "example.org"), o))
				say(p.Walk().PlanReplacement(typeName, config, o))
				destroy := say(p.Walk().Plan(typeName, nil, o))
				fails = true
				say(p.ApplyPlan(t.Context(), typeName, nil, o, destroy))
				fails = false
				if typeName != "mailhost_domain" {
					say(p.Apply(t.Context(), typeName, nil, o))
				}
				text := acctest.Render(all)
				assert.Check(t, len(all) > 3 && strings.Contains(text, ascii), "%s in %s: the test sees no messages about the domain:\n%s", typeName, ref, text)
				for line := range strings.Lines(strings.ToLower(objectID.ReplaceAllString(text, ""))) {
					for _, other := range []string{"käsehaus", "bücher", "www.", strings.ToLower(id)} {
						assert.Check(t, !strings.Contains(line, other), "%s in %s: %s", typeName, ref, line)
					}
				}
			}
		}
	})
}

func domainAttribute(typeName string) string {
	if typeName == "mailhost_domain" {
		return "name"
	}
	return "domain"
}
