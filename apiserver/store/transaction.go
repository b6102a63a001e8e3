package store

import "time"

// Reader reads one snapshot, in one goroutine, until the function that it was passed to returns.
type Reader interface {
	// Get sets what o points to, such as a Mailbox, to the object of an account with an id. See
	// the function Get.
	Get(o any, accountID string, id any) error

	Account(id string) (Account, error)
	// Accounts returns every account, by creation time.
	Accounts() ([]Account, error)
	Workspaces(accountID string, within Within, s Slice) (items []Workspace, total int, err error)

	// ServiceAccountByPublicID finds the credential of a token, in any account.
	ServiceAccountByPublicID(publicID string) (ServiceAccount, error)
	ServiceAccounts(accountID string, s Slice) (items []ServiceAccount, total int, err error)

	Authorizations(accountID string, f AuthorizationFilter) ([]Authorization, error)
	// GrantsOf returns the grants of any of the subjects that are not revoked.
	GrantsOf(accountID string, subjects []Subject) ([]Authorization, error)
	// AuthorizationVersion returns a number that identifies the state of all accounts, grants
	// and service accounts, apart from their last uses. No other state has it, not even one that
	// was rolled back.
	AuthorizationVersion() (int64, error)

	MasterPasswords(accountID string, f ScopedFilter, s Slice) (items []MasterPassword, total int, err error)

	// ForwardingByLink finds the rule of a verification link, in any account.
	ForwardingByLink(linkHash []byte) (Forwarding, error)
	ForwardingRules(accountID string, f ForwardingFilter, s Slice) (items []Forwarding, total int, err error)

	// MailboxByAddress returns the mailbox with a primary address or an alias, given
	// in canonical form.
	MailboxByAddress(accountID, localPart, domainName string) (Mailbox, error)
	Mailboxes(accountID string, f MailboxFilter, s Slice) (items []Mailbox, total int, err error)
	// EachMailbox calls fn for each mailbox, in order, until it returns an error.
	EachMailbox(accountID string, f MailboxFilter, fn func(Mailbox) error) error

	// DomainByName finds an account's domain by its canonical name.
	DomainByName(accountID, name string) (Domain, error)
	// DomainTaken reports whether any account owns a canonical name.
	DomainTaken(name string) (bool, error)
	Domains(accountID string, f DomainFilter, s Slice) (items []Domain, total int, err error)
	// DomainsOfPurchase returns the domains of a purchase, in any account.
	DomainsOfPurchase(batchID string) ([]Domain, error)
	// HideUnpaid hides from later reads the domains that were created at or before a time and
	// are not paid for, with all that is in them. UnpaidDomains still returns them.
	HideUnpaid(before time.Time)
	// UnpaidDomains returns the unpaid domains that were created at or before a time. An empty
	// accountID or name selects all.
	UnpaidDomains(accountID, name string, before time.Time) ([]Domain, error)

	DNSRecords(accountID string, f DNSRecordFilter, s Slice) (items []DNSRecord, total int, err error)

	DedicatedIPs(accountID string, f DedicatedIPFilter, s Slice) (items []DedicatedIP, total int, err error)
	DedicatedIPOptions(accountID string, s Slice) (items []DedicatedIPOption, total int, err error)

	// IdempotencyRecord returns the record of a key that has not expired at now.
	IdempotencyRecord(keyHash []byte, now time.Time) (IdempotencyRecord, error)

	// TokenBucket returns when a bucket is full again, the zero time if it is full.
	TokenBucket(name string) (fullAt time.Time, err error)

	// EachAuditEntry calls fn for each entry, the newest last, until it returns an error.
	EachAuditEntry(f AuditFilter, fn func(AuditEntry) error) error

	// NextMessageDue returns when the first message can be claimed, or ErrNotFound.
	NextMessageDue() (time.Time, error)
	// QueuedMessages returns how many messages are queued.
	QueuedMessages() (int, error)
}

// Tx reads and writes in one transaction, in one goroutine.
type Tx interface {
	Reader

	// Observe registers the function that is called after each change to an object of an
	// account. It may read from the transaction.
	Observe(fn func(Change))

	// Create creates the object that o points to. It sets CreatedAt and UpdatedAt to CreatedAt, or
	// to just after the newest object of the kind in the account if that is later. Creation times
	// therefore ascend in the order of commits, and reading page after page misses no object. It
	// returns an *ExistsError if something unique exists already, and ErrNotFound if the account
	// lacks the domain of a mailbox or of its aliases.
	Create(o Object) error
	// CreateMailboxes creates at most limit mailboxes of one domain without aliases, in order,
	// and leaves out each whose address exists. It returns which it created.
	CreateMailboxes(mailboxes []*Mailbox, limit int) (created map[*Mailbox]bool, err error)

	// Update sets what o points to, calls change, and writes it if that has changed it. See the
	// function Update.
	Update(o any, accountID string, id any, change func() error) error
	// TouchServiceAccount records a use, unless a later one is recorded. It is not
	// reported to the observer.
	TouchServiceAccount(id string, at time.Time) error
	// SetForwardingLink sets a rule's LinkHash. It is not reported to the observer.
	SetForwardingLink(accountID, id string, hash []byte) error

	// Delete deletes an object of the type that o points to. See the function Delete.
	Delete(o any, accountID string, id any, at time.Time) error
	// DeleteAccount deletes an account with all that is in it; only the account is reported.
	// What was bought must be gone already.
	DeleteAccount(id string) error
	// Clear deletes every account with all that is in it, and what belongs to no account.
	Clear() error

	// PutIdempotencyRecord replaces an expired record of the same key.
	PutIdempotencyRecord(r IdempotencyRecord) error
	// DeleteExpiredIdempotencyRecords deletes those that expired before a time.
	DeleteExpiredIdempotencyRecords(before time.Time) error

	// UpdateTokenBucket calls change with when a bucket is full again, which may be over, and
	// sets that to what change returns. No other transaction changes the bucket meanwhile. It
	// also deletes some buckets that are full.
	UpdateTokenBucket(name string, now time.Time, change func(fullAt time.Time) time.Time) error

	// SetPublicURL stores the URL under which a server is reached, and returns the one
	// before: "" on a new database.
	SetPublicURL(url string) (before string, err error)

	// AddAuditEntry adds an entry. Its ID and CreatedAt are set when it is read.
	AddAuditEntry(e *AuditEntry) error
	// DeleteAuditEntries deletes the oldest n entries before a time of an account, or of all
	// with "", and returns how many there were. The entry that was added last stays, so that
	// no id is used again. It is not reported to the observer.
	DeleteAuditEntries(accountID string, before time.Time, n int) (int, error)

	// QueueMessage queues the message of a rule, replaces an earlier one and ends its claim.
	QueueMessage(m QueuedMessage) error
	// ClaimMessage leases the first due message until a time, or returns ErrNotFound.
	ClaimMessage(now, until time.Time) (QueuedMessage, error)
	// RetryMessage ends the claim of a message, which can be claimed again at a time, and sets
	// its Attempts. It returns ErrNotFound if the claim has ended.
	RetryMessage(m QueuedMessage, at time.Time) error
	// RemoveMessage deletes a claimed message. It returns ErrNotFound if the claim has
	// ended.
	RemoveMessage(m QueuedMessage) error
}

// Get returns the object of a type with an id in an account, or ErrNotFound. The id of a DNS
// record is an int64.
func Get[T Object](r Reader, accountID string, id any) (o T, err error) {
	err = r.Get(&o, accountID, id)
	return o, err
}

// Update reads an object, calls change with it, and writes it if that has changed it. change must
// leave alone what identifies the object, its scope or domain, its creation time, the aliases of a
// mailbox, and SystemManaged, and must replace slices and pointers instead of writing through them.
// Update returns change's error and then writes nothing. It returns the object as it was written,
// and with an *ExistsError as it would have been.
func Update[T Object](tx Tx, accountID string, id any, change func(*T) error) (o T, err error) {
	err = tx.Update(&o, accountID, id, func() error { return change(&o) })
	return o, err
}

// Delete deletes an object, and updates others at a time:
//
//   - The forwarding rules of every account to the addresses of a deleted mailbox become pending, and
//     their links don't work any more.
//   - A domain, which must have no mailboxes, is deleted with all else in it and the objects of its
//     scope. Mailboxes of other domains lose their aliases in it. The rules of every account to
//     addresses in it become pending in the same way; of an unpaid domain, only those to the aliases.
func Delete[T Object](tx Tx, accountID string, id any, at time.Time) error {
	return tx.Delete(new(T), accountID, id, at)
}
