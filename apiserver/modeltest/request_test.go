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

// operation is a request, and what the model says to it.
type operation struct {
	method, path string
	query        url.Values
	body         any
	// capability is what the caller needs; narrowable: a grant narrowed to a
	// workspace or a domain is enough.
	capability string
	narrowable bool
	// keyed: it takes an Idempotency-Key.
	keyed bool
	// reads: it works on a cancelled account too, because it changes nothing or
	// revokes something.
	reads bool
	// faults are what is wrong with the request, whatever the account holds.
	faults []problem
	// then makes the request's changes to the model and returns the answer. It
	// looks at nothing but the model, so that it can be asked again.
	then func(who *caller) want
}

// problem is an element of an error body: its place with dots, its type, and
// words that its message must have.
type problem struct {
	loc, typ string
	says     []string
}

func wrong(loc string) problem { return problem{loc: loc, typ: "value_error"} }

// want is an expected answer.
type want struct {
	status   int
	body     any // nil: none
	problems []problem
	header   map[string]string
	// raw, where it is set, is the body byte for byte.
	raw []byte
	// check, where it is set, looks at the whole answer.
	check func(*answer) []string
}

func ok(body any) want      { return want{status: 200, body: body} }
func created(body any) want { return want{status: 201, body: body} }
func deleted() want         { return want{status: 204} }

func refused(status int, problems ...problem) want { return want{status: status, problems: problems} }

func unprocessable(problems ...problem) want { return refused(422, problems...) }
func conflict(says ...string) want           { return refused(409, problem{"body", "conflict", says}) }

// conflictWith is a conflict with an object, which is named to whoever may see it.
func conflictWith(id string, seen bool) want {
	if seen {
		return conflict(id)
	}
	w := conflict()
	w.check = func(a *answer) []string {
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

// answer is what the service said.
type answer struct {
	status int
	header http.Header
	raw    []byte
	json   any
}

// ask sends a request and compares the answer with the model's.
func (m *machine) ask(who *caller, o operation) {
	key := ""
	if o.keyed && m.rarely(4, "keyed") {
		m.keys++
		key = fmt.Sprintf("abcdef00-0000-4000-8000-%012d", m.keys)
	}
	m.askUnder(key, who, o)
}

func (m *machine) askUnder(key string, who *caller, o operation) {
	expected, final := m.predict(key, who, o)
	got := m.send(key, who, o)
	if found := expected.differences(got); len(found) > 0 {
		m.fail("%s", strings.Join(found, "\n"))
	}
	m.checkOutbox()
	m.quietly(m.learnMailRecords)
	m.quietly(m.learnInherited)
	if key != "" && final {
		m.keep(key, who, o, got)
	}
}

// predict returns the expected answer. final says that the operation itself gave
// it, which a replay under its Idempotency-Key skips.
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

// unknownReferences are what a body names and the account has not: it is told
// together with the other problems, unless there is another one at its place.
func (m *machine) unknownReferences(who *caller, o operation) (found []problem) {
	body, _ := o.body.(obj)
	r := m.reach(who, o.capability)
	unknown := func(name string, seen func(ref string) bool) {
		ref, _ := body[name].(string)
		told := slices.ContainsFunc(o.faults, func(p problem) bool { return p.loc == "body."+name })
		if ref != "" && !told && !seen(ref) {
			found = append(found, wrong("body."+name))
		}
	}
	unknown("domain", func(ref string) bool { return m.seenDomain(r, ref) != nil })
	unknown("workspace_id", func(id string) bool { return m.seenWorkspace(r, id) != nil })
	return found
}

var accountCancelled = refused(403, problem{loc: "path.account_id", typ: "account_cancelled"})

// differences says in what an answer is not the expected one.
func (w want) differences(a *answer) (found []string) {
	if a.status != w.status {
		found = append(found, fmt.Sprintf("the status is %d; want %d", a.status, w.status))
	}
	if a.header.Get("X-Request-Id") == "" {
		found = append(found, "the answer has no X-Request-Id")
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
			found = append(found, fmt.Sprintf("the body is not that of the first answer, %s", w.raw))
		}
		return found
	case w.problems != nil:
		return append(found, problemDifferences(w.problems, a.json)...)
	case w.body == nil:
		if len(a.raw) > 0 {
			found = append(found, "the answer has a body; want none")
		}
		return found
	}
	return append(found, differences("body", w.body, a.json)...)
}

// problemDifferences compares problems. Those of a path come before those of a
// query, and they before a body's; what their order is within one is free.
func problemDifferences(expected []problem, body any) (found []string) {
	object, _ := body.(obj)
	detail, ok := object["detail"].([]any)
	if !ok || len(object) != 1 {
		return []string{"the error has no detail, or more than that"}
	}
	var told []problem
	for _, element := range detail {
		e, _ := element.(obj)
		var loc []string
		for _, part := range e["loc"].([]any) {
			loc = append(loc, part.(string))
		}
		told = append(told, problem{strings.Join(loc, "."), e["type"].(string), []string{e["msg"].(string)}})
	}
	places := []string{"path", "query", "header", "body"}
	place := func(p problem) int { return slices.Index(places, strings.SplitN(p.loc, ".", 2)[0]) }
	if !slices.IsSortedFunc(told, func(a, b problem) int { return place(a) - place(b) }) {
		found = append(found, "the problems are not in the order path, query, body")
	}
	for _, p := range expected {
		i := slices.IndexFunc(told, func(t problem) bool { return t.loc == p.loc && t.typ == p.typ })
		if i < 0 {
			found = append(found, fmt.Sprintf("the problem %s at %s is not told", p.typ, p.loc))
			continue
		}
		for _, words := range p.says {
			if !strings.Contains(told[i].says[0], words) {
				found = append(found, fmt.Sprintf("the problem at %s says %q; want %q in it", p.loc, told[i].says[0], words))
			}
		}
		told = slices.Delete(told, i, i+1)
	}
	for _, p := range told {
		found = append(found, fmt.Sprintf("the problem %s at %s should not be there: %s", p.typ, p.loc, p.says[0]))
	}
	return found
}

const prefix = "/v1/public/accounts/" + accountID

// send sends a request and notes it in the transcript.
func (m *machine) send(key string, who *caller, o operation) *answer {
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
	}
	return m.exchange(who, r, encode(o.body))
}

func (m *machine) exchange(who *caller, r *http.Request, body []byte) *answer {
	line := fmt.Sprintf("%3d. %s  %-9s %s %s", len(m.transcript)+1, m.now().Format(time.DateTime+".000000"), who.name, r.Method, strings.TrimPrefix(r.URL.RequestURI(), prefix))
	if r.ContentLength > 0 {
		line += " " + shorten(body)
	}
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		line += " key …" + key[max(0, len(key)-4):]
	}
	client := m.public
	if who.owner {
		client = m.owner
	} else if who.authorization != "" {
		r.Header.Set("Authorization", who.authorization)
	}
	resp, err := client.Do(r)
	if err != nil {
		m.note(line)
		m.fail("%s", err)
	}
	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode, header: resp.Header}
	if a.raw, err = io.ReadAll(resp.Body); err != nil {
		m.fail("the answer breaks off: %s", err)
	}
	m.note(fmt.Sprintf("%s\n          → %d %s", line, a.status, shorten(bytes.TrimSpace(a.raw))))
	if resp.Header.Get("Content-Type") == "application/json" {
		d := json.NewDecoder(bytes.NewReader(a.raw))
		d.UseNumber()
		if err := d.Decode(&a.json); err != nil {
			m.fail("the answer is no JSON: %s", err)
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
