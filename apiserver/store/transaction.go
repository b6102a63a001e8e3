package store

import "time"

// Reader reads one snapshot, in one goroutine, until the function that it was passed to returns.
type Reader interface {
	Account(id string) (Account, error)
	// Accounts returns every account, by creation time.
	Accounts() ([]Account, error)
	Workspace(accountID, id string) (Workspace, error)
	Workspaces(accountID string, within Within, s Slice) (items []Workspace, total int, err error)

	ServiceAccount(accountID, id string) (ServiceAccount, error)
	// ServiceAccountByPublicID finds the credential of a token, in any account.
	ServiceAccountByPublicID(publicID string) (ServiceAccount, error)
	ServiceAccounts(accountID string, s Slice) (items []ServiceAccount, total int, err error)

	Authorization(accountID, id string) (Authorization, error)
	Authorizations(accountID string, f AuthorizationFilter) ([]Authorization, error)
	// GrantsOf returns the grants of any of the subjects that are not revoked.
	GrantsOf(accountID string, subjects []Subject) ([]Authorization, error)
	// AuthorizationVersion returns a number that identifies the state of all accounts, grants
	// and service accounts, apart from their last uses. No other state has it, not even one that
	// was rolled back.
	AuthorizationVersion() (int64, error)

	MasterPassword(accountID, id string) (MasterPassword, error)
	MasterPasswords(accountID string, f ScopedFilter, s Slice) (items []MasterPassword, total int, err error)

	Forwarding(accountID, id string) (Forwarding, error)
	// ForwardingByLink finds the rule of a verification link, in any account.
	ForwardingByLink(linkHash []byte) (Forwarding, error)
	ForwardingRules(accountID string, f ForwardingFilter, s Slice) (items []Forwarding, total int, err error)

	Mailbox(accountID, id string) (Mailbox, error)
	// MailboxByAddress returns the mailbox with a primary address or an alias, given
	// in canonical form.
	MailboxByAddress(accountID, localPart, domainName string) (Mailbox, error)
	Mailboxes(accountID string, f MailboxFilter, s Slice) (items []Mailbox, total int, err error)
	// EachMailbox calls fn for each mailbox, in order, until it returns an error.
	EachMailbox(accountID string, f MailboxFilter, fn func(Mailbox) error) error

	Domain(accountID, id string) (Domain, error)
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

	DNSRecord(accountID string, id int64) (DNSRecord, error)
	DNSRecords(accountID string, f DNSRecordFilter, s Slice) (items []DNSRecord, total int, err error)

	DedicatedIP(accountID, id string) (DedicatedIP, error)
	DedicatedIPs(accountID string, f DedicatedIPFilter, s Slice) (items []DedicatedIP, total int, err error)
	DedicatedIPOption(accountID, id string) (DedicatedIPOption, error)
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
//
// A Create method sets the object's CreatedAt and UpdatedAt to its CreatedAt, or to just after
// the newest object of the kind in the account if that is later. Creation times therefore ascend
// in the order of commits, and reading page after page misses no object. It returns an
// *ExistsError if something unique exists already.
//
// An Update method reads an object, calls change with it, and writes it if that has changed it.
// change must leave alone the object's id, account and creation time and what the method names,
// and must replace slices and pointers instead of writing through them. Update returns change's
// error and then writes nothing. It returns the object as it was written, and with an
// *ExistsError as it would have been.
type Tx interface {
	Reader

	// Observe registers the function that is called after each change to an object of an
	// account. It may read from the transaction.
	Observe(fn func(Change))

	CreateAccount(a *Account) error
	UpdateAccount(id string, change func(*Account) error) (Account, error)
	// DeleteAccount deletes an account with all that is in it; only the account is reported.
	// What was bought must be gone already.
	DeleteAccount(id string) error
	CreateWorkspace(w *Workspace) error

	CreateFeedback(f *Feedback) error

	CreateServiceAccount(a *ServiceAccount) error
	UpdateServiceAccount(accountID, id string, change func(*ServiceAccount) error) (ServiceAccount, error)
	// TouchServiceAccount records a use, unless a later one is recorded. It is not
	// reported to the observer.
	TouchServiceAccount(id string, at time.Time) error

	CreateAuthorization(a *Authorization) error
	UpdateAuthorization(accountID, id string, change func(*Authorization) error) (Authorization, error)

	CreateMasterPassword(p *MasterPassword) error
	// UpdateMasterPassword must leave the scope alone. It returns an *ExistsError if the scope
	// has another one of that name.
	UpdateMasterPassword(accountID, id string, change func(*MasterPassword) error) (MasterPassword, error)
	DeleteMasterPassword(accountID, id string) error

	CreateForwarding(f *Forwarding) error
	// UpdateForwarding must leave the scope alone. It returns an *ExistsError if the scope has
	// another rule to the target.
	UpdateForwarding(accountID, id string, change func(*Forwarding) error) (Forwarding, error)
	DeleteForwarding(accountID, id string) error

	// CreateMailbox returns ErrNotFound if the account lacks the domain of the mailbox or of an
	// alias, and an *ExistsError with the id of the mailbox that has one of the addresses.
	CreateMailbox(m *Mailbox) error
	// CreateMailboxes creates at most limit mailboxes of one domain without aliases, in order,
	// and leaves out each whose address exists. It returns which it created.
	CreateMailboxes(mailboxes []*Mailbox, limit int) (created map[*Mailbox]bool, err error)
	// UpdateMailbox must leave the domain, the local part and the aliases alone.
	UpdateMailbox(accountID, id string, change func(*Mailbox) error) (Mailbox, error)
	// DeleteMailbox deletes a mailbox with its aliases. The internal forwarding rules to its
	// addresses become pending.
	DeleteMailbox(accountID, id string, at time.Time) error

	// CreateDomain returns an *ExistsError if any account owns the name.
	CreateDomain(d *Domain) error
	// UpdateDomain must leave the name alone.
	UpdateDomain(accountID, id string, change func(*Domain) error) (Domain, error)
	// DeleteDomain deletes the domain with its DNS records, and the objects of its scope. It
	// must have no mailboxes. Those of other domains lose their aliases in it. The confirmed
	// rules of every account to addresses in it become pending; of an unpaid domain, only
	// those to the aliases.
	DeleteDomain(accountID, id string, at time.Time) error

	// CreateDNSRecord returns an *ExistsError with the id of an identical record, or with its
	// own id if that is taken.
	CreateDNSRecord(r *DNSRecord) error
	// UpdateDNSRecord must leave the domain, the name, the type and SystemManaged
	// alone. It returns an *ExistsError if the domain has an identical record.
	UpdateDNSRecord(accountID string, id int64, change func(*DNSRecord) error) (DNSRecord, error)
	DeleteDNSRecord(accountID string, id int64) error

	// CreateDedicatedIP claims the addresses of d. It returns an *ExistsError if a dedicated IP
	// of any account has one of them.
	CreateDedicatedIP(d *DedicatedIP) error
	// DeleteDedicatedIP releases the addresses for their option.
	DeleteDedicatedIP(accountID, id string) error
	CreateDedicatedIPOption(o *DedicatedIPOption) error

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
	// ClaimMessages leases up to n due messages, the first due first, until a time.
	ClaimMessages(now, until time.Time, n int) ([]QueuedMessage, error)
	// RetryMessage ends the claim of a message, which can be claimed again at a time, and sets
	// its Attempts. It returns ErrNotFound if the claim has ended.
	RetryMessage(m QueuedMessage, at time.Time) error
	// RemoveMessage deletes a claimed message. It returns ErrNotFound if the claim has
	// ended.
	RemoveMessage(m QueuedMessage) error
	// SetForwardingLink sets a rule's LinkHash. It is not reported to the observer.
	SetForwardingLink(accountID, id string, hash []byte) error

	// Clear deletes every account with all that is in it, and what belongs to no account.
	Clear() error
}
