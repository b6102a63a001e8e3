package modeltest

import (
	"net/http"
	"strings"
)

// malformed sends malformed requests.
func (m *machine) malformed() {
	id := derived(accountID, "workspace:default")
	mailbox := `{"domain":"alpha.com","local_part":"ann","first_name":"Ann","last_name":"Lee"}`
	type request struct {
		method, path, contentType, body, key string
		status                               int
		problem                              problem
		allow                                string
	}
	r := draw(m, "malformed",
		request{"GET", prefix + "/nothing", "", "", "", 404, problem{loc: "path", typ: "not_found"}, ""},
		request{"GET", prefix + "/mailboxes/", "", "", "", 404, problem{loc: "path", typ: "not_found"}, ""},
		request{"GET", "/v1/public/accounts//mailboxes", "", "", "", 404, problem{loc: "path", typ: "not_found"}, ""},
		request{"PUT", prefix + "/mailboxes", "", "", "", 405, problem{loc: "path", typ: "method_not_allowed"}, "GET, HEAD, POST"},
		request{"DELETE", prefix + "/workspaces/" + id, "", "", "", 405, problem{loc: "path", typ: "method_not_allowed"}, "GET, HEAD"},
		request{"POST", prefix + "/mailboxes", "text/plain", mailbox, "", 415, problem{loc: "header.Content-Type", typ: "unsupported_media_type"}, ""},
		request{"POST", prefix + "/mailboxes", "application/json", mailbox[:40], "", 422, problem{loc: "body", typ: "json_invalid", contains: []string{"JSON decode error"}}, ""},
		request{"POST", prefix + "/mailboxes", "application/json", "", "", 422, problem{loc: "body", typ: "missing"}, ""},
		request{"POST", prefix + "/feedback", "application/json", `{"title":"T","description":"D"}`, "no UUID", 422, problem{loc: "header.Idempotency-Key", typ: "uuid_parsing"}, ""},
		request{"GET", "/v1/public/accounts/" + rivalID + "/mailboxes", "", "", "", 403, problem{loc: "header.Authorization", typ: "permission_denied"}, ""},
		request{"GET", "/v1/public/accounts/" + unknownID + "/domains/" + rivalDomain, "", "", "", 403, problem{loc: "header.Authorization", typ: "permission_denied"}, ""},
		request{"GET", "/v1/public/accounts/nonsense/mailboxes", "", "", "", 422, problem{loc: "path.account_id", typ: "uuid_parsing"}, ""},
	)
	if m.cancelled() && r.method == "POST" && r.key == "" {
		return
	}
	h, err := http.NewRequestWithContext(m.t.Context(), r.method, "http://mailhost.test"+r.path, strings.NewReader(r.body))
	if err != nil {
		m.fail("%s", err)
	}
	if r.contentType != "" {
		h.Header.Set("Content-Type", r.contentType)
	}
	if r.key != "" {
		h.Header.Set("Idempotency-Key", r.key)
	}
	a := m.exchange(m.theOwner(), h, []byte(r.body))
	w := refused(r.status, r.problem)
	if r.allow != "" {
		w.header = map[string]string{"Allow": r.allow}
	}
	if found := w.differences(a); len(found) > 0 {
		m.fail("%s", strings.Join(found, "\n"))
	}
}
