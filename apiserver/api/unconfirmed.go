package api

// The types of objects in ReviewCreates, as in the audit log.
const (
	ObjectMailbox        = "mailbox"
	ObjectDomain         = "domain"
	ObjectForwarding     = "forwarding"
	ObjectDNSRecord      = "dns_record"
	ObjectMasterPassword = "master_password"
	ObjectServiceAccount = "service_account"
	ObjectDedicatedIP    = "dedicated_ip"
)

// ReviewCreatesRequest is the request for a review of an origin's unconfirmed creates: those
// that carried an Idempotency-Origin, and of which nobody has confirmed that their objects
// are in the state.
type ReviewCreatesRequest struct {
	InAccount
	Body ReviewCreatesBody
}

// ReviewCreatesBody is the body of ReviewCreatesRequest.
type ReviewCreatesBody struct {
	Origin string `json:"origin" minLength:"1" maxLength:"64" doc:"The first part of Idempotency-Origin"`
	// Run and Objects confirm creates.
	Run     *string          `json:"run,omitempty" maxLength:"64" nullable:"true" doc:"Everything that this run has created is in the state"`
	Objects []CreatedObjects `json:"objects,omitempty" doc:"What the state has"`
	// Complete marks the other creates as lost.
	Complete bool `json:"complete,omitempty" default:"false" doc:"The state has nothing else: from now on, the same create of another run returns the existing object, once"`
}

// CreatedObjects are objects of one type.
type CreatedObjects struct {
	Type string   `json:"type" enum:"dedicated_ip,dns_record,domain,forwarding,mailbox,master_password,service_account"`
	IDs  []string `json:"ids" nullable:"false" maxItems:"10000"`
}

// UnconfirmedCreates are the objects that remain unconfirmed.
type UnconfirmedCreates struct {
	Objects []CreatedObjects `json:"objects" nullable:"false" doc:"Those that no complete review has covered"`
	Lost    []CreatedObjects `json:"lost" nullable:"false" doc:"Those that the same create of another run returns"`
}

// ReviewCreates is the operation with which the client of a configuration reports what its
// state has.
var ReviewCreates = define[ReviewCreatesRequest, UnconfirmedCreates]("PATCH /creates", "Review the unconfirmed creates of a configuration", Spec{
	ID: "review-creates", Tag: "Account", WhenCancelled: true,
})
