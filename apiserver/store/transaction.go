package store

import "time"

// Reader reads one snapshot. Only the function that receives it may use it, in one goroutine.
type Reader interface {
	// Get reads the object of an account with an id into o, a pointer to an object such as a
	// *Mailbox. See the function Get.
	Get(o any, accountID string, id any) error

	Account(id string) (Account, error)
	// Accounts returns every account, by creation time.
	Accounts() ([]Account, error)
	Workspaces(accountID string, within Within, s Slice) (items []Workspace, total int, err error)

	// ServiceAccountByPublicID finds the credential of a token, in any account.
	ServiceAccountByPublicID(publicID string) (ServiceAccount, error)
	ServiceAccounts(accountID string, s Slice) (items []ServiceAccount, total int, err error)

	Authorizations(accountID string, f AuthorizationFilter) ([]Authorization, error)
	// GrantsOf returns the unrevoked grants of any of the subjects.
	GrantsOf(accountID string, subjects []Subject) ([]Authorization, error)
	// PublicURL returns the URL that the last server stored, or "".
	PublicURL() (string, error)

	// AuthorizationVersion returns a number that identifies the state of all accounts, grants
	// and service accounts, apart from their last uses. The number is never used again, not even
	// after a rollback.
	AuthorizationVersion() (int64, error)

	MasterPasswords(accountID string, f ScopedFilter, s Slice) (items []MasterPassword, total int, err error)

	// ForwardingByLink finds the rule of a verification link, in any account.
	ForwardingByLink(linkHash []byte) (Forwarding, error)
	ForwardingRules(accountID string, f ForwardingFilter, s Slice) (items []Forwarding, total int, err error)

	// MailboxByAddress returns the mailbox with a primary address or an alias in canonical form.
	MailboxByAddress(accountID, localPart, domainName string) (Mailbox, error)
	Mailboxes(accountID string, f MailboxFilter, s Slice) (items []Mailbox, total int, err error)
	// EachMailbox calls fn for each mailbox, in order, until fn returns an error.
	EachMailbox(accountID string, f MailboxFilter, fn func(Mailbox) error) error

	// DomainByName finds an account's domain by its canonical name.
	DomainByName(accountID, name string) (Domain, error)
	// DomainTaken reports whether any account owns a canonical name.
	DomainTaken(name string) (bool, error)
	Domains(accountID string, f DomainFilter, s Slice) (items []Domain, total int, err error)
	// DomainsOfPurchase returns the domains of a purchase, in any account.
	DomainsOfPurchase(batchID string) ([]Domain, error)
	// HideUnpaid hides the unpaid domains that were created at or before a time from later reads,
	// with all their objects. UnpaidDomains still returns them.
	HideUnpaid(before time.Time)
	// UnpaidDomains returns the unpaid domains that were created at or before a time. An empty
	// accountID or name selects all.
	UnpaidDomains(accountID, name string, before time.Time) ([]Domain, error)

	DNSRecords(accountID string, f DNSRecordFilter, s Slice) (items []DNSRecord, total int, err error)

	DedicatedIPs(accountID string, f DedicatedIPFilter, s Slice) (items []DedicatedIP, total int, err error)
	DedicatedIPOptions(accountID string, s Slice) (items []DedicatedIPOption, total int, err error)

	// IdempotencyRecord returns a key's record if it expires after now, or ErrNotFound.
	IdempotencyRecord(keyHash []byte, now time.Time) (IdempotencyRecord, error)

	// TokenBucket returns when a bucket is full again, the zero time if it is full.
	TokenBucket(name string) (fullAt time.Time, err error)

	// FutureTimes returns the tables with times that RepairTimes would repair.
	FutureTimes(now time.Time) ([]FutureTimes, error)
	// MostlyFuture reports whether more than half of the audit log is more than ClockTolerance after
	// now, or of all objects if the log is empty: then the clock that gave now is probably behind.
	MostlyFuture(now time.Time) (bool, error)

	// EachAuditEntry calls fn for each entry, the newest last, until fn returns an error.
	EachAuditEntry(f AuditFilter, fn func(AuditEntry) error) error

	// MessagesDue returns when the first and the last message can be claimed, or ErrNotFound.
	MessagesDue() (MessagesDue, error)
	// QueuedMessages returns how many messages are queued.
	QueuedMessages() (int, error)
}

// Tx reads and writes in one transaction, in one goroutine.
type Tx interface {
	Reader

	// Observe sets the function to call after each change of an account's object. The function
	// may read from the transaction.
	Observe(fn func(Change))

	// Create creates the object that o points to. It sets CreatedAt and UpdatedAt to the later of
	// CreatedAt and just after the account's newest object of the kind that is at most
	// ClockTolerance later. Between servers whose clocks agree to that, creation times therefore
	// ascend in the order of commits, and reading page after page returns each object once. If a
	// server's clock was ahead, new objects precede the objects that it created: reading page after
	// page may return one of these again, but misses none that existed when it began. Create returns
	// an *ExistsError if an object with the same unique values exists, and ErrNotFound if the
	// account lacks the domain of a mailbox or of its aliases.
	Create(o Object) error
	// CreateMailboxes creates at most limit mailboxes of one domain without aliases, in order,
	// and skips existing addresses. It returns the created mailboxes.
	CreateMailboxes(mailboxes []*Mailbox, limit int) (created map[*Mailbox]bool, err error)

	// Update reads an object into o, a pointer to it, calls change, and writes the object if it
	// changed. UpdatedAt is never before CreatedAt. See the function Update.
	Update(o any, accountID string, id any, change func() error) error
	// TouchServiceAccount sets LastUsedAt, unless it is later already but not after latest, as a wrong
	// clock may have set it. The observer is not called.
	TouchServiceAccount(id string, at, latest time.Time) error
	// SetForwardingLink sets a rule's LinkHash. The observer is not called.
	SetForwardingLink(accountID, id string, hash []byte) error

	// Delete deletes an object of the type that o points to. See the function Delete.
	Delete(o any, accountID string, id any, at time.Time) error
	// DeleteAccount deletes an account with all its objects; only the account is reported. The
	// caller must have deleted its domains and dedicated IPs.
	DeleteAccount(id string) error
	// Clear deletes every account with all its objects, and the data without an account.
	Clear() error

	// PutIdempotencyRecord replaces an expired record of the same key.
	PutIdempotencyRecord(r IdempotencyRecord) error
	// DeleteExpiredIdempotencyRecords deletes the records that expired before a time.
	DeleteExpiredIdempotencyRecords(before time.Time) error

	// UpdateTokenBucket calls change with the time when a bucket is full again, which may be in
	// the past, and stores the time that change returns. No other transaction changes the bucket
	// meanwhile. It also deletes some full buckets.
	UpdateTokenBucket(name string, now time.Time, change func(fullAt time.Time) time.Time) error

	// SetPublicURL stores the server's public URL and returns the previous one: "" on a new
	// database.
	SetPublicURL(url string) (before string, err error)

	// AddAuditEntry adds an entry. The stored ID and CreatedAt may differ from e's.
	AddAuditEntry(e *AuditEntry) error
	// DeleteAuditEntries deletes an account's oldest n entries before a time, or those of all
	// accounts with "", and returns how many it deleted. The newest entry of all stays, so that
	// no id is used again. The observer is not called.
	DeleteAuditEntries(accountID string, before time.Time, n int) (int, error)

	// RepairTimes sets the times of events that are more than ClockTolerance after now to about now.
	// It also repairs the times that were computed from them: when verification links expire, domains
	// and mailboxes are ready, and cancellations take effect. The order of every list stays, and so
	// do the times that callers chose. It returns what FutureTimes returned before. The observer
	// is not called.
	RepairTimes(now time.Time) ([]FutureTimes, error)

	// QueueMessage queues a rule's message. It replaces an earlier message and ends its claim.
	QueueMessage(m QueuedMessage) error
	// ClaimMessage claims the first message that is due after a time and not after now until a time, or
	// returns ErrNotFound.
	ClaimMessage(after, now, until time.Time) (QueuedMessage, error)
	// RetryMessage ends the claim of a message, lets it be claimed again at a time, and stores
	// its Attempts. It returns ErrNotFound if the claim ended before.
	RetryMessage(m QueuedMessage, at time.Time) error
	// RemoveMessage deletes a claimed message. It returns ErrNotFound if the claim ended before.
	RemoveMessage(m QueuedMessage) error
}

// Get returns the object of type T with an id in an account, or ErrNotFound. The id of a DNS
// record is an int64, any other a string.
func Get[T Object](r Reader, accountID string, id any) (o T, err error) {
	err = r.Get(&o, accountID, id)
	return o, err
}

// Update reads an object, calls change with it, and writes the object if it changed. change must
// not change the object's ids, scope, domain or creation time, a mailbox's aliases, or SystemManaged,
// and must replace slices and pointers instead of writing through them. If change returns an error,
// Update returns it and writes nothing. Update returns the written object, and with an *ExistsError
// the object that it would have written.
func Update[T Object](tx Tx, accountID string, id any, change func(*T) error) (o T, err error) {
	err = tx.Update(&o, accountID, id, func() error { return change(&o) })
	return o, err
}

// Delete deletes an object, and updates others at a time:
//
//   - The forwarding rules of every account to the addresses of a deleted mailbox become pending, and
//     their links stop working.
//   - A domain, which must not contain mailboxes, is deleted with its other objects and the objects of
//     its scope. Mailboxes of other domains lose their aliases in it. The rules of every account to
//     addresses in it become pending in the same way; for an unpaid domain, only the rules to aliases.
func Delete[T Object](tx Tx, accountID string, id any, at time.Time) error {
	return tx.Delete(new(T), accountID, id, at)
}
