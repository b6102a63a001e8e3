// Package domain has the resource mailhost_domain, its data sources and its list
// resource.
package domain
