// Package masterpassword has the resource mailhost_master_password.
package masterpassword
