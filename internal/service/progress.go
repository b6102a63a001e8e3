package service

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
)

// Progress tells how far an action has come, in whole sentences.
func Progress(resp *action.InvokeResponse, format string, args ...any) {
	resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
}
