package modeltest

import (
	"encoding/json"
	"slices"
	"time"
)

// replayed marks an answer that was kept from an earlier request.
const replayed = "Idempotency-Replayed"

// keptFor is how long a response is replayed.
const keptFor = 24 * time.Hour

// keptAnswer is the response to a request under an Idempotency-Key that changed
// something.
type keptAnswer struct {
	fingerprint string
	status      int
	raw         []byte
	until       time.Time
}

// keptRequest is the request that it belongs to.
type keptRequest struct {
	key       string
	who       *caller
	operation operation
}

func (o operation) fingerprint() string { return o.method + o.path + string(encode(o.body)) }

// keep records a keyed request, to be sent again. Only a response that changed
// something is replayed; what was refused is evaluated again.
func (m *machine) keep(key string, who *caller, o operation, a *answer) {
	if !slices.ContainsFunc(m.sent, func(r *keptRequest) bool { return r.who == who && r.key == key }) {
		m.sent = append(m.sent, &keptRequest{key: key, who: who, operation: o})
	}
	if a.status >= 300 || changedNothing(a) {
		return
	}
	m.kept[who.name+key] = &keptAnswer{fingerprint: o.fingerprint(), status: a.status, raw: a.raw, until: m.now().Add(keptFor)}
}

// changedNothing reports a success without effect: a bulk request or a purchase of
// which every item failed, and a change to the current plan.
func changedNothing(a *answer) bool {
	body, _ := a.json.(map[string]any)
	created, bulk := body["created"].([]any)
	return bulk && len(created) == 0 || body["successful_count"] == json.Number("0") || body["eligible"] == false
}

// sendAgain sends a request a second time under its key: within a day the response
// is replayed, later it is a new request. Under the key of another caller it is
// new too.
func (m *machine) sendAgain() {
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

// reuseKey sends another request under a key that was used.
func (m *machine) reuseKey() {
	if len(m.sent) == 0 {
		return
	}
	r := m.sent[m.which("request", len(m.sent))]
	m.askUnder(r.key, r.who, m.feedback())
}
