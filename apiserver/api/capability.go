package api

// Capability is the key by which a grant permits an operation.
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
)

// Capabilities returns every capability that some operation asks for, in the
// order of the operations.
func Capabilities() []Capability {
	var caps []Capability
	seen := map[Capability]bool{"": true}
	for _, s := range Specs() {
		if !seen[s.Capability] {
			seen[s.Capability] = true
			caps = append(caps, s.Capability)
		}
	}
	return caps
}
