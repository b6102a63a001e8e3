package modeltest

import "time"

// replayed marks an answer that was kept from an earlier request.
const replayed = "Idempotency-Replayed"

// keptFor is how long an answer can be had again.
const keptFor = 24 * time.Hour

// keptAnswer is the answer of a request under an Idempotency-Key.
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

func (m *machine) keep(key string, who *caller, o operation, a *answer) {
	if m.kept[who.name+key] == nil {
		m.sent = append(m.sent, &keptRequest{key: key, who: who, operation: o})
	}
	m.kept[who.name+key] = &keptAnswer{fingerprint: o.fingerprint(), status: a.status, raw: a.raw, until: m.now().Add(keptFor)}
}

// sendAgain sends a request a second time under its key: within a day the answer
// is the same, later it is a new request. Under the key of another caller it is
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
