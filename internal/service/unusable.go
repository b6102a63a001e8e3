package service

import (
	"context"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// UnusableDomain says what to do about a domain in which nothing can be made,
// because it waits for its payment or its registration has failed. It is "" where
// that is not so, or can't be told.
func UnusableDomain(ctx context.Context, c DomainReader, ref string) string {
	d, err := c.GetDomain(ctx, ref)
	switch {
	case err != nil:
		return ""
	case d.Status == vocab.DomainPendingPayment:
		return fmt.Sprintf("Pay for the domain %s, and run apply again. The warning of its purchase says where, and so does the service's own control panel.", d.Name)
	case d.Status == vocab.DomainFailed:
		return fmt.Sprintf("The domain %s was not registered. Find out why in the service's own control panel; nothing can be made in it before it is active.", d.Name)
	}
	return ""
}
