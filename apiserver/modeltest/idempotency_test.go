package modeltest

import (
	"encoding/json"
	"slices"
	"time"
)

// replayed marks a replayed response.
const replayed = "Idempotency-Replayed"

// keptFor is the time in which a response is replayed.
const keptFor = 24 * time.Hour

// idempotencyRecord is the response to a request with an Idempotency-Key that changed
// something.
type idempotencyRecord struct {
	fingerprint string
	status      int
	raw         []byte
	until       time.Time
}

// keyedRequest is the request of an idempotency record.
type keyedRequest struct {
	key       string
	who       *caller
	operation operation
}

func (o operation) fingerprint() string { return o.method + o.path + string(encode(o.body)) }

// keep stores a keyed request for a retry. Only a response that changed something is
// replayed; a rejected request is evaluated again.
func (m *machine) keep(key string, who *caller, o operation, a *response) {
	if !slices.ContainsFunc(m.sent, func(r *keyedRequest) bool { return r.who == who && r.key == key }) {
		m.sent = append(m.sent, &keyedRequest{key: key, who: who, operation: o})
	}
	if a.status >= 300 || changedNothing(a) {
		return
	}
	m.kept[who.name+key] = &idempotencyRecord{fingerprint: o.fingerprint(), status: a.status, raw: a.raw, until: m.now().Add(keptFor)}
}

// changedNothing reports a success without effect: a bulk request or a purchase in which
// every item failed, or a change to the current plan.
func changedNothing(a *response) bool {
	body, _ := a.json.(map[string]any)
	created, bulk := body["created"].([]any)
	return bulk && len(created) == 0 || body["successful_count"] == json.Number("0") || body["eligible"] == false
}

// retry retries a request with its key. Within a day the response is replayed; later it
// is a new request. With the key of another caller it is new too.
func (m *machine) retry() {
	if len(m.sent) == 0 {
		return
	}
	r := m.sent[m.which("request", len(m.sent))]
	who := r.who
	if m.rarely(4, "another caller") {
		who = m.caller()
	}
	m.askUnder(r.key, who, r.operation)
}

// reuseKey sends another request with a used key.
func (m *machine) reuseKey() {
	if len(m.sent) == 0 {
		return
	}
	r := m.sent[m.which("request", len(m.sent))]
	m.askUnder(r.key, r.who, m.feedback())
}
