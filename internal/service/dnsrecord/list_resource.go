package dnsrecord

import (
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_dns_record.
func NewListResource() list.ListResource {
	return service.NewListResource(collection, service.ListItem[located, model]{
		ID:          func(r *located) string { return strconv.FormatInt(r.ID, 10) },
		DisplayName: (*located).String,
		Model:       func(m model) any { return &m },
		Skip:        func(r *located) bool { return r.IsSystemManaged },
	}, "Lists the DNS records of the account, or those that match every filter; without `domain`, ordered by domain. The records that every domain comes with can't be managed and are left out.")
}

// String returns the record as a line of a zone file.
func (r *located) String() string {
	value := r.Value
	if r.Priority != nil {
		value = fmt.Sprintf("%d %s", *r.Priority, value)
	}
	return fmt.Sprintf("%s %s %.80s", fqdn(r.Name, r.zone.name), r.Type, value)
}
