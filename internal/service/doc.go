// Package service is what the provider's resources and data sources share in
// speaking the plugin framework: configuration, identity, import, errors that
// land on the attribute that caused them, and plans that stay empty.
//
// Each resource has a package of its own below, under the name that it has in
// the API (mailbox, domain, ...). This package imports none of them.
package service
