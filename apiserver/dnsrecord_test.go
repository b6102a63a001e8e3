package apiserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestSystemManagedRecords(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	a := h.Get("/dns-records?domain=example.com").Want(200)
	var got []string
	for i, typ := range a.Each("type") {
		place := "items." + itoa(i) + "."
		got = append(got, a.Str(place+"name")+" "+typ)
		a.Is(place+"is_system_managed", true, place+"ttl", 3600)
		path := "/dns-records/" + idOf(a, place+"id")
		h.Delete(path).Refused(409, "body conflict").Says("system-managed")
		h.Patch(path, obj{"ttl": 60}).Refused(409, "body conflict").Says("system-managed")
	}
	slices.Sort(got)
	same(t, "records", got, []string{"@ MX", "@ MX", "@ TXT", "_dmarc TXT", "mailhost._domainkey TXT"})
	for name, value := range map[string]string{"@": "v=spf1 ", "_dmarc": "v=DMARC1;", "mailhost._domainkey": "v=DKIM1;"} {
		r := h.Get("/dns-records?domain=example.com&type=TXT&name="+name).Want(200).Is("total", 1, "items.0.priority", nil)
		if !strings.HasPrefix(r.Str("items.0.value"), value) {
			t.Errorf("%s is %q", name, r.Str("items.0.value"))
		}
	}
	h.Get("/dns-records?domain=example.com&type=MX").Is("total", 2, "items.0.priority", 10, "items.1.priority", 20)
}

// idOf returns the id at a place of the body.
func idOf(a *apitest.Response, place string) string {
	if id, ok := a.At(place).(string); ok {
		return id
	}
	n, ok := a.At(place).(float64)
	if !ok {
		a.T.Fatalf("no number at %s: %s", place, a)
	}
	return itoa(int(n))
}

func TestDNSRecord(t *testing.T) {
	h := apitest.New(t)
	h.Domain("bücher.de")
	for _, tt := range []struct {
		name, typ, value string
		prio             any
		wantName, want   string
	}{
		{"www", "A", "192.0.2.1", nil, "www", "192.0.2.1"},
		{"WWW.bücher.de.", "AAAA", "2001:DB8:0:0::1", nil, "www", "2001:db8::1"},
		{"@", "A", "192.0.2.2", nil, "@", "192.0.2.2"},
		{"xn--bcher-kva.de.", "AAAA", "2001:db8::2", nil, "@", "2001:db8::2"},
		{"mail", "MX", "MX.Example.net.", 0, "mail", "mx.example.net"},
		{"_sip._tcp", "SRV", "5  443 sip.example.net.", 65535, "_sip._tcp", "5 443 sip.example.net"},
		{"@", "TXT", `"a" "b"`, nil, "@", "ab"},
		{"@", "CAA", `0 issue "letsencrypt.org"`, nil, "@", `0 issue "letsencrypt.org"`},
		{"sub", "NS", "ns1.example.net", nil, "sub", "ns1.example.net"},
		{"alias", "CNAME", "Example.NET", nil, "alias", "example.net"},
		{"*", "A", "192.0.2.3", nil, "*", "192.0.2.3"},
		{"long", "TXT", strings.Repeat("x", 1000), nil, "long", strings.Repeat("x", 1000)},
	} {
		a := h.Post("/dns-records", obj{"domain": "bücher.de", "name": tt.name, "type": tt.typ, "value": tt.value, "prio": tt.prio, "ttl": 60}).
			Want(201).Is("name", tt.wantName, "type", tt.typ, "value", tt.want, "priority", tt.prio, "ttl", 60, "is_system_managed", false)
		if got := h.Get("/dns-records/" + idOf(a, "id")).Want(200); string(got.Raw) != string(a.Raw) {
			t.Errorf("%s; want the created record: %s", got, a)
		}
	}
	h.CreateRecord("bücher.de", "ttl", "A", "192.0.2.1").Want(201).Is("ttl", 3600)
}

func TestDNSRecordRefusals(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	for _, tt := range []struct {
		fields obj
		want   []string
	}{
		{obj{"type": "MX", "value": "mx.example.net"}, []string{"body.prio missing"}},
		{obj{"type": "SRV", "value": "1 2 x.example.net"}, []string{"body.prio missing"}},
		{obj{"type": "TXT", "value": "x", "prio": 1}, []string{"body.prio value_error"}},
		{obj{"type": "A", "value": "2001:db8::1"}, []string{"body.value value_error"}},
		{obj{"type": "AAAA", "value": "192.0.2.1"}, []string{"body.value value_error"}},
		{obj{"type": "MX", "value": "mx.example.net", "prio": nil}, []string{"body.prio missing"}},
		{obj{"type": "MX", "value": "10 mx.example.net", "prio": 1}, []string{"body.value value_error"}},
		{obj{"type": "a", "value": "192.0.2.1"}, []string{"body.type enum"}},
		{obj{"type": "A", "value": "x", "name": "a..b", "prio": 1, "ttl": 59}, []string{"body.ttl greater_than_equal", "body.name value_error", "body.value value_error", "body.prio value_error"}},
		{obj{"type": "MX", "value": "not a host", "prio": 70000}, []string{"body.prio less_than_equal", "body.value value_error"}},
		{obj{"type": "CNAME", "value": "192.0.2.1"}, []string{"body.value value_error"}},
		{obj{"type": "CAA", "value": "0 issue"}, []string{"body.value value_error"}},
		{obj{"type": "A", "value": "192.0.2.1", "name": "other.net."}, []string{"body.name value_error"}},
		{obj{"type": "A", "value": "192.0.2.1", "name": "a b"}, []string{"body.name value_error"}},
		{obj{"type": "A", "value": "192.0.2.1", "ttl": 59}, []string{"body.ttl greater_than_equal"}},
		{obj{"type": "A", "value": "192.0.2.1", "ttl": 86401}, []string{"body.ttl less_than_equal"}},
		{obj{"type": "PTR", "value": "x.example.net"}, []string{"body.type enum"}},
		{obj{"type": "A", "value": "192.0.2.1", "domain": "nowhere.com"}, []string{"body.domain value_error"}},
	} {
		h.Post("/dns-records", with(obj{"domain": "example.com", "name": "www"}, flat(tt.fields)...)).Refused(422, tt.want...)
	}
	h.Get("/dns-records").Is("total", 5)
}

// flat returns an object's members as alternating names and values.
func flat(o obj) (pairs []any) {
	for key, value := range o {
		pairs = append(pairs, key, value)
	}
	return pairs
}

func TestCNAMEExcludesOthers(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	www := idOf(h.CreateRecord("example.com", "www", "A", "192.0.2.1").Want(201), "id")
	alias := idOf(h.CreateRecord("example.com", "alias", "CNAME", "example.net").Want(201), "id")
	h.CreateRecord("example.com", "www", "CNAME", "example.net").Refused(409, "body conflict").Says(www)
	h.CreateRecord("example.com", "alias", "A", "192.0.2.1").Refused(409, "body conflict").Says(alias)
	h.CreateRecord("example.com", "alias.example.com.", "TXT", "x").Refused(409, "body conflict").Says(alias)
	h.CreateRecord("example.com", "alias", "CNAME", "example.org").Refused(409, "body conflict").Says(alias)
	h.CreateRecord("example.com", "alias", "CNAME", "EXAMPLE.net.").Refused(409, "body conflict").Says(alias)
	h.CreateRecord("example.com", "@", "CNAME", "example.net").Refused(409, "body conflict")
	h.CreateRecord("example.com", "www", "AAAA", "2001:db8::1").Want(201)
	h.Delete("/dns-records/" + alias).Want(204)
	h.CreateRecord("example.com", "alias", "A", "192.0.2.1").Want(201)
}

// TestCNAMEOfItsOwnName checks that a CNAME can't point to its own name.
func TestCNAMEOfItsOwnName(t *testing.T) {
	h := apitest.New(t)
	h.Domain("bücher.de")
	h.Domain("example.com")
	for _, tt := range []struct{ domain, name, value string }{
		{"example.com", "alias", "alias.example.com"},
		{"example.com", "ALIAS", "Alias.Example.COM."},
		{"example.com", "alias.example.com.", "alias.example.com"},
		{"example.com", "alias.example.com", "alias.example.com"},
		{"bücher.de", "käse", "käse.bücher.de"},
		{"bücher.de", "xn--kse-qla", "KÄSE.xn--bcher-kva.de."},
		{"example.com", "@", "example.com"}, // this error takes precedence over the conflict with other records
		{"example.com", "example.com.", "EXAMPLE.com"},
	} {
		h.CreateRecord(tt.domain, tt.name, "CNAME", tt.value).Refused(422, "body.value value_error").Says("its own name")
	}
	for _, tt := range []struct{ name, typ, value string }{
		{"alias", "CNAME", "alias.example.net"}, {"other", "CNAME", "alias.example.com"}, {"a.alias", "CNAME", "alias.example.com"}, {"ns", "NS", "ns.example.com"}, {"apex", "CNAME", "example.com"},
	} {
		h.CreateRecord("example.com", tt.name, tt.typ, tt.value).Want(201)
	}
	id := idOf(h.Get("/dns-records?name=alias").Want(200), "items.0.id")
	h.Patch("/dns-records/"+id, obj{"value": "ALIAS.example.com."}).Refused(422, "body.value value_error").Says("its own name")
	h.Patch("/dns-records/"+id, obj{"value": "alias.example.com", "prio": 1}).Refused(422, "body.value value_error", "body.prio value_error")
	h.Get("/dns-records/"+id).Is("value", "alias.example.net")
	h.Patch("/dns-records/"+id, obj{"value": "www.example.com"}).Want(200)
	h.Patch("/dns-records/"+id, obj{"ttl": 60}).Want(200).Is("value", "www.example.com")
}

func TestIdenticalRecords(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	id := idOf(h.CreateRecord("example.com", "www", "A", "192.0.2.1").Want(201), "id")
	h.CreateRecord("example.com", "WWW", "A", "192.0.2.1").Refused(409, "body conflict").Says(id)
	h.Post("/dns-records", obj{"domain": "example.com", "name": "www.example.com.", "type": "A", "value": "192.0.2.1", "ttl": 60}).Refused(409, "body conflict")
	second := idOf(h.CreateRecord("example.com", "www", "A", "192.0.2.2").Want(201), "id")
	mx := obj{"domain": "example.com", "name": "m", "type": "MX", "value": "mx.example.net", "prio": 10}
	h.Post("/dns-records", mx).Want(201)
	h.Post("/dns-records", with(mx, "prio", 20)).Want(201)
	h.Post("/dns-records", mx).Refused(409, "body conflict")
	h.Patch("/dns-records/"+second, obj{"value": "192.0.2.1"}).Refused(409, "body conflict").Says(id)
	h.Get("/dns-records/"+second).Is("value", "192.0.2.2")
}

func TestUpdateDNSRecord(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	a := idOf(h.CreateRecord("example.com", "www", "A", "192.0.2.1").Want(201), "id")
	mx := idOf(h.Post("/dns-records", obj{"domain": "example.com", "name": "m", "type": "MX", "value": "mx.example.net", "prio": 10}).Want(201), "id")
	h.Patch("/dns-records/"+a, obj{"value": " 192.0.2.9 "}).Want(200).Is("value", "192.0.2.9", "ttl", 3600, "name", "www", "type", "A")
	h.Patch("/dns-records/"+a, obj{"ttl": 60, "value": nil, "prio": nil}).Want(200).Is("value", "192.0.2.9", "ttl", 60)
	h.Patch("/dns-records/"+a, obj{}).Want(200).Is("value", "192.0.2.9", "ttl", 60)
	h.Patch("/dns-records/"+mx, obj{"prio": 5}).Want(200).Is("priority", 5, "value", "mx.example.net")
	h.Patch("/dns-records/"+mx, obj{"value": "10 mx.example.net"}).Refused(422, "body.value value_error")
	h.Patch("/dns-records/"+a, obj{"prio": 5}).Refused(422, "body.prio value_error")
	h.Patch("/dns-records/"+a, obj{"prio": 5, "value": "x"}).Refused(422, "body.value value_error", "body.prio value_error")
	h.Patch("/dns-records/"+a, obj{"ttl": 1, "prio": -1, "value": ""}).
		Refused(422, "body.prio greater_than_equal", "body.ttl greater_than_equal", "body.value string_too_short")
	h.Get("/dns-records/"+a).Is("value", "192.0.2.9", "priority", nil)
	h.Delete("/dns-records/" + a).Want(204)
	for _, path := range []string{"/dns-records/" + a, "/dns-records/0", "/dns-records/-1", "/dns-records/9223372036854775807"} {
		h.Get(path).Refused(404, "path.dns_record_id not_found")
		h.Patch(path, obj{}).Refused(404, "path.dns_record_id not_found")
		h.Delete(path).Refused(404, "path.dns_record_id not_found")
	}
	next := idOf(h.CreateRecord("example.com", "www", "A", "192.0.2.1").Want(201), "id")
	if next == a {
		t.Error("an id was reused")
	}
}

func TestDNSRecordFilters(t *testing.T) {
	h := apitest.New(t)
	id := h.Domain("example.com")
	h.Domain("example.net")
	for _, domain := range []string{"example.com", "example.net"} {
		h.CreateRecord(domain, "www", "A", "192.0.2.1").Want(201)
		h.CreateRecord(domain, "www", "TXT", "x").Want(201)
	}
	for query, want := range map[string]int{
		"": 14, "domain=example.com": 7, "domain=EXAMPLE.com.": 7, "domain=" + id: 7, "type=A": 2, "type=TXT": 8, "name=www": 4, "name=WWW": 4, "domain=example.com&name=www": 2,
		"domain=example.com&name=www.example.com.": 2,
		"domain=example.com&name=www&type=TXT":     1, "domain=example.com&name=@": 3, "domain=nowhere.com": 0, "name=a..b": 0, "domain=example.com&name=other.net.": 0,
	} {
		h.Get("/dns-records?"+query).Want(200).Is("total", want)
	}
	h.Get("/dns-records?type=x").Refused(422, "query.type enum")
}

// listedRecords returns a domain's records in listed order as text, and checks that the
// pages and the total agree.
func listedRecords(h *apitest.Server, domain string) (shown []string) {
	h.T.Helper()
	whole := h.Get("/dns-records?page_size=1000&domain=" + domain).Want(200)
	for i, typ := range whole.Each("type") {
		place := "items." + itoa(i) + "."
		id := idOf(whole, place+"id")
		shown = append(shown, whole.Str(place+"name")+" "+typ+" "+whole.Str(place+"value"))
		h.Get("/dns-records/"+id).Want(200).Is("value", whole.Str(place+"value"))
		h.Get("/dns-records?page_size=1&domain="+domain+"&page="+itoa(i+1)).Want(200).Is("items.0.value", whole.Str(place+"value"), "total", len(whole.Each("type")))
	}
	whole.Is("total", len(shown))
	return shown
}

// TestSystemManagedRecordsYield checks that a customer's mail records replace the
// system-managed ones of the same kind until they are deleted.
func TestSystemManagedRecordsYield(t *testing.T) {
	const mx1, mx2, spf, dkim, dmarc = "@ MX mx1.mailhost.example", "@ MX mx2.mailhost.example", "@ TXT v=spf1 include:_spf.mailhost.example ~all", "mailhost._domainkey TXT", "_dmarc TXT v=DMARC1; p=none"
	add := func(h *apitest.Server, name, typ, value string) *apitest.Response {
		body := obj{"domain": "example.com", "name": name, "type": typ, "value": value}
		if typ == "MX" {
			body["prio"] = 10
		}
		return h.Post("/dns-records", body)
	}
	for _, tt := range []struct {
		name             string
		records          [][3]string
		replaced, stayed []string
	}{
		{"SPF", [][3]string{{"@", "TXT", "v=spf1 mx -all"}}, []string{spf}, []string{mx1, mx2, dmarc}},
		{"SPF in upper case and without terms", [][3]string{{"example.com.", "TXT", "V=SPF1"}}, []string{spf}, []string{mx1, mx2, dmarc}},
		{"SPF in quotes", [][3]string{{"@", "TXT", `"v=sp" "f1 -all"`}}, []string{spf}, []string{mx1, mx2, dmarc}},
		{"the same SPF", [][3]string{{"@", "TXT", "v=spf1 include:_spf.mailhost.example ~all"}}, nil, []string{mx1, mx2, dmarc}},
		{"DMARC", [][3]string{{"_dmarc", "TXT", "v=DMARC1; p=reject"}}, []string{dmarc}, []string{mx1, mx2, spf}},
		{"DMARC with blanks", [][3]string{{"_DMARC.example.com.", "TXT", "v = DMARC1 ;p=reject"}}, []string{dmarc}, []string{mx1, mx2, spf}},
		{"MX", [][3]string{{"@", "MX", "mx.example.net"}}, []string{mx1, mx2}, []string{spf, dmarc}},
		{"some MX, one as before", [][3]string{{"@", "MX", "mx1.mailhost.example"}, {"@", "MX", "mx.example.net"}}, []string{mx2}, []string{mx1, spf, dmarc}},
		{"null MX", [][3]string{{"@", "MX", "."}}, []string{mx1, mx2}, []string{spf, dmarc}},
		{"all", [][3]string{{"@", "TXT", "v=spf1 -all"}, {"_dmarc", "TXT", "v=DMARC1; p=reject"}, {"@", "MX", "mx.example.net"}}, []string{mx1, mx2, spf, dmarc}, nil},
		{"another DKIM key", [][3]string{{"own._domainkey", "TXT", "v=DKIM1; p="}}, nil, []string{mx1, mx2, spf, dkim, dmarc}},
		{"other names and texts", [][3]string{
			{"www", "TXT", "v=spf1 -all"}, {"_dmarc.www", "TXT", "v=DMARC1; p=none"}, {"www", "MX", "mx.example.net"}, {"@", "TXT", "v=spf10 -all"},
			{"@", "TXT", "google-site-verification=x"}, {"_dmarc", "TXT", "v=dmarc1; p=none"}, {"_dmarc", "TXT", "v=DMARC10; p=none"}, {"@", "TXT", "v=DMARC1; p=none"},
		}, nil, []string{mx1, mx2, spf, dkim, dmarc}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := apitest.New(t)
			h.Domain("example.com")
			h.Domain("other.com")
			before, elsewhere := h.Get("/dns-records?domain=example.com"), listedRecords(h, "other.com")
			var ids []string
			for _, r := range tt.records {
				ids = append(ids, idOf(add(h, r[0], r[1], r[2]).Want(201).Is("is_system_managed", false), "id"))
			}
			shown := listedRecords(h, "example.com")
			for _, value := range tt.replaced {
				if slices.Contains(shown, value) {
					t.Errorf("%s was not replaced: %q", value, shown)
				}
			}
			for _, value := range append(tt.stayed, dkim) {
				if !slices.ContainsFunc(shown, func(s string) bool { return strings.HasPrefix(s, value) }) {
					t.Errorf("%s is missing: %q", value, shown)
				}
			}
			for i := range before.Each("type") {
				place := "items." + itoa(i) + "."
				if value := before.Str(place+"name") + " " + before.Str(place+"type") + " " + before.Str(place+"value"); slices.Contains(tt.replaced, value) {
					path := "/dns-records/" + idOf(before, place+"id")
					h.Get(path).Refused(404, "path.dns_record_id not_found")
					h.Patch(path, obj{"ttl": 60}).Refused(404, "path.dns_record_id not_found")
					h.Delete(path).Refused(404, "path.dns_record_id not_found")
				}
			}
			same(t, "records of another domain", listedRecords(h, "other.com"), elsewhere)
			for _, id := range ids {
				h.Delete("/dns-records/" + id).Want(204)
			}
			if after := h.Get("/dns-records?domain=example.com"); string(after.Raw) != string(before.Raw) {
				t.Errorf("after the deletion %s; want %s", after, before)
			}
			h.Delete("/domains/example.com").Want(204)
		})
	}
}

// TestSecondPolicyRecord checks that a name can have only one SPF and one DMARC record.
func TestSecondPolicyRecord(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	for _, tt := range []struct{ name, first, second string }{
		{"@", "v=spf1 -all", "v=spf1 mx -all"}, {"www", "v=spf1 -all", "V=SPF1 ?all"}, {"*", "v=spf1 -all", "v=spf1"},
		{"_dmarc", "v=DMARC1; p=none", "v=DMARC1;p=reject"}, {"_dmarc.www", "v=DMARC1; p=none", "V=DMARC1; p=reject"},
	} {
		first := idOf(h.CreateRecord("example.com", tt.name, "TXT", tt.first).Want(201), "id")
		h.CreateRecord("example.com", tt.name, "TXT", tt.second).Refused(409, "body conflict").Says(first)
		h.CreateRecord("example.com", tt.name, "TXT", tt.first).Refused(409, "body conflict").Says("identical")
		other := idOf(h.CreateRecord("example.com", tt.name, "TXT", "some text").Want(201), "id")
		h.Patch("/dns-records/"+other, obj{"value": tt.second}).Refused(409, "body conflict").Says(first)
		h.Patch("/dns-records/"+other, obj{"value": "another text"}).Want(200)
		h.Patch("/dns-records/"+first, obj{"value": tt.second}).Want(200) // an update does not conflict with the record itself
		h.Patch("/dns-records/"+first, obj{"value": "no policy any more"}).Want(200)
		h.Patch("/dns-records/"+other, obj{"value": tt.first}).Want(200)
		h.Delete("/dns-records/" + first).Want(204)
	}
	h.CreateRecord("example.com", "sub", "TXT", "v=spf1 -all").Want(201)
	h.CreateRecord("example.com", "sub", "TXT", "v=DMARC1; p=none").Want(201) // SPF and DMARC don't conflict with each other
}

// TestPatchedPolicyRecord checks that a PATCH can turn a TXT record into a policy record
// and back.
func TestPatchedPolicyRecord(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	before := listedRecords(h, "example.com")
	id := idOf(h.CreateRecord("example.com", "@", "TXT", "x").Want(201), "id")
	same(t, "with a text", listedRecords(h, "example.com"), append(slices.Clone(before), "@ TXT x"))
	h.Patch("/dns-records/"+id, obj{"value": "v=spf1 -all"}).Want(200)
	same(t, "with a policy", listedRecords(h, "example.com"), []string{before[0], before[1], before[3], before[4], "@ TXT v=spf1 -all"})
	h.Patch("/dns-records/"+id, obj{"ttl": 60}).Want(200)
	h.Patch("/dns-records/"+id, obj{"value": "y"}).Want(200)
	same(t, "with a text again", listedRecords(h, "example.com"), append(slices.Clone(before), "@ TXT y"))
}

// TestNullMX checks that a null MX (RFC 7505) is the only MX record at its name.
func TestNullMX(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	mx := func(name, value string, prio int) *apitest.Response {
		return h.Post("/dns-records", obj{"domain": "example.com", "name": name, "type": "MX", "value": value, "prio": prio})
	}
	for _, name := range []string{"@", "www"} {
		null := idOf(mx(name, ".", 0).Want(201), "id")
		mx(name, "mx.example.net", 10).Refused(409, "body conflict").Says(null).Says("RFC 7505")
		mx(name, ".", 0).Refused(409, "body conflict").Says("identical")
		mx(name, ".", 10).Refused(409, "body conflict").Says(null)
		h.CreateRecord("example.com", name, "A", "192.0.2.1").Want(201)
		h.Delete("/dns-records/" + null).Want(204)
		first := idOf(mx(name, "mx.example.net", 10).Want(201), "id")
		mx(name, ".", 0).Refused(409, "body conflict").Says(first)
		mx(name, "mx2.example.net", 10).Want(201)
		h.Patch("/dns-records/"+first, obj{"value": "."}).Refused(409, "body conflict")
	}
}

// TestHostTargets checks that the targets of MX, NS and SRV records are host names (RFC
// 1123).
func TestHostTargets(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	for _, tt := range []struct{ typ, value string }{{"MX", "mail_1.example.net"}, {"NS", "_ns.example.net"}, {"SRV", "1 2 a_b.example.net"}, {"NS", "."}} {
		body := obj{"domain": "example.com", "name": "x", "type": tt.typ, "value": tt.value}
		if tt.typ != "NS" {
			body["prio"] = 1
		}
		h.Post("/dns-records", body).Refused(422, "body.value value_error")
	}
	h.CreateRecord("example.com", "x", "CNAME", "a_b.example.net").Want(201)
}

// TestDNSRecordIDs checks that record ids are random, and small enough for a JSON reader
// that uses floating-point numbers.
func TestDNSRecordIDs(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Domain("other.com")
	all := h.Get("/dns-records").Want(200)
	var ids []int
	for i := range all.Each("type") {
		id := int(all.At("items." + itoa(i) + ".id").(float64))
		if id < 1 || id >= 1<<53 || slices.Contains(ids, id) {
			t.Errorf("invalid id %d in %d", id, ids)
		}
		ids = append(ids, id)
	}
	if slices.IsSorted(ids) || slices.Max(ids) < 1<<40 {
		t.Errorf("the ids %d are not random", ids)
	}
}
