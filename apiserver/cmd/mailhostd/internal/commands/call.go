package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// callCommand is for actions of Terraform that OpenTofu lacks, such as resending a verification message.
type callCommand struct {
	Operation string   `arg:"" optional:"" help:"Id of the operation, such as cancel-plan. Without it, the operations are listed."`
	Values    []string `arg:"" optional:"" name:"name=value" help:"Parameters of the path and of the query, and members of the body. A value that is not text is JSON, such as true or [\"a\", \"b\"]."`

	cli.TargetFlags
}

func (callCommand) Help() string {
	return "Calls an operation of the API and prints its response. Terraform has actions for these; OpenTofu does not:\n\n" +
		"    mailhostd call cancel-plan cancel_at_period_end=true\n" +
		"    mailhostd call change-plan effective_date=2027-01-01T00:00:00Z\n" +
		"    mailhostd call export-mailboxes domain=example.com > mailboxes.csv\n" +
		"    mailhostd call update-forwarding forwarding_id=UUID target_email=jane@example.org\n" +
		"    mailhostd call submit-feedback title=Search description='Search in aliases'\n\n" +
		"The same target_email again resends the verification message. mailhostd openapi describes every operation."
}

func (c callCommand) Run(ctx context.Context, p cli.Program) error {
	if c.Operation == "" {
		return cli.PrintText(p, writeOperations)
	}
	i := slices.IndexFunc(api.Specs(), func(s api.Spec) bool { return s.ID == c.Operation })
	if i < 0 {
		return cli.UsageError("%.64q is no operation; mailhostd call lists them", c.Operation)
	}
	spec := api.Specs()[i]
	in, err := newRequest(spec, c.Values)
	if err != nil {
		return cli.UsageError("%s: %w", spec.ID, err)
	}
	t, err := c.OpenTarget(ctx, p, cli.OpenOptions{ReadOnly: !spec.Changes()})
	if err != nil {
		return err
	}
	response, err := t.Send(ctx, spec, in)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return printResponse(p, spec, response.Body)
}

// printResponse prints the response of an operation. The secret of a new credential is never returned again.
func printResponse(p cli.Program, spec api.Spec, body io.Reader) error {
	if !spec.Changes() {
		_, err := io.Copy(p.Stdout, body)
		return err
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var object struct {
		ID              string `json:"id"`
		Token           string `json:"token"`
		GeneratedSecret string `json:"generated_secret"`
	}
	_ = json.Unmarshal(content, &object) // a response without an object
	write := func() error {
		_, err := p.Stdout.Write(content)
		return err
	}
	if object.Token == "" && object.GeneratedSecret == "" {
		return write()
	}
	lost := spec.ID + " succeeded, and a secret in its response is not shown again"
	if object.ID != "" {
		lost += "; the object's id is " + object.ID
	}
	return cli.PrintOnce(p, lost, write)
}

func writeOperations(w io.Writer) {
	rows := [][]string{{"OPERATION", "NAMES", "SUMMARY"}}
	for _, s := range api.Specs() {
		names, _, _ := fields(s)
		rows = append(rows, []string{s.ID, strings.Join(names, " "), s.Summary})
	}
	cli.WriteTable(w, rows)
}

// fields returns the names of an operation's parameters and body members, without the account and
// headers, the index of each in the request struct, and the names that a request requires.
func fields(s api.Spec) (names []string, indexes [][]int, required []string) {
	required = slices.Clone(s.PathParameters()[1:]) // without the account
	for _, f := range api.FieldsOf(s.Request) {
		if (f.In == "path" || f.In == "query") && f.Name != "account_id" {
			names, indexes = append(names, f.Name), append(indexes, f.Index)
		}
	}
	if body := s.Body(); body != nil {
		for _, member := range api.FieldsOf(s.Request.FieldByIndex(body.Index).Type) {
			names, indexes = append(names, member.Name), append(indexes, slices.Concat(body.Index, member.Index))
			if member.Required {
				required = append(required, member.Name)
			}
		}
	}
	return names, indexes, required
}

// newRequest returns a request struct of the operation with values in the form name=value.
func newRequest(s api.Spec, values []string) (any, error) {
	in := reflect.New(s.Request)
	names, indexes, missing := fields(s)
	for _, argument := range values {
		name, value, ok := strings.Cut(argument, "=")
		if !ok {
			return nil, fmt.Errorf("%.64q is not of the form name=value", argument)
		}
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("there is no %.64q; it takes %s", name, strings.Join(names, ", "))
		}
		missing = slices.DeleteFunc(missing, func(required string) bool { return required == name && value != "" })
		target := in.Elem().FieldByIndex(indexes[i]).Addr().Interface()
		// A text field uses the value as it is.
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if json.Unmarshal(text, target) == nil {
			continue
		}
		err = json.Unmarshal([]byte(value), target)
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return nil, fmt.Errorf("%s: %s in %.64q must be %s", name, wrong.Field, value, jsonForm(wrong.Type))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %.64q must be %s", name, value, jsonForm(reflect.TypeOf(target).Elem()))
		}
	}
	if len(missing) > 0 {
		next := ""
		if slices.Contains(missing, "workspace_id") {
			next = "; mailhostd call get-account prints the id of the default workspace"
		}
		return nil, fmt.Errorf("missing or empty: %s%s", strings.Join(missing, ", "), next)
	}
	return in.Interface(), nil
}

// jsonForm describes the JSON of a type.
func jsonForm(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonForm(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number below 2^63"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return "a JSON array; each element is " + jsonForm(t.Elem())
		}
		return `a JSON array, such as ["a", "b"]`
	case reflect.Struct:
		var names []string
		for _, f := range api.FieldsOf(t) {
			names = append(names, f.Name)
		}
		return "a JSON object with " + strings.Join(names, ", ")
	}
	return `a JSON object, such as {"name": "value"}`
}
