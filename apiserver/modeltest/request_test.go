package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// operation is a request with its expected response.
type operation struct {
	method, path string
	query        url.Values
	body         any
	// capability is required of the caller; narrowable: a grant restricted to a
	// workspace or a domain is sufficient.
	capability string
	narrowable bool
	// keyed: it accepts an Idempotency-Key.
	keyed bool
	// reads: it is allowed in a cancelled account, because it changes nothing or
	// revokes something.
	reads bool
	// faults are the problems of the request itself, independent of the account's
	// content.
	faults []problem
	// then applies the request to the model and returns the response. It depends only
	// on the model, so that it can be repeated.
	then func(who *caller) want
}

// problem is an element of an error body: its location with dots, its type, and words
// that its message must contain.
type problem struct {
	loc, typ string
	contains []string
}

func wrong(loc string) problem { return problem{loc: loc, typ: "value_error"} }

// want is an expected response.
type want struct {
	status   int
	body     any // nil: none
	problems []problem
	header   map[string]string
	// raw, if set, is the exact body.
	raw []byte
	// check, if set, checks the whole response.
	check func(*response) []string
}

func ok(body any) want      { return want{status: 200, body: body} }
func created(body any) want { return want{status: 201, body: body} }
func deleted() want         { return want{status: 204} }

func refused(status int, problems ...problem) want { return want{status: status, problems: problems} }

func unprocessable(problems ...problem) want { return refused(422, problems...) }
func conflict(contains ...string) want       { return refused(409, problem{"body", "conflict", contains}) }

// conflictWith is a conflict with an object. Its id is in the message if the caller may see the object.
func conflictWith(id string, seen bool) want {
	if seen {
		return conflict(id)
	}
	w := conflict()
	w.check = func(a *response) []string {
		found := problemDifferences(w.problems, a.json)
		if len(id) == len(accountID) && strings.Contains(string(a.raw), id) {
			found = append(found, "an object is named that the caller may not see")
		}
		return found
	}
	return w
}

func notFound(param string) want {
	return refused(404, problem{loc: "path." + param, typ: "not_found"})
}

func denied(capability string) want {
	return refused(403, problem{"header.Authorization", "permission_denied", []string{capability}})
}

// on returns an operation on the object with this reference. seen returns the object, or nil if it does
// not exist for a caller with the reach.
func on[T any](m *machine, o operation, param, ref string, seen func(reach, string) *T, then func(*caller, *T) want) operation {
	o.narrowable = slices.Contains(narrowable, o.capability)
	o.then = func(who *caller) want {
		if found := seen(m.reach(who, o.capability), ref); found != nil {
			return then(who, found)
		}
		return notFound(param)
	}
	return o
}

// get reads one object.
func get[T any](m *machine, path, capability, param, ref string, seen func(reach, string) *T, object func(*T) obj) operation {
	o := operation{method: "GET", path: path + url.PathEscape(ref), capability: capability, reads: true}
	return on(m, o, param, ref, seen, func(_ *caller, found *T) want { return ok(object(found)) })
}

// erase deletes one object.
func erase[T any](m *machine, path, capability, param, ref string, faults []problem, seen func(reach, string) *T, forget func(*T)) {
	o := operation{method: "DELETE", path: path + url.PathEscape(ref), capability: capability, faults: faults}
	m.do(m.caller(), on(m, o, param, ref, seen, func(_ *caller, found *T) want {
		forget(found)
		return deleted()
	}))
}

// readOne reads one of the objects with these ids, or another one.
func (m *machine) readOne(param string, ids []string, get func(id string) operation) {
	id, faults := m.named(param, ids)
	o := get(id)
	o.faults = faults
	m.do(m.caller(), o)
}

// response is a received response.
type response struct {
	status int
	header http.Header
	raw    []byte
	json   any
}

// do sends a request and compares the response with the model's.
func (m *machine) do(who *caller, o operation) {
	key := ""
	if o.keyed && m.rarely(4, "keyed") {
		m.keys++
		key = fmt.Sprintf("abcdef00-0000-4000-8000-%012d", m.keys)
	}
	m.askUnder(key, who, o)
}

func (m *machine) askUnder(key string, who *caller, o operation) {
	before := m.authority()
	expected, final := m.predict(key, who, o)
	got := m.send(key, who, o)
	if found := expected.differences(got); len(found) > 0 {
		m.fail("%s", strings.Join(found, "\n"))
	}
	m.checkOutbox()
	m.arrange()
	m.quietly(m.learnMailRecords)
	m.quietly(m.learnInherited)
	m.arrange()
	m.checkAuthority(who, o, before)
	if key != "" && final {
		m.keep(key, who, o, got)
	}
}

// predict returns the expected response. final reports whether the operation itself returned it; a
// replay does not run the operation.
func (m *machine) predict(key string, who *caller, o operation) (expected want, final bool) {
	if refusal, ok := m.admit(who, o); !ok {
		return refusal, false
	}
	if m.cancelled() && !o.reads && key == "" {
		return accountCancelled, false
	}
	if len(o.faults) > 0 {
		return unprocessable(append(m.unknownReferences(who, o), o.faults...)...), false
	}
	if kept := m.kept[who.name+key]; key != "" && kept != nil && m.now().Before(kept.until) {
		if kept.fingerprint != o.fingerprint() {
			return unprocessable(wrong("header.Idempotency-Key")), false
		}
		return want{status: kept.status, raw: kept.raw, header: map[string]string{replayed: "true"}}, false
	}
	if m.cancelled() && !o.reads {
		return accountCancelled, false
	}
	expected = o.then(who)
	return expected, true
}

// unknownReferences returns the problems of unknown objects in a body. They are
// reported together with other problems, unless there is another one at the same
// location.
func (m *machine) unknownReferences(who *caller, o operation) (found []problem) {
	body, _ := o.body.(obj)
	r := m.reach(who, o.capability)
	unknown := func(name string, seen func(ref string) bool) {
		ref, _ := body[name].(string)
		reported := slices.ContainsFunc(o.faults, func(p problem) bool { return p.loc == "body."+name })
		if ref != "" && !reported && !seen(ref) {
			found = append(found, wrong("body."+name))
		}
	}
	unknown("domain", func(ref string) bool { return m.seenDomain(r, ref) != nil })
	unknown("workspace_id", func(id string) bool { return m.seenWorkspace(r, id) != nil })
	return found
}

var accountCancelled = refused(403, problem{loc: "path.account_id", typ: "account_cancelled"})

// differences returns the differences between a response and the expected one.
func (w want) differences(a *response) (found []string) {
	if a.status != w.status {
		found = append(found, fmt.Sprintf("the status is %d; want %d", a.status, w.status))
	}
	if a.header.Get("X-Request-Id") == "" {
		found = append(found, "the response has no X-Request-Id")
	}
	header := map[string]string{replayed: ""}
	maps.Copy(header, w.header)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if got := a.header.Get(name); got != header[name] {
			found = append(found, fmt.Sprintf("the header %s is %q; want %q", name, got, header[name]))
		}
	}
	switch {
	case w.check != nil:
		return append(found, w.check(a)...)
	case w.raw != nil:
		if !bytes.Equal(w.raw, a.raw) {
			found = append(found, fmt.Sprintf("the body is not that of the first response, %s", w.raw))
		}
		return found
	case w.problems != nil:
		return append(found, problemDifferences(w.problems, a.json)...)
	case w.body == nil:
		if len(a.raw) > 0 {
			found = append(found, "the response has a body; want none")
		}
		return found
	}
	return append(found, differences("body", w.body, a.json)...)
}

// problemDifferences compares problems. Problems of the path come first, then the query, then the body;
// the order within each is free.
func problemDifferences(expected []problem, body any) (found []string) {
	object, _ := body.(obj)
	detail, ok := object["detail"].([]any)
	if !ok || len(object) != 1 {
		return []string{"the error has no detail, or more than that"}
	}
	var received []problem
	for _, element := range detail {
		e, _ := element.(obj)
		var loc []string
		for _, part := range e["loc"].([]any) {
			loc = append(loc, part.(string))
		}
		received = append(received, problem{strings.Join(loc, "."), e["type"].(string), []string{e["msg"].(string)}})
	}
	places := []string{"path", "query", "header", "body"}
	place := func(p problem) int { return slices.Index(places, strings.SplitN(p.loc, ".", 2)[0]) }
	if !slices.IsSortedFunc(received, func(a, b problem) int { return place(a) - place(b) }) {
		found = append(found, "the problems are not in the order path, query, body")
	}
	for _, p := range expected {
		i := slices.IndexFunc(received, func(t problem) bool { return t.loc == p.loc && t.typ == p.typ })
		if i < 0 {
			found = append(found, fmt.Sprintf("the problem %s at %s is missing", p.typ, p.loc))
			continue
		}
		for _, words := range p.contains {
			if !strings.Contains(received[i].contains[0], words) {
				found = append(found, fmt.Sprintf("the problem at %s has the message %q; want %q in it", p.loc, received[i].contains[0], words))
			}
		}
		received = slices.Delete(received, i, i+1)
	}
	for _, p := range received {
		found = append(found, fmt.Sprintf("the problem %s at %s should not be there: %s", p.typ, p.loc, p.contains[0]))
	}
	return found
}

const prefix = "/v1/public/accounts/" + accountID

// send sends a request and adds it to the transcript.
func (m *machine) send(key string, who *caller, o operation) *response {
	target := "http://mailhost.test" + prefix + o.path
	if len(o.query) > 0 {
		target += "?" + o.query.Encode()
	}
	var body io.Reader
	if o.body != nil {
		body = bytes.NewReader(encode(o.body))
	}
	r, err := http.NewRequestWithContext(m.t.Context(), o.method, target, body)
	if err != nil {
		m.fail("%s", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		if m.rarely(4, "upper case") {
			key = strings.ToUpper(key)
		}
		r.Header.Set("Idempotency-Key", key)
	}
	if _, route := routes.Handler(r); m.routes != nil {
		m.routes[route] = true
		body, _ := o.body.(obj)
		for name, value := range body {
			if value == nil {
				name += " null"
			}
			m.routes[route+" "+name] = true
		}
	}
	return m.exchange(who, r, encode(o.body))
}

func (m *machine) exchange(who *caller, r *http.Request, body []byte) *response {
	line := fmt.Sprintf("%3d. %s  %-9s %s %s", len(m.transcript)+1, m.now().Format(time.DateTime+".000000"), who.name, r.Method, strings.TrimPrefix(r.URL.RequestURI(), prefix))
	if r.ContentLength > 0 {
		line += " " + shorten(body)
	}
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		line += " key …" + key[max(0, len(key)-4):]
	}
	server := m.server()
	client := server.As("")
	if who.owner {
		client = server.Client
	} else if who.authorization != "" {
		r.Header.Set("Authorization", who.authorization)
	}
	received, err := client.Send(r)
	if err != nil {
		m.note(line)
		m.fail("%s", err)
	}
	a := &response{status: received.Status, header: received.Header, raw: received.Raw}
	m.note(fmt.Sprintf("%s\n          → %d %s", line, a.status, shorten(bytes.TrimSpace(a.raw))))
	if a.header.Get("Content-Type") == "application/json" {
		d := json.NewDecoder(bytes.NewReader(a.raw))
		d.UseNumber()
		if err := d.Decode(&a.json); err != nil {
			m.fail("the response is no JSON: %s", err)
		}
	}
	return a
}

func encode(body any) []byte {
	if s, ok := body.(string); ok {
		return []byte(s)
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return b
}

func shorten(b []byte) string {
	if len(b) > 700 {
		return string(b[:700]) + "…"
	}
	return string(b)
}
