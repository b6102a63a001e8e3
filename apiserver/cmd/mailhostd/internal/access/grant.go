package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type GrantCommand struct {
	List   grantListCommand   `cmd:"" help:"List grants: who may do what."`
	Add    grantAddCommand    `cmd:"" help:"Grant rights to a user, a group, a service account or a workload."`
	Remove grantRemoveCommand `cmd:"" help:"Revoke grants."`
}

type subjectFlags struct {
	User           string `variable:"-" xor:"subject" placeholder:"ID" help:"A user, as the OAuth issuer names it (the token's sub)."`
	Group          string `variable:"-" xor:"subject" placeholder:"NAME" help:"A group, as the OAuth issuer names it (in the token's groups)."`
	ServiceAccount string `variable:"-" xor:"subject" placeholder:"NAME" help:"A service account, by its name or id."`
	Workload       string `variable:"-" xor:"subject" placeholder:"NAME" help:"A workload, such as a job of a CI system, by its name in the trust file."`
}

func (f subjectFlags) chosenSubject() bool { return f != subjectFlags{} }

// subject returns the chosen subject, or empty strings.
func (f subjectFlags) subject(ctx context.Context, c *apiclient.Client) (typ, id string, err error) {
	switch {
	case f.User != "":
		return vocab.SubjectUser, f.User, nil
	case f.Group != "":
		return vocab.SubjectGroup, f.Group, nil
	case f.ServiceAccount != "":
		a, err := findToken(ctx, c, f.ServiceAccount)
		return vocab.SubjectServiceAccount, a.ID, err
	case f.Workload != "":
		return vocab.SubjectUser, oauth.WorkloadUser(f.Workload), identity.CheckWorkloadName(f.Workload)
	}
	return "", "", nil
}

type grantListCommand struct {
	subjectFlags
	All bool `variable:"-" help:"Include revoked grants."`
	cli.TargetFlags
	cli.OutputFlags
}

func (grantListCommand) Help() string {
	return "The grants that --plan-only gives are one row of the table; mailhostd grant remove --user NAME --plan-only revokes them, and --json lists each of them with its id. Grants of a revoked service account permit nothing, and count as revoked."
}

func (c grantListCommand) Run(ctx context.Context, p cli.Program, t cli.ReadTarget) (err error) {
	in := &api.ListAuthorizationsRequest{IncludeRevoked: c.All}
	if in.SubjectType, in.SubjectID, err = c.subject(ctx, t.Client); err != nil {
		return err
	}
	grants, err := apiclient.Call(ctx, t.Client, api.ListAuthorizations, in)
	if err != nil {
		return err
	}
	names := grantNames{apiclient.NewNames(ctx, t.Client)}
	if !c.All {
		*grants = slices.DeleteFunc(*grants, func(g api.Authorization) bool { return names.RevokedAt(g) != nil })
	}
	return c.PrintTable(p, grants, "There is no such grant.", grantRows(*grants, names, c.All))
}

// grantRows returns a table of grants, with a single row for a subject that may only plan.
func grantRows(grants []api.Authorization, names grantNames, revoked bool) [][]string {
	rows := [][]string{{"ID", "SUBJECT", "RIGHT", "IN", "GRANTED"}}
	if revoked {
		rows[0] = append(rows[0], "REVOKED")
	}
	for _, g := range apiclient.FoldGrants(grants, true) {
		id, right := g.ID, apiclient.RightOf(g.Authorization)
		if g.Folded > 0 {
			id, right = cli.Counted(g.Folded, "grant"), apiclient.PlanOnly
		}
		row := []string{id, names.subject(g.Authorization), right, names.scope(g.Authorization), cli.Minute(g.CreatedAt)}
		if revoked {
			row = append(row, cli.Minute(names.RevokedAt(g.Authorization)))
		}
		rows = append(rows, row)
	}
	return rows
}

type grantAddCommand struct {
	subjectFlags
	rightsFlags
	cli.TargetFlags
	cli.OutputFlags
}

func (grantAddCommand) Help() string {
	return `A grant that exists already is left as it is.

Examples:
  mailhostd grant add --group mail-admins --grant account_owner
  mailhostd grant add --group developers --plan-only
  mailhostd grant add --workload apply --grant account_owner
  mailhostd grant add --user jane --grant mailbox.view,mailbox.create --domain example.com`
}

func (c grantAddCommand) Validate() error {
	switch {
	case !c.chosenSubject():
		return errors.New("choose one subject: --user, --group, --service-account or --workload")
	case !c.chosen():
		return errors.New("choose the rights: --grant or --plan-only")
	}
	return c.rightsFlags.Validate()
}

func (c grantAddCommand) Run(ctx context.Context, p cli.Program, t *cli.Target) error {
	subjectType, subjectID, err := c.subject(ctx, t.Client)
	if err != nil {
		return err
	}
	wanted, err := c.grants(ctx, t.Client)
	if err != nil {
		return err
	}
	granted := []api.Authorization{}
	for _, body := range wanted {
		body.SubjectType, body.SubjectID = subjectType, subjectID
		g, err := apiclient.Call(ctx, t.Client, api.GrantAuthorization, &api.GrantAuthorizationRequest{Body: body})
		if failed, ok := errors.AsType[*apiclient.Error](err); ok && failed.Status == http.StatusConflict {
			continue
		}
		if err != nil {
			return err
		}
		granted = append(granted, *g)
	}
	return c.Print(p, granted, func(w io.Writer) {
		if len(granted) == 0 {
			fmt.Fprintf(w, "The %s %s has these rights already.\n", subjectType, subjectID)
			return
		}
		cli.WriteTable(w, grantRows(granted, grantNames{apiclient.NewNames(ctx, t.Client)}, false))
	})
}

type grantRemoveCommand struct {
	Grants []cli.ID `arg:"" optional:"" name:"id" help:"Id of a grant, see mailhostd grant list."`
	subjectFlags
	rightsFlags
	cli.TargetFlags
	cli.OutputFlags
}

func (grantRemoveCommand) Help() string {
	return `Revokes grants by their ids, or all grants of a subject. --plan-only and --grant choose from the subject's grants.

Examples:
  mailhostd grant remove --user jane
  mailhostd grant remove --group developers --plan-only
  mailhostd grant remove --user jane --grant mailbox.create --domain example.com`
}

func (c grantRemoveCommand) Validate() error {
	switch hasSubject := c.chosenSubject(); {
	case hasSubject == (len(c.Grants) > 0):
		return errors.New("name the ids of grants, or one subject: --user, --group, --service-account or --workload")
	case !hasSubject && c.chosen():
		return errors.New("--plan-only and --grant choose from the grants of a subject; an id needs neither")
	}
	return c.rightsFlags.Validate()
}

func (c grantRemoveCommand) Run(ctx context.Context, p cli.Program, t *cli.Target) error {
	ids := c.Grants
	if c.chosenSubject() {
		var err error
		if ids, err = c.ofSubject(ctx, t.Client); err != nil {
			return err
		}
	}
	for i, id := range ids {
		_, err := apiclient.Call(ctx, t.Client, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: string(id)})
		switch {
		case err != nil && i > 0:
			return fmt.Errorf("grant %s: %w; %d of %d are revoked", id, err, i, len(ids))
		case err != nil:
			return fmt.Errorf("grant %s: %w", id, err)
		}
	}
	return c.Print(p, struct {
		Revoked []cli.ID `json:"revoked"`
	}{ids}, func(w io.Writer) {
		fmt.Fprintf(w, "Revoked %s.\n", cli.Counted(len(ids), "grant"))
	})
}

// ofSubject returns the ids of the subject's grants with the chosen rights.
func (c grantRemoveCommand) ofSubject(ctx context.Context, client *apiclient.Client) (ids []cli.ID, err error) {
	in := &api.ListAuthorizationsRequest{}
	if in.SubjectType, in.SubjectID, err = c.subject(ctx, client); err != nil {
		return nil, err
	}
	wanted, err := c.grants(ctx, client)
	if err != nil {
		return nil, err
	}
	grants, err := apiclient.Call(ctx, client, api.ListAuthorizations, in)
	if err != nil {
		return nil, err
	}
	for _, g := range *grants {
		if !c.chosen() || slices.ContainsFunc(wanted, func(w api.GrantAuthorizationBody) bool {
			return w.GrantKind == g.GrantKind && api.Value(w.CapabilityKey) == api.Value(g.CapabilityKey) && api.Value(w.ResourceID) == api.Value(g.ResourceID)
		}) {
			ids = append(ids, cli.ID(g.ID))
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("the %s %s has no such grant; see mailhostd grant list", in.SubjectType, in.SubjectID)
	}
	return ids, nil
}
