// Package service is what the provider's resources and data sources share in
// speaking the plugin framework: configuration, identity, import, errors that
// land on the attribute that caused them, and plans that stay empty.
//
// Each resource has a package of its own below, under the name that it has in
// the API (mailbox, domain, ...), with the data sources, list resource, ephemeral
// resource and actions of the same objects; so has what there is no resource of
// (account, billing, ...). This package imports none of them, and they don't
// import each other. All may import the typed client, customtype, validate, the
// contract and the syntax packages of apiserver, and not its service or store;
// this one also imports session.
package service
