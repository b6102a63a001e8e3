package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

type feedback struct {
	Title              types.String `tfsdk:"title"`
	Description        types.String `tfsdk:"description"`
	Category           types.String `tfsdk:"category"`
	Attributes         types.String `tfsdk:"attributes"`
	PaidProductFeature types.Bool   `tfsdk:"paid_product_feature"`
}

func NewSubmitFeedback() action.Action {
	ctx := context.Background()
	title := validate.Length[api.SubmitFeedbackBody]("title")
	description := validate.Length[api.SubmitFeedbackBody]("description")
	category := validate.OneOf[api.SubmitFeedbackBody]("category")
	return &service.Action[feedback]{Name: "submit_feedback", Run: submit, Definition: schema.Schema{
		MarkdownDescription: "Sends feedback about the product to its vendor. Each run of the action sends it again.",
		Attributes: map[string]schema.Attribute{
			"title": schema.StringAttribute{Required: true, Validators: []validator.String{title}, MarkdownDescription: "Subject of the feedback, " + title.MarkdownDescription(ctx) + "."},
			"description": schema.StringAttribute{
				Required: true, Validators: []validator.String{description},
				MarkdownDescription: "The feedback itself, " + description.MarkdownDescription(ctx) + ". Don't put secrets in it.",
			},
			"category": schema.StringAttribute{Optional: true, Validators: []validator.String{category}, MarkdownDescription: "Kind of feedback: " + category.MarkdownDescription(ctx) + ". Default: `other`."},
			"attributes": schema.StringAttribute{
				Optional: true, Validators: []validator.String{validate.Rule("a JSON object, as jsonencode makes it of an object", checkObject)},
				MarkdownDescription: fmt.Sprintf("Additional data, as a JSON object of at most %d bytes: `jsonencode({ terraform = \"1.14\" })`.", api.MaxAttributesBytes),
			},
			"paid_product_feature": schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether it is about a paid feature. Default: `false`."},
		},
	}}
}

func checkObject(s string) (string, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &object); err != nil {
		if _, other := errors.AsType[*json.UnmarshalTypeError](err); !other {
			return "", fmt.Errorf("it is no JSON: %w", err)
		}
	}
	if object == nil {
		return "", errors.New("it is not a JSON object")
	}
	return s, nil
}

func submit(ctx context.Context, c *client.Client, config feedback, resp *action.InvokeResponse) {
	f, err := c.SubmitFeedback(ctx, config.body())
	if err != nil {
		report.Error(&resp.Diagnostics, err, fmt.Sprintf("Can't submit the feedback %q", config.Title.ValueString()), report.Fields{})
		return
	}
	service.Progress(resp, "The feedback %q was submitted. Its id is %s, its category %s and its status %s.", f.Title, f.ID, f.Category, f.Status)
}

func (f feedback) body() api.SubmitFeedbackBody {
	return api.SubmitFeedbackBody{
		Title: f.Title.ValueString(), Description: f.Description.ValueString(), Category: f.Category.ValueString(),
		Attributes: api.FreeForm(f.Attributes.ValueString()), PaidProductFeature: f.PaidProductFeature.ValueBool(),
	}
}
