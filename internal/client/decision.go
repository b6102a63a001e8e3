package client

// decision is what a create does next.
type decision int

const (
	lookUp           decision = iota + 1 // search the lists for what was requested
	resend                               // with the same Idempotency-Key
	takeFound                            // the object that the lookup found is what was created
	reportSecretLost                     // fail with a SecretLostError
	reportUnknown                        // fail with an UnknownOutcomeError
	reportFailure                        // fail with the error of the latest attempt
)

// situation is what is known when an attempt may have created something and did
// not return it.
type situation struct {
	// secret: the response has a secret that no lookup returns.
	secret bool
	// paid: the request spends money.
	paid bool
	// keys: the API has proved that it honours Idempotency-Keys.
	keys bool
	// retry: the outcome of the latest attempt is unknown, and another attempt is
	// allowed.
	retry    bool
	response response
	lookup   lookup
}

// response is that of the latest attempt.
type response uint

const (
	noResponse         response = 1 << iota
	errorStatus                 // such as 500: the request may have been processed
	refusal                     // such as 409: this attempt has created nothing
	unreadableResponse          // a success without the object
)

// lookup is the result of the latest lookup.
type lookup uint

const (
	notMade lookup = 1 << iota
	foundNone
	foundOne
	foundSeveral
	foundDuplicate // more objects than before the latest attempt
	lookupFailed   // or there is no list
)

// condition is what a rule says of a fact; the zero value: it does not matter.
type condition int

const (
	yes condition = iota + 1
	no
)

func (c condition) allows(fact bool) bool { return c == 0 || (c == yes) == fact }

// rule is one row of the decision table. It applies if all its conditions hold; a
// response of 0 does not matter.
type rule struct {
	lookup                    lookup
	secret, paid, keys, retry condition
	response                  response
	then                      decision
}

// decisionTable is the table of the package comment; the first rule that applies
// decides.
var decisionTable = []rule{
	// A replayed response has the secret.
	{lookup: notMade, secret: yes, keys: yes, retry: yes, then: resend},
	{lookup: notMade, then: lookUp},

	// The created object is taken, unless its secret is missing. The secret is
	// requested once more: a replay has it, a 409 says that it is lost, and a duplicate
	// has one of its own. After a duplicate nothing is resent, because the API would
	// create further ones.
	{lookup: foundOne, secret: no, then: takeFound},
	{lookup: foundOne | foundSeveral, secret: yes, retry: yes, then: resend},
	{lookup: foundOne | foundSeveral | foundDuplicate, secret: yes, then: reportSecretLost},

	// Nothing was created, as far as the lists show.
	{lookup: foundNone, retry: yes, then: resend},
	{lookup: foundNone, response: noResponse | unreadableResponse, then: reportUnknown},
	{lookup: foundNone, response: errorStatus, paid: yes, then: reportUnknown},
	{lookup: foundNone, then: reportFailure},

	// The lists can't tell. Only a key that is certainly honoured prevents a
	// duplicate, and even that is not relied on if it costs money.
	{lookup: foundSeveral | lookupFailed, keys: yes, retry: yes, paid: no, then: resend},
	{lookup: foundSeveral | lookupFailed, then: reportUnknown},
}

// decide returns what the decision table says.
func decide(s situation) decision {
	for _, r := range decisionTable {
		if r.lookup&s.lookup != 0 && (r.response == 0 || r.response&s.response != 0) &&
			r.secret.allows(s.secret) && r.paid.allows(s.paid) && r.keys.allows(s.keys) && r.retry.allows(s.retry) {
			return r.then
		}
	}
	panic("client: the decision table has no rule for a situation")
}
