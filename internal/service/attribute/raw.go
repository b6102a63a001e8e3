package attribute

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// Raw holds the attributes of a plan or a state as core sent them; it is nil for a null object.
type Raw map[string]tftypes.Value

// RawOf returns the attributes of an object, or nil for a null or unknown object.
func RawOf(object tftypes.Value) (a Raw) {
	if object.As((*map[string]tftypes.Value)(&a)) != nil {
		return nil
	}
	return a
}

// Text returns a string attribute, a number attribute in decimal, or "" for a null or unknown attribute.
func (a Raw) Text(name string) string {
	var s *string
	if a[name].As(&s) == nil && s != nil {
		return *s
	}
	var n *big.Float
	if a[name].As(&n) == nil && n != nil {
		return n.String()
	}
	return ""
}

// TextOf returns [Raw.Text] of an object.
func TextOf(object tftypes.Value, name string) string { return RawOf(object).Text(name) }

// DomainID returns the id of the domain that contains the object: a set stores it as its own id.
func (a Raw) DomainID() string { return cmp.Or(a.Text("domain_id"), a.Text("id")) }

// DomainName is [DomainName] of the object's attribute domain.
func (a Raw) DomainName() string { return DomainName(a.Text("domain")) }

// DomainName returns the canonical domain name for a reference by name, or "" for a UUID or an invalid reference.
func DomainName(ref string) string {
	name, _ := customtype.DomainName.Normalize(ref)
	return name
}

// DomainKeys returns a natural key for each form in which an object refers to its domain: the name, the
// id, and the configured form. prefix is the rest of the key.
func DomainKeys(attribute func(string) string, prefix string) (keys []string) {
	for _, name := range []string{"domain_name", "domain_id", "domain"} {
		if ref := attribute(name); ref != "" {
			if canonical, err := customtype.DomainRef.Normalize(ref); err == nil {
				ref = canonical
			}
			if !slices.Contains(keys, prefix+ref) {
				keys = append(keys, prefix+ref)
			}
		}
	}
	return keys
}
