package attribute

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// CreateTimeout returns the attribute timeouts of a resource. standard is the default for its create, which waits.
func CreateTimeout(standard time.Duration) schema.Attribute {
	return Timeouts(timeouts.Opts{
		Create: true,
		CreateDescription: fmt.Sprintf("How long a create may take, including the wait until the object is ready, such as `90s` or `1h`. Default: `%dm`. "+
			"An object that is not ready by then is kept, with a warning.", int(standard.Minutes())),
	})
}

// Timeouts returns the attribute timeouts. It refuses 0s and -5m, which the package accepts: requests
// would end before they are sent.
func Timeouts(o timeouts.Opts) schema.Attribute {
	a := timeouts.Attributes(context.Background(), o).(schema.SingleNestedAttribute)
	a.MarkdownDescription = "How long operations may take."
	for name, operation := range a.Attributes {
		text := operation.(schema.StringAttribute)
		text.Validators = []validator.String{validate.Duration(time.Second, 0)}
		a.Attributes[name] = text
	}
	return a
}
