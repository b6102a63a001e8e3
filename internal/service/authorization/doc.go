// Package authorization has the data source mailhost_authorizations.
package authorization
