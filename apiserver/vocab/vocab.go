// Package vocab contains the values that the API's fields, the store's columns and the provider's
// attributes share: statuses, scope types, verification states, grants and capability keys. Each
// value is declared once, in the API's spelling. The package imports nothing.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package vocab

// The scope types of a master password or a forwarding rule.
const (
	ScopeAccount   = "account"
	ScopeWorkspace = "workspace"
	ScopeDomain    = "domain"
)

// The verification states of a forwarding rule's recipient.
const (
	VerificationInternal = "internal"
	VerificationPending  = "pending"
	VerificationVerified = "verified"
	VerificationExpired  = "expired"
)

// The statuses of a mailbox.
const (
	MailboxProvisioning = "provisioning"
	MailboxActive       = "active"
	MailboxPaused       = "paused"
	MailboxDeleting     = "deleting"
)

// The statuses of a domain.
const (
	DomainPendingPayment = "pending_payment"
	DomainPending        = "pending"
	DomainActive         = "active"
	DomainFailed         = "failed"
)

// RedirectPermanent is the default redirect mode of a domain.
const RedirectPermanent = "301"

// The statuses and the type of a dedicated IP.
const (
	DedicatedIPProvisioning = "provisioning"
	DedicatedIPActive       = "active"
	DedicatedIPReleasing    = "releasing"

	DedicatedIPType = "dedicated"
)

// The statuses of an account.
const (
	AccountActive              = "active"
	AccountPendingCancellation = "pending_cancellation"
	AccountCancelled           = "cancelled"
)

// The plans of an account.
const (
	PlanSMTPPerMailbox = "smtp_per_mailbox"
	PlanSMTPPerProxy   = "smtp_per_proxy"
)

// Plans returns the plans in the order in which a change without a plan_id steps through them.
func Plans() []string { return []string{PlanSMTPPerMailbox, PlanSMTPPerProxy} }

// The kinds of grant.
const (
	GrantCapability   = "capability"
	GrantAccountOwner = "account_owner"
	GrantSuperAdmin   = "super_admin"
)

// The types of subject of a grant.
const (
	SubjectUser           = "user"
	SubjectGroup          = "group"
	SubjectServiceAccount = "service_account"
)

// The types of resource to which a capability grant can be restricted.
const (
	ResourceWorkspace = "workspace"
	ResourceDomain    = "domain"
)

// Capability is the key of a capability grant.
type Capability string

// The capabilities of the published operations and of the lifecycle operations.
const (
	CapServiceAccountCreate Capability = "service_account.create"
	CapServiceAccountView   Capability = "service_account.view"
	CapServiceAccountRevoke Capability = "service_account.revoke"
	CapAuthorizationView    Capability = "authorization.view"
	CapAuthorizationManage  Capability = "authorization.manage"
	CapCredentialManage     Capability = "credential.manage"
	CapCredentialView       Capability = "credential.view"
	CapForwardingManage     Capability = "forwarding.manage"
	CapForwardingView       Capability = "forwarding.view"
	CapMailboxCreate        Capability = "mailbox.create"
	CapMailboxView          Capability = "mailbox.view"
	CapMailboxUpdate        Capability = "mailbox.update"
	CapMailboxExport        Capability = "mailbox.export"
	CapMailboxDelete        Capability = "mailbox.delete"
	CapDomainPurchase       Capability = "domain.purchase"
	CapDomainView           Capability = "domain.view"
	CapDomainUpdate         Capability = "domain.update"
	CapDomainDelete         Capability = "domain.delete"
	CapDNSRecordCreate      Capability = "dns_record.create"
	CapDNSRecordView        Capability = "dns_record.view"
	CapDNSRecordUpdate      Capability = "dns_record.update"
	CapDNSRecordDelete      Capability = "dns_record.delete"
	CapDedicatedIPClaim     Capability = "dedicated_ip.claim"
	CapDedicatedIPView      Capability = "dedicated_ip.view"
	CapDedicatedIPRelease   Capability = "dedicated_ip.release"
	CapBillingManage        Capability = "billing.manage"
	CapWorkspaceView        Capability = "workspace.view"
	CapWorkspaceManage      Capability = "workspace.manage"
	CapAccountView          Capability = "account.view"
	CapAuditLogView         Capability = "audit_log.view"
)
