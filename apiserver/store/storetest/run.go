package storetest

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Run checks an implementation. Its tests run in parallel, each on an empty store that
// open returns and closes at the end of the test. With names it runs only the named tests.
func Run(t *testing.T, open func(t *testing.T) store.Store, names ...string) {
	for _, test := range []struct {
		name string
		run  func(*harness)
	}{
		{"Account", testKind(accountKind)},
		{"Workspace", testKind(workspaceKind)},
		{"Filters", testFilters},
		{"ServiceAccount", testKind(serviceAccountKind)},
		{"Authorization", testKind(authorizationKind)},
		{"AuthorizationVersion", testAuthorizationVersion},
		{"MasterPassword", testKind(masterPasswordKind)},
		{"Forwarding", testKind(forwardingKind)},
		{"Mailbox", testKind(mailboxKind)},
		{"AddressesOfADeletedDomain", testAddressesOfADeletedDomain},
		{"CreateMailboxes", testCreateMailboxes},
		{"Domain", testKind(domainKind)},
		{"DomainUnpaid", testDomainUnpaid},
		{"DNSRecord", testKind(dnsRecordKind)},
		{"DedicatedIP", testKind(dedicatedIPKind)},
		{"DedicatedIPOption", testKind(dedicatedIPOptionKind)},
		{"MailQueueClaims", testMailQueueClaims},
		{"MailQueueConcurrentClaims", testMailQueueConcurrentClaims},
		{"TokenBucketsConcurrently", testTokenBucketsConcurrently},
		{"Statements", testStatements},
		{"Clear", testClear},
		{"DeleteAccount", testDeleteAccount},
		{"CreationTimes", testCreationTimes},
		{"Atomicity", testAtomicity},
		{"Snapshot", testSnapshot},
		{"Panic", testPanic},
		{"Context", testContext},
		{"Concurrency", testConcurrency},
		{"Close", testClose},
	} {
		if len(names) > 0 && !slices.Contains(names, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(&harness{T: t, store: open(t)})
		})
	}
}

// Migrations returns a copy of an engine's migrations, and those that a later version adds.
func Migrations(released fs.FS, later ...string) fstest.MapFS {
	files := fstest.MapFS{}
	names, err := fs.Glob(released, "*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(released, name)
		if err != nil {
			panic(err)
		}
		files[name] = &fstest.MapFile{Data: content}
	}
	for _, text := range later {
		files[fmt.Sprintf("%04d_later.sql", len(files)+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}
