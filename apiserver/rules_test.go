package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// TestRules sends requests to one account one after another, and repeats each with each of its
// statements failing. A step names its client, and after an arrow the name of its object in later
// steps.
func TestRules(t *testing.T) {
	f := &statements{t: t}
	h := apitest.New(t, func(o *apiserver.Options) { o.Store, o.ExposeFaults = f.open(), true })
	h.Client = f.of(load(t, h, parseFixture(t, `{"max_mailboxes":3,"accounts":[{"id":"`+fixtureAccount+`","workspaces":[{"name":"W"},{"name":"Default"}],
		"dedicated_ip_options":[{"name":"one","country_code":"DE","addresses":["192.0.2.9"]}],"dedicated_ips":[{"name":"ip","option":"one"}],"domains":[
		{"name":"a.com","workspace":"Default","dedicated_ip":"ip","tags":["vip"],"forwarding":[{"target_email":"x@c.com","verification_state":"pending"},{"target_email":"info@b.com"},{"target_email":"j@a.com"}],
		"mailboxes":[{"local_part":"jane","first_name":"J","last_name":"D","aliases":[{"alias":"j@a.com"},{"alias":"info@b.com"}]}]},
		{"name":"b.com","workspace":"W","outbound_routing_ready":false},{"name":"failed.com","workspace":"Default","status":"failed"},
		{"name":"late.com","workspace":"Default","status":"pending_payment","mailboxes":[{"local_part":"l","first_name":"L","last_name":"L"}]}]}]}`)))
	ids := []string{"$N", nobody, "$W", h.Get("/workspaces?page_size=1&page=2").Str("items.0.id"), "$D", h.DefaultWorkspace(),
		"$F", h.Get("/forwarding?search=x@").Str("items.0.id"), "$INFO", h.Get("/forwarding?search=info@").Str("items.0.id"), "$ALIAS", h.Get("/forwarding?search=j@a").Str("items.0.id"), "$SPF", idOf(h.Get("/dns-records?domain=a.com&name=@&type=TXT"), "items.0.id"), "$OWNER", h.Get("/auth/authorizations").Str("0.id")}
	for name, kind := range map[string]string{"$A": "domain:a.com", "$IP": "dedicated-ip:ip", "$OPTION": "dedicated-ip-option:one", "$JANE": "mailbox:jane@a.com"} {
		ids = append(ids, name, api.DerivedID(fixtureAccount, kind))
	}
	workspace := ids[3]
	brief, c := h.ServiceAccount(h.Client, obj{"name": "brief", "expires_at": h.Clock.Now().Add(time.Hour)})
	clients := map[string]*apitest.Client{"owner": h.Client, "w": h.Restricted(t, "workspace", workspace), "brief": c,
		"few": h.Limited(t, apitest.Grant{Capability: vocab.CapAuthorizationManage}, apitest.Grant{Capability: vocab.CapServiceAccountRevoke}),
		"mover": h.Limited(t, apitest.GrantOn(vocab.CapDomainUpdate, "workspace", h.DefaultWorkspace()), apitest.GrantOn(vocab.CapDomainUpdate, "workspace", workspace),
			apitest.GrantOn(vocab.CapMailboxView, "workspace", workspace)),
		"a": h.Limited(t, apitest.GrantOn(vocab.CapDomainUpdate, "domain", api.DerivedID(fixtureAccount, "domain:a.com")))}
	for name, c := range clients {
		if c.Account = fixtureAccount; name != "owner" {
			f.of(c)
		}
	}
	contact, _ := json.Marshal(contact())
	ids = append(ids, "$BRIEF", brief, "$CONTACT", string(contact))
	const capability = `{"grant_kind":"capability","capability_key":"mailbox.view","subject_type":`
	for _, step := range []struct {
		request, body string
		status        int
		want          string
	}{
		{"owner PATCH /domains/a.com", `{"workspace_id":"$N"}`, 422, "no workspace $N"},
		{"owner PATCH /domains/none.com", `{"workspace_id":"$D"}`, 404, "domain"},
		{"mover PATCH /domains/a.com", `{"workspace_id":"$W"}`, 403, "would gain mailbox.view"},
		{"a PATCH /domains/a.com", `{"workspace_id":"$D"}`, 200, `"workspace_id":"$D"`},
		{"owner PATCH /domains/a.com", `{"workspace_id":"$W","redirect_url":"https://a.com"}`, 200, `"workspace_id":"$W"`},
		{"owner GET /domains?tag=vip&workspace_id=$W&status=active&search=A", ``, 200, `"redirect_mode":"301"`},
		{"w GET /domains?page_size=1&page=2", ``, 200, `"total":2`},
		{"w GET /domains/b.com", ``, 200, `"status":"active","outbound_routing_ready":false`},
		{"owner PATCH /domains/a.com", `{"workspace_id":"$D"}`, 200, `"workspace_id":"$D"`},
		{"owner POST /dns-records -> $CNAME", `{"domain":"a.com","name":"www","type":"CNAME","value":"b.com"}`, 201, `"name":"www"`},
		{"owner POST /dns-records", `{"domain":"a.com","name":"www","type":"A","value":"192.0.2.1"}`, 409, "the name www of a.com has the CNAME record $CNAME; a CNAME excludes"},
		{"owner POST /dns-records", `{"domain":"a.com","name":"X","type":"CNAME","value":"x.A.com."}`, 422, "own name"},
		{"owner PATCH /dns-records/$CNAME", `{"value":"not a host"}`, 422, "value"},
		{"owner PATCH /dns-records/$CNAME", `{"value":"www.a.com","prio":1}`, 422, "own name"},
		{"owner PATCH /dns-records/$CNAME", `{"ttl":60}`, 200, `"value":"b.com`},
		{"owner POST /dns-records", `{"domain":"a.com","name":"www","type":"CNAME","value":"b.com"}`, 409, "identical CNAME record at www exists already with the id $CNAME"},
		{"owner PATCH /dns-records/$SPF", `{"ttl":60}`, 409, "is system-managed"},
		{"owner DELETE /dns-records/$SPF", ``, 409, "is system-managed"},
		{"owner POST /dns-records -> $TXT", `{"domain":"a.com","name":"@","type":"TXT","value":"v=spf1 -all"}`, 201, `"id":`},
		{"owner GET /dns-records/$SPF", ``, 404, "DNS record"},
		{"owner PATCH /dns-records/$TXT", `{"value":"x"}`, 200, `"x"`},
		{"owner GET /dns-records?domain=a.com&name=WWW.a.com.", ``, 200, `"total":1`},
		{"owner GET /dns-records?domain=a.com&name=-.-", ``, 200, `"total":0`},
		{"owner GET /dns-records?page=2&page_size=3", ``, 200, `"name":"mailhost._domainkey"`},
		{"owner GET /dns-records?page=7&page_size=3", ``, 200, `"www"`},
		{"owner GET /dns-records?page=9223372036854775807&page_size=2", ``, 200, `"items":[]`},
		{"owner POST /mailboxes", `{"domain":"late.com","local_part":"x","first_name":"f","last_name":"l"}`, 409, "is pending_payment"},
		{"owner POST /mailboxes", `{"domain":"failed.com","local_part":"x","first_name":"f","last_name":"l"}`, 409, "is failed"},
		{"owner POST /mailboxes/bulk", `{"domain":"a.com","items":[{"local_part":"X","first_name":"f","last_name":"l"},{"local_part":"x","first_name":"f","last_name":"l"},
			{"local_part":"a b","first_name":"f","last_name":"l"},{"local_part":"y","first_name":"","last_name":"l"},{"local_part":"z","first_name":"f","last_name":"l"}]}`, 200,
			`[{"code":"duplicate_in_request","index":1`},
		{"owner POST /mailboxes/bulk", `{"domain":"a.com","items":[{"local_part":"a b","first_name":"f","last_name":"l"},{"local_part":"y","first_name":"","last_name":"l"}]}`, 200, `"created":[]`},
		{"owner POST /mailboxes", `{"domain":"a.com","local_part":"jane","first_name":"f","last_name":"l"}`, 409, "exists already with the id $JANE"},
		{"owner PATCH /mailboxes/$JANE", `{"first_name":"J.","last_name":"D."}`, 200, `"last_name":"D."`},
		{"w GET /forwarding", ``, 200, `"total":0`},
		{"w POST /forwarding", `{"target_email":"x@c.com"}`, 403, "forwarding.manage"},
		{"w POST /forwarding -> $RULE", `{"target_email":"jane@a.com","workspace_id":"$W"}`, 201, `"pending"`},
		{"w PATCH /forwarding/$RULE/active", `{"active":true}`, 409, "the verification of jane@a.com is pending"},
		{"owner PATCH /forwarding/$INFO/active", `{"active":true}`, 200, `"active"`},
		{"w PATCH /forwarding/$F", `{"target_email":"y@c.com"}`, 404, "forwarding rule"},
		{"owner PATCH /forwarding/$F", `{"target_email":"info@b.com"}`, 409, "is forwarded to info@b.com already by the rule"},
		{"w GET /forwarding?workspace_id=$W&scope_type=workspace&verification_state=pending", ``, 200, `"total":1`},
		{"w POST /credentials", `{"name":"p","generate":true,"workspace_id":"$W"}`, 201, `"generated_secret":"`},
		{"w POST /credentials", `{"name":"p","generate":true,"workspace_id":"$W"}`, 409, "this workspace has a master password named"},
		{"owner GET /credentials?scope_type=workspace&search=P", ``, 200, `"total":1`},
		{"owner POST /dedicated-ips/claim", `{"option_id":"$OPTION"}`, 409, "is exhausted"},
		{"owner POST /dedicated-ips/claim", `{"option_id":"$N"}`, 422, "no dedicated IP option"},
		{"owner DELETE /dedicated-ips/$IP", ``, 409, "is assigned to the domains $A"},
		{"owner GET /dedicated-ips?country_code=de&status=active", ``, 200, `"total":1`},
		{"few POST /auth/authorizations", capability + `"user","subject_id":"u"}`, 403, "can't grant mailbox.view"},
		{"few DELETE /auth/authorizations/$OWNER", ``, 403, "can't revoke account_owner"},
		{"few DELETE /auth/service-accounts/$BRIEF", ``, 403, "can't revoke a service account that has account_owner"},
		{"brief POST /auth/authorizations", capability + `"user","subject_id":"u"}`, 403, "the credential expires at"},
		{"brief POST /auth/authorizations", capability + `"service_account","subject_id":"$BRIEF"}`, 201, `"mailbox.view"`},
		{"brief POST /auth/authorizations", capability + `"service_account","subject_id":"$BRIEF"}`, 409, "has this grant already: "},
		{"owner POST /auth/authorizations", capability + `"service_account","subject_id":"$N","resource_type":"domain","resource_id":"$N"}`, 422, `no service account \"$N\""`},
		{"owner POST /auth/authorizations", capability + `"user","subject_id":"u","resource_type":"workspace","resource_id":"$A"}`, 422, "no workspace $A"},
		{"owner POST /auth/authorizations", capability + `"user","subject_id":"u","resource_type":"domain","resource_id":"$A"}`, 201, `"$A"`},
		{"owner POST /dns-records", `{"domain":"a.com","name":"www.b.com.","type":"A","value":"192.0.2.1"}`, 422, `"name"`},
		{"owner POST /mailboxes/export", `{"domain":"none.com","mailboxes":["eve@a.com","$JANE","$N"]}`, 422, `"loc":["body","mailboxes","2"]`},
		{"owner POST /mailboxes/export", `{"domain":"b.com","mailboxes":["$JANE"]}`, 422, `"loc":["body","mailboxes","0"]`},
		{"owner POST /mailboxes/export", `{"domain":"$A","mailboxes":["$JANE","jane@a.com"]}`, 200, "$JANE"},
		{"owner GET /audit-log?since=9999-12-31T23:00:00-12:00", "", 422, `"since"`},
		{"owner POST /billing/change-plan", `{"plan_id":"smtp_per_proxy","effective_date":"2026-03-15T00:00:00Z"}`, 200, `"scheduled"`},
		{"owner POST /billing/cancel-plan", `{}`, 200, `"previous_plan_id":"`},
		{"owner DELETE /domains/b.com", "", 204, ""}, // with an alias of jane that a rule forwards to
		{"owner DELETE /mailboxes/jane@a.com", "", 204, ""},
		{"owner PATCH /forwarding/$ALIAS/active", `{"active":true}`, 409, "j@a.com was deleted"},
		{"owner PATCH /forwarding/$INFO/active", `{"active":true}`, 409, "may belong to somebody else now; set target_email again"},
		{request: "advance an hour more than a week"},
		{"owner POST /billing/cancel-plan", `{}`, 200, `"previous_plan_id":"smtp_per_proxy"`},
		{"owner POST /domains/purchase", `{"domains":["late.com"],"workspace_id":"$D","contact_info":$CONTACT}`, 200, `"purchased"`},
	} {
		if strings.HasPrefix(step.request, "advance") {
			h.Clock.Advance(week + time.Hour)
			continue
		}
		request, name, _ := strings.Cut(strings.NewReplacer(ids...).Replace(step.request), " -> ")
		part := strings.SplitN(request, " ", 3)
		var body any
		if step.body != "" {
			body = strings.NewReplacer(ids...).Replace(step.body)
		}
		r := clients[part[0]].Do(part[1], part[2], body).Want(step.status)
		if name != "" {
			ids = append(ids, name, idOf(r, "id"))
		}
		want := strings.NewReplacer(ids...).Replace(step.want)
		assert.Check(t, strings.Contains(string(r.Raw), want), "%s: %s; want %s", step.request, r, want)
	}
}
