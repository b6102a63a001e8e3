// Package account has the data source mailhost_account.
package account
