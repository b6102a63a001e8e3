package fakeapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// collectionOf returns the key of Stored for the objects of an operation.
func collectionOf(s api.Spec) string {
	path := strings.TrimPrefix(s.Path, api.Prefix+"/")
	for _, cut := range []string{"/{", "/purchase", "/claim", "/bulk", "/options"} {
		path, _, _ = strings.Cut(path, cut)
	}
	return path
}

func (f *API) handle(s api.Spec, params map[string]string, r *http.Request, body []byte) Response {
	var in Object
	_ = json.Unmarshal(body, &in)
	collection := collectionOf(s)
	switch {
	case s.ID == "get-account":
		return Response{200, Object{"id": AccountID, "status": "active"}}
	case s.ID == "list-authorizations":
		return Response{200, f.Stored[collection]}
	case s.ID == "export-mailboxes":
		return Response{200, "id,primary_email\r\n"}
	case s.ID == "purchase-domains":
		return f.purchase(in)
	case s.ID == "create-mailboxes":
		return f.bulk(in)
	case strings.HasSuffix(s.ID, "-plan"), s.ID == "submit-feedback":
		return Response{s.Status, Object{"id": "f", "status": "done"}}
	case s.Method == http.MethodPost:
		return f.create(s, collection, in)
	case strings.HasPrefix(s.ID, "list-"):
		return f.list(collection, r)
	}
	last := params[s.Path[strings.LastIndex(s.Path, "{")+1:strings.LastIndex(s.Path, "}")]]
	i := slices.IndexFunc(f.Stored[collection], func(o Object) bool { return isNamed(o, last) })
	if i < 0 {
		return Problem(404, api.TypeNotFound, "no such object in this account")
	}
	switch s.Method {
	case http.MethodDelete:
		f.Stored[collection] = slices.Delete(f.Stored[collection], i, i+1)
		return Response{Status: 204}
	case http.MethodPatch:
		maps.Copy(f.Stored[collection][i], in)
	}
	return Response{200, f.Stored[collection][i]}
}

func isNamed(o Object, name string) bool {
	return fmt.Sprint(o["id"]) == name || o["primary_email"] == strings.ToLower(name) || o["name"] == name
}

func (f *API) list(collection string, r *http.Request) Response {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("page_size"))
	if f.RejectsSize > 0 && size > f.RejectsSize {
		return Problem(422, "less_than_equal", "too large", "query", "page_size")
	}
	all := slices.DeleteFunc(slices.Clone(f.Stored[collection]), func(o Object) bool {
		return !strings.Contains(strings.ToLower(naturalKey(o)), strings.ToLower(q.Get("search")))
	})
	from := min((page-1)*size, len(all))
	items := all[from:min(from+size, len(all))]
	return Response{200, Object{"items": append([]Object{}, items...), "page": 0, "page_size": size, "total": len(all)}}
}

func (f *API) create(s api.Spec, collection string, in Object) Response {
	o := Object{"account_id": AccountID}
	maps.Copy(o, in)
	if collection == "mailboxes" {
		o = Mailbox(fmt.Sprint(in["local_part"]), fmt.Sprint(in["domain"]))
		o["first_name"], o["last_name"] = in["first_name"], in["last_name"]
	}
	if f.Unique && slices.ContainsFunc(f.Stored[collection], func(other Object) bool { return naturalKey(other) == naturalKey(o) }) {
		return Problem(409, api.TypeConflict, "it exists already")
	}
	delete(o, "value")
	if collection == "dns-records" {
		o["value"], o["priority"] = in["value"], in["prio"]
	}
	o["scope_type"], o["scope_id"] = vocab.ScopeAccount, AccountID
	if in["domain"] != nil {
		o["scope_type"], o["scope_id"] = vocab.ScopeDomain, in["domain"]
	}
	f.put(collection, o)
	response := Object{}
	maps.Copy(response, o)
	switch {
	case collection == "auth/service-accounts":
		response["token"] = fmt.Sprintf("mhsa_%v", o["id"])
	case in["generate"] == true:
		response["generated_secret"] = fmt.Sprintf("generated-%v", o["id"])
	}
	return Response{s.Status, response}
}

// naturalKey returns the values of an object's natural key fields, whatever its kind.
func naturalKey(o Object) string {
	var key []any
	for _, k := range sample.Kinds() {
		for _, field := range k.Key {
			key = append(key, o[field])
		}
	}
	return fmt.Sprint(key...)
}

// Mailbox returns a mailbox to store.
func Mailbox(local, domain string) Object {
	local = strings.ToLower(local)
	return Object{
		"local_part": local, "domain_name": domain, "domain_id": "d-" + domain, "primary_email": local + "@" + domain,
		"first_name": "Jane", "last_name": "Doe", "status": "active", "updated_at": "2026-01-01T00:00:00Z",
	}
}

func (f *API) bulk(in Object) Response {
	created, failed := []Object{}, []Object{}
	items := in["items"].([]any)
	if f.MaxBulkItems > 0 && len(items) > f.MaxBulkItems {
		return Problem(422, "too_long", "too many", "body", "items")
	}
	for i, each := range items {
		item := each.(Object)
		o := Mailbox(fmt.Sprint(item["local_part"]), fmt.Sprint(in["domain"]))
		o["first_name"], o["last_name"] = item["first_name"], item["last_name"]
		switch {
		case o["local_part"] == "":
			failed = append(failed, Object{"index": i, "code": api.BulkInvalidLocalPart, "message": "empty"})
		case slices.ContainsFunc(f.Stored["mailboxes"], func(other Object) bool { return naturalKey(other) == naturalKey(o) }):
			failed = append(failed, Object{"index": i, "code": api.BulkAlreadyExists, "message": "it exists already"})
		default:
			f.put("mailboxes", o)
			created = append(created, Object{"index": i, "mailbox": o})
		}
	}
	return Response{200, Object{"created": created, "failed": failed}}
}

func (f *API) purchase(in Object) Response {
	results := []Object{}
	for _, name := range in["domains"].([]any) {
		r := Object{"domain_name": name, "status": api.PurchasePurchased}
		switch {
		case slices.ContainsFunc(f.Stored["domains"], func(o Object) bool { return o["name"] == name }):
			r["status"], r["error_code"], r["error"] = api.PurchaseFailed, api.PurchaseAlreadyOwned, "the account owns it"
		case strings.HasPrefix(fmt.Sprint(name), "taken"):
			r["status"], r["error_code"], r["error"] = api.PurchaseFailed, api.PurchaseUnavailable, "somebody else owns it"
		default:
			r["id"] = f.put("domains", Object{"name": name, "status": vocab.DomainPending, "workspace_id": in["workspace_id"]})
		}
		results = append(results, r)
	}
	return Response{200, Object{"results": results, "purchase_batch_id": "b"}}
}
