// Package billing has the actions mailhost_cancel_plan and mailhost_change_plan.
//
// They cost or save money, so each requires the id of its account, shows its effect in
// the plan, reads the account before the request, and never retries the request.
package billing
