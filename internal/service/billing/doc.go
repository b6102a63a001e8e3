// Package billing has the actions mailhost_cancel_plan and mailhost_change_plan.
//
// Money moves with them, so each is guarded: it names the account that it is
// meant for, says in the plan what it will do, looks before it sends, and never
// sends twice.
package billing
