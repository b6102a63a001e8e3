package api

import (
	"bytes"
	"encoding/json"
)

// FeedbackNew is the state of new feedback.
const FeedbackNew = "new"

// Feedback is submitted product feedback.
type Feedback struct {
	ID                 string   `json:"id" format:"uuid"`
	AccountID          string   `json:"account_id" format:"uuid"`
	Title              string   `json:"title"`
	Description        string   `json:"description"`
	Category           string   `json:"category" enum:"bug_report,product_feedback,feature_request,other"`
	Status             string   `json:"status" enum:"new,triaged,planned,in_progress,closed"`
	Attributes         FreeForm `json:"attributes" doc:"Free-form, as it was sent"`
	PaidProductFeature bool     `json:"paid_product_feature" default:"false"`
	SubmitterEmail     *string  `json:"submitter_email"`
	SubmitterName      *string  `json:"submitter_name"`
	CreatedByUserID    *string  `json:"created_by_user_id" format:"uuid"`
	AdminNotes         *string  `json:"admin_notes"`
	CreatedAt          string   `json:"created_at" format:"date-time"`
	UpdatedAt          string   `json:"updated_at" format:"date-time"`
}

type SubmitFeedbackBody struct {
	Title              string   `json:"title" minLength:"1" maxLength:"255" format:"name"`
	Description        string   `json:"description" minLength:"1" maxLength:"10000" pattern:"^[^\\x00]*$"`
	Category           string   `json:"category,omitempty" enum:"bug_report,product_feedback,feature_request,other" default:"other" nullable:"true"`
	Attributes         FreeForm `json:"attributes,omitempty" nullable:"true" doc:"Free-form; at most 16384 bytes as compact JSON"`
	PaidProductFeature bool     `json:"paid_product_feature,omitempty" default:"false" nullable:"true"`
}

type SubmitFeedbackRequest = KeyedRequest[SubmitFeedbackBody]

// MaxAttributesBytes limits the attributes of feedback, as compact JSON.
const MaxAttributesBytes = 16 << 10

// Validate checks the size of the attributes.
func (b *SubmitFeedbackBody) Validate() []*Problem {
	var f findings
	if len(b.Attributes) > MaxAttributesBytes {
		f.add(Invalid("must have at most %d bytes as JSON", MaxAttributesBytes), "attributes")
	}
	return f
}

var feedback = Kind{Tag: "Feedback", Description: "Reports to the people who run the service"}

// SubmitFeedback is the operation on feedback.
var SubmitFeedback = defineCreate[SubmitFeedbackBody, Feedback]("POST /feedback", "Submit product feedback", Spec{
	Number: 22, ID: "submit-feedback", Kind: feedback,
})

// FreeForm is a JSON object stored unchanged, including large numbers.
type FreeForm json.RawMessage

// MarshalJSON implements json.Marshaler. An empty FreeForm becomes an empty object.
func (f FreeForm) MarshalJSON() ([]byte, error) {
	if len(f) == 0 {
		return []byte("{}"), nil
	}
	return json.RawMessage(f).MarshalJSON()
}

// UnmarshalJSON implements json.Unmarshaler. null becomes an empty FreeForm.
func (f *FreeForm) UnmarshalJSON(b []byte) error {
	*f = (*f)[:0]
	if !bytes.Equal(b, []byte("null")) {
		*f = append(*f, b...)
	}
	return nil
}
