// Package forwarding has the resource mailhost_forwarding, its data sources and its
// list resource, and the action mailhost_resend_forwarding_verification.
package forwarding
