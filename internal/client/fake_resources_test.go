package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// collections maps an operation's path to where its objects are stored.
func collectionOf(s api.Spec) string {
	path := strings.TrimPrefix(s.Path, api.Prefix+"/")
	for _, cut := range []string{"/{", "/purchase", "/claim", "/bulk", "/options"} {
		path, _, _ = strings.Cut(path, cut)
	}
	return path
}

func (f *fakeAPI) handle(s api.Spec, params map[string]string, r *http.Request, body []byte) answer {
	var in object
	_ = json.Unmarshal(body, &in)
	collection := collectionOf(s)
	switch {
	case s.ID == "get-account":
		return answer{200, object{"id": accountID, "status": "active"}}
	case s.ID == "list-authorizations":
		return answer{200, f.stored[collection]}
	case s.ID == "export-mailboxes":
		return answer{200, "id,primary_email\r\n"}
	case s.ID == "purchase-domains":
		return f.purchase(in)
	case s.ID == "create-mailboxes":
		return f.bulk(in)
	case s.Tag == "Plan", strings.HasSuffix(s.ID, "-plan"), s.ID == "submit-feedback":
		return answer{s.Status, object{"id": "f", "status": "done"}}
	case s.Method == http.MethodPost:
		return f.create(s, collection, in)
	case strings.HasPrefix(s.ID, "list-"):
		return f.list(collection, r)
	}
	i := slices.IndexFunc(f.stored[collection], func(o object) bool { return answersTo(o, lastParam(s, params)) })
	if i < 0 {
		return problem(404, api.TypeNotFound, "no such object in this account")
	}
	switch s.Method {
	case http.MethodDelete:
		f.stored[collection] = slices.Delete(f.stored[collection], i, i+1)
		return answer{status: 204}
	case http.MethodPatch:
		maps.Copy(f.stored[collection][i], in)
	}
	return answer{200, f.stored[collection][i]}
}

func lastParam(s api.Spec, params map[string]string) string {
	name := s.Path[strings.LastIndex(s.Path, "{")+1 : strings.LastIndex(s.Path, "}")]
	return params[name]
}

func answersTo(o object, name string) bool {
	return fmt.Sprint(o["id"]) == name || o["primary_email"] == strings.ToLower(name) || o["name"] == name
}

func (f *fakeAPI) list(collection string, r *http.Request) answer {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("page_size"))
	if f.rejectsSize > 0 && size > f.rejectsSize {
		return answer{422, object{"detail": []object{{
			"loc": []string{"query", "page_size"}, "msg": "Input should be less than or equal to " + strconv.Itoa(f.rejectsSize), "type": "less_than_equal",
		}}}}
	}
	if f.maxPageSize > 0 {
		size = min(size, f.maxPageSize)
	}
	all := slices.DeleteFunc(slices.Clone(f.stored[collection]), func(o object) bool {
		return !strings.Contains(strings.ToLower(fmt.Sprint(o["name"], o["primary_email"], o["target_email"])), strings.ToLower(q.Get("search")))
	})
	from := 0
	if !f.ignoresPage {
		from = min((page-1)*size, len(all))
	}
	items := all[from:min(from+size, len(all))]
	return answer{200, object{"items": append([]object{}, items...), "page": 0, "page_size": size, "total": len(all)}}
}

func (f *fakeAPI) create(s api.Spec, collection string, in object) answer {
	o := object{"account_id": accountID}
	maps.Copy(o, in)
	if collection == "mailboxes" {
		o = mailboxObject(fmt.Sprint(in["local_part"]), fmt.Sprint(in["domain"]))
		o["first_name"], o["last_name"] = in["first_name"], in["last_name"]
	}
	if f.unique && slices.ContainsFunc(f.stored[collection], func(other object) bool { return naturalKey(other) == naturalKey(o) }) {
		return problem(409, api.TypeConflict, "it exists already")
	}
	delete(o, "value")
	if collection == "dns-records" {
		o["value"], o["priority"] = in["value"], in["prio"]
	}
	o["scope_type"], o["scope_id"] = vocab.ScopeAccount, accountID
	if in["domain"] != nil {
		o["scope_type"], o["scope_id"] = vocab.ScopeDomain, in["domain"]
	}
	f.put(collection, o)
	told := object{}
	maps.Copy(told, o)
	switch {
	case collection == "auth/service-accounts":
		told["token"] = fmt.Sprintf("mhsa_%v", o["id"])
	case in["generate"] == true:
		told["generated_secret"] = fmt.Sprintf("generated-%v", o["id"])
	}
	return answer{s.Status, told}
}

func naturalKey(o object) string {
	return fmt.Sprint(o["name"], o["primary_email"], o["target_email"], o["type"], o["value"])
}

func mailboxObject(local, domain string) object {
	local = strings.ToLower(local)
	return object{
		"local_part": local, "domain_name": domain, "domain_id": "d-" + domain, "primary_email": local + "@" + domain,
		"first_name": "Jane", "last_name": "Doe", "status": "active", "updated_at": "2026-01-01T00:00:00Z",
	}
}

func (f *fakeAPI) bulk(in object) answer {
	created, failed := []object{}, []object{}
	for i, each := range in["items"].([]any) {
		item := each.(object)
		o := mailboxObject(fmt.Sprint(item["local_part"]), fmt.Sprint(in["domain"]))
		o["first_name"], o["last_name"] = item["first_name"], item["last_name"]
		switch {
		case o["local_part"] == "":
			failed = append(failed, object{"index": i, "code": api.BulkInvalidLocalPart, "message": "empty"})
		case slices.ContainsFunc(f.stored["mailboxes"], func(other object) bool { return naturalKey(other) == naturalKey(o) }):
			failed = append(failed, object{"index": i, "code": api.BulkAlreadyExists, "message": "exists"})
		default:
			f.put("mailboxes", o)
			created = append(created, object{"index": i, "mailbox": o})
		}
	}
	return answer{200, object{"created": created, "failed": failed}}
}

func (f *fakeAPI) purchase(in object) answer {
	results := []object{}
	for _, name := range in["domains"].([]any) {
		r := object{"domain_name": name, "status": api.PurchasePurchased}
		switch {
		case slices.ContainsFunc(f.stored["domains"], func(o object) bool { return o["name"] == name }):
			r["status"], r["error_code"], r["error"] = api.PurchaseFailed, api.PurchaseAlreadyOwned, "the account owns it"
		case strings.HasPrefix(fmt.Sprint(name), "taken"):
			r["status"], r["error_code"], r["error"] = api.PurchaseFailed, api.PurchaseUnavailable, "somebody else owns it"
		default:
			r["id"] = f.put("domains", object{"name": name, "status": vocab.DomainPending, "workspace_id": in["workspace_id"]})
		}
		results = append(results, r)
	}
	return answer{200, object{"results": results, "purchase_batch_id": "b"}}
}
