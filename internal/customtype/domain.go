package customtype

import (
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// DomainName is the name of a domain. Its case does not count, nor do a trailing
// dot and whether it is in Unicode or in ASCII (IDNA).
type DomainName = Value[domainName]

// DomainNameType is the type of [DomainName].
type DomainNameType = Type[domainName]

type domainName struct{}

func (domainName) rules() rules {
	return rules{
		name:      "DomainName",
		noun:      "a domain name such as example.com",
		normalize: domainname.Normalize,
	}
}

// DomainRef names a domain of the account by its UUID or by its name. Two UUIDs
// are equal, or two names, as [UUID] and [DomainName] are. That a UUID and a
// name mean the same domain only the account can tell: a resource has to compare
// by [RefersTo] and to answer with [KeepDomainRef].
type DomainRef = Value[domainRef]

// DomainRefType is the type of [DomainRef].
type DomainRefType = Type[domainRef]

type domainRef struct{}

func (domainRef) rules() rules {
	return rules{
		name:      "DomainRef",
		noun:      "a domain's UUID or a domain name such as example.com",
		normalize: normalizeDomainRef,
	}
}

// normalizeDomainRef has no doubt which of the two s is: a UUID has no dot, and
// a domain's name has one.
func normalizeDomainRef(s string) (string, error) {
	if id, err := normalizeUUID(s); err == nil {
		return id, nil
	}
	name, err := domainname.Normalize(s)
	if err != nil {
		return "", fmt.Errorf("it is no UUID, and as a name: %w", err)
	}
	return name, nil
}

// RefersTo reports whether a reference, as it is written, names the domain with
// an id and a name.
func RefersTo(ref, id, name string) bool {
	return ref != "" && (Equal[DomainRef](ref, id) || Equal[DomainRef](ref, name))
}

// KeepDomainRef returns the reference to the domain with an id and a name: the
// prior one if it names that domain, and the name otherwise.
func KeepDomainRef(prior DomainRef, id, name string) DomainRef {
	if RefersTo(prior.ValueString(), id, name) {
		return prior
	}
	if name == "" {
		name = id
	}
	return New[DomainRef](name)
}
