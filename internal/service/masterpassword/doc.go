// Package masterpassword has the resource mailhost_master_password, its data sources
// and its list resource.
package masterpassword
