package customtype

import "github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"

// EmailAddress is a mailbox address. Its case does not count, nor does the form
// of its domain: see [DomainName].
type EmailAddress = Value[emailAddress]

// EmailAddressType is the type of [EmailAddress].
type EmailAddressType = Type[emailAddress]

type emailAddress struct{}

func (emailAddress) rules() rules {
	return rules{
		name:      "EmailAddress",
		noun:      "an e-mail address such as jane@example.com",
		normalize: emailaddr.Normalize,
	}
}

// LocalPart is the part of a mailbox address before the at sign. Its case does
// not count.
type LocalPart = Value[localPart]

// LocalPartType is the type of [LocalPart].
type LocalPartType = Type[localPart]

type localPart struct{}

func (localPart) rules() rules {
	return rules{
		name:      "LocalPart",
		noun:      "the part of an address before the @, such as jane.doe",
		normalize: emailaddr.ParseLocalPart,
	}
}
