// Package domain has the resource mailhost_domain.
package domain
