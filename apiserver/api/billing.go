package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// BillingResult is the outcome of a billing operation.
type BillingResult struct {
	Status         string  `json:"status" enum:"scheduled,completed,unchanged"`
	AccountStatus  *string `json:"account_status" enum:"active,pending_cancellation,cancelled" doc:"Account status after the operation"`
	EffectiveAt    *string `json:"effective_at" format:"date-time" doc:"When the change takes effect"`
	Eligible       *bool   `json:"eligible" doc:"Whether the account was eligible"`
	PreviousPlanID *string `json:"previous_plan_id" enum:"smtp_per_mailbox,smtp_per_proxy"`
	TargetPlanID   *string `json:"target_plan_id" enum:"smtp_per_mailbox,smtp_per_proxy"`
}

type CancelPlanBody struct {
	CancelAtPeriodEnd *bool `json:"cancel_at_period_end,omitempty" nullable:"true" doc:"Default true, unless cancel_immediately is true"`
	CancelImmediately *bool `json:"cancel_immediately,omitempty" nullable:"true" doc:"Default false"`
}

type CancelPlanRequest = KeyedRequest[CancelPlanBody]

type ChangePlanBody struct {
	EffectiveDate *string `json:"effective_date,omitempty" format:"date-time" nullable:"true" doc:"Absent: now; not in the past"`
	PlanID        *string `json:"plan_id,omitempty" enum:"smtp_per_mailbox,smtp_per_proxy" nullable:"true" doc:"Absent: the plan after the current one"`
}

type ChangePlanRequest = KeyedRequest[ChangePlanBody]

var billing = Kind{Tag: "Billing", Description: "The account's plan"}

// Operations on the account's plan.
var (
	CancelPlan = define[CancelPlanRequest, BillingResult]("POST /billing/cancel-plan", "Cancel the account's plan", Spec{
		Number: 20, ID: "cancel-plan", Kind: billing, Capability: vocab.CapBillingManage,
	})
	ChangePlan = define[ChangePlanRequest, BillingResult]("POST /billing/change-plan", "Change the account's plan", Spec{
		Number: 21, ID: "change-plan", Kind: billing, Capability: vocab.CapBillingManage,
	})
)
