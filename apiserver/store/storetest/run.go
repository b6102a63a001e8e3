package storetest

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Run checks an implementation. Its tests run in parallel, each on an empty store
// that open returns and closes when the test ends.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, test := range []struct {
		name string
		run  func(*harness)
	}{
		{"Account", testAccount},
		{"Workspace", testWorkspace},
		{"ServiceAccount", testServiceAccount},
		{"ServiceAccountUse", testServiceAccountUse},
		{"Authorization", testAuthorization},
		{"AuthorizationFilter", testAuthorizationFilter},
		{"GrantsOf", testGrantsOf},
		{"MasterPassword", testMasterPassword},
		{"MasterPasswordFilter", testMasterPasswordFilter},
		{"Forwarding", testForwarding},
		{"ForwardingUnique", testForwardingUnique},
		{"ForwardingFilter", testForwardingFilter},
		{"ForwardingState", testForwardingState},
		{"Mailbox", testMailbox},
		{"MailboxUnique", testMailboxUnique},
		{"Addresses", testAddresses},
		{"AddressesOfADeletedDomain", testAddressesOfADeletedDomain},
		{"ForwardingReleased", testForwardingReleased},
		{"MailboxFilter", testMailboxFilter},
		{"MailboxSearch", testMailboxSearch},
		{"NameSearch", testNameSearch},
		{"EachMailbox", testEachMailbox},
		{"EachMailboxReads", testEachMailboxReads},
		{"Domain", testDomain},
		{"DomainUnique", testDomainUnique},
		{"DomainFilter", testDomainFilter},
		{"DomainDelete", testDomainDelete},
		{"DomainUnpaid", testDomainUnpaid},
		{"DNSRecord", testDNSRecord},
		{"DNSRecordUnique", testDNSRecordUnique},
		{"DNSRecordFilter", testDNSRecordFilter},
		{"DNSRecordIDs", testDNSRecordIDs},
		{"DNSRecordReplaced", testDNSRecordReplaced},
		{"DedicatedIP", testDedicatedIP},
		{"DedicatedIPFilter", testDedicatedIPFilter},
		{"DedicatedIPClaims", testDedicatedIPClaims},
		{"Idempotency", testIdempotency},
		{"MailQueue", testMailQueue},
		{"MailQueueClaims", testMailQueueClaims},
		{"MailQueueConcurrentClaims", testMailQueueConcurrentClaims},
		{"MessageLimits", testMessageLimits},
		{"Feedback", testFeedback},
		{"Audit", testAudit},
		{"AuditFilter", testAuditFilter},
		{"AuditMany", testAuditMany},
		{"AuditOutlives", testAuditOutlives},
		{"Clear", testClear},
		{"ClearWithin", testClearWithin},
		{"Foreign", testForeign},
		{"CreationTimes", testCreationTimes},
		{"CreationTimesOfConcurrentCreates", testCreationTimesConcurrent},
		{"PagesDuringCreates", testPagesDuringCreates},
		{"Atomicity", testAtomicity},
		{"OwnWrites", testOwnWrites},
		{"Observe", testObserve},
		{"Snapshot", testSnapshot},
		{"Panic", testPanic},
		{"Goexit", testGoexit},
		{"Context", testContext},
		{"OneWins", testOneWins},
		{"Counter", testCounter},
		{"MixedUpdates", testMixedUpdates},
		{"Bulk", testBulk},
		{"Close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(&harness{T: t, store: open(t)})
		})
	}
}
