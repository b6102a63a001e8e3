package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

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
	creators, err := apiclient.Creators(ctx, t.Client)
	if err != nil {
		return err
	}
	return c.PrintTable(p, grants, "There is no such grant.", grantRows(*grants, names, creators, c.All))
}

// grantRows returns a table of grants, with a single row for a subject that may only plan. Without
// creators, it has no column for them.
func grantRows(grants []api.Authorization, names grantNames, creators map[string]api.AuditSubject, revoked bool) [][]string {
	rows := [][]string{{"ID", "SUBJECT", "RIGHT", "IN", "GRANTED"}}
	if creators != nil {
		rows[0] = append(rows[0], "BY")
	}
	if revoked {
		rows[0] = append(rows[0], "REVOKED")
	}
	for _, g := range apiclient.FoldGrants(grants, true) {
		id, right := g.ID, apiclient.RightOf(g.Authorization)
		if g.Folded > 0 {
			id, right = cli.Counted(g.Folded, "grant"), apiclient.PlanOnly
		}
		row := []string{id, names.subject(g.Authorization), right, names.scope(g.Authorization), cli.Minute(g.CreatedAt)}
		if creators != nil {
			by := "?"
			if creator, ok := creators[g.ID]; ok {
				by = apiclient.DescribeAuthor(creator)
			}
			row = append(row, by)
		}
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
		cli.WriteTable(w, grantRows(granted, grantNames{apiclient.NewNames(ctx, t.Client)}, nil, false))
	})
}

type grantRemoveCommand struct {
	Grants []cli.ID `arg:"" optional:"" name:"id" help:"Id of a grant, see mailhostd grant list."`
	subjectFlags
	rightsFlags
	childrenFlag
	cli.TargetFlags
	cli.OutputFlags
}

func (grantRemoveCommand) Help() string {
	return `Revokes grants by their ids, or all grants of a subject. --plan-only and --grant choose from the subject's grants.
What a subject without any further grant has created goes on working: it is listed, and --with-children revokes it too.

Examples:
  mailhostd grant remove --workload apply --with-children
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
	caller, err := apiclient.Call(ctx, t.Client, api.GetCaller, &api.InAccount{})
	if err != nil {
		return err
	}
	chosen, err := c.choose(ctx, t.Client)
	if err != nil {
		return err
	}
	if len(chosen.keep) > 0 && c.WithChildren {
		return fmt.Errorf("nothing is revoked: %s keeps other rights, and --with-children ends everything that the subject has created; remove all its grants, or leave out --with-children", chosen.keep[0])
	}
	if err := c.precheck(ctx, t.Client, chosen.subjects); err != nil {
		return err
	}
	out := struct {
		Revoked         []cli.ID      `json:"revoked"`
		RevokedChildren []listedChild `json:"revoked_children"`
		Remaining       []listedChild `json:"remaining"`
	}{Revoked: []cli.ID{}}
	revoke := func() error {
		for _, id := range chosen.ids {
			if _, err := apiclient.Call(ctx, t.Client, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: string(id)}); err != nil {
				return fmt.Errorf("grant %s: %w%s", id, err, done(len(out.Revoked), len(chosen.ids)))
			}
			out.Revoked = append(out.Revoked, id)
		}
		return nil
	}
	end := func() error {
		if chosen.denied {
			fmt.Fprintln(p.Stderr, "mailhostd: what was created with the grants may go on working, and can't be listed: that takes authorization.view")
			return nil
		}
		if len(chosen.subjects) == 0 { // they keep other rights
			return nil
		}
		children, err := c.end(ctx, p, t.Client, caller.SubjectID, c.again(chosen), chosen.subjects)
		out.RevokedChildren, out.Remaining = children.revoked, children.remaining
		return err
	}
	steps := []func() error{revoke, end} // afterwards the subject creates no further children
	if slices.Contains(chosen.subjects, apiclient.Subject{Type: caller.SubjectType, ID: caller.SubjectID}) {
		slices.Reverse(steps) // the caller may revoke nothing afterwards
	}
	for _, step := range steps {
		if err = step(); err != nil {
			break
		}
	}
	if err == nil && len(chosen.ids) == 0 && len(out.RevokedChildren) == 0 {
		err = chosen.none
	}
	if err != nil && len(out.Revoked)+len(out.RevokedChildren)+len(out.Remaining) == 0 {
		return err
	}
	return cmp.Or(c.Print(p, out, func(w io.Writer) {
		if len(out.Revoked) > 0 {
			fmt.Fprintf(w, "Revoked %s.\n", cli.Counted(len(out.Revoked), "grant"))
		}
		if len(out.RevokedChildren) > 0 && err == nil { // otherwise stderr names them
			fmt.Fprintln(w, "Revoked what was created with it:")
			printChildren(w, out.RevokedChildren)
		}
	}), err)
}

// again returns the command that revokes the children after this one.
func (c grantRemoveCommand) again(chosen chosenGrants) string {
	const command = "mailhostd grant remove --with-children"
	if !c.chosenSubject() {
		named := []string{command}
		for _, id := range chosen.ids {
			named = append(named, string(id))
		}
		return strings.Join(named, " ")
	}
	flag, id := "--"+strings.ReplaceAll(chosen.subjects[0].Type, "_", "-"), chosen.subjects[0].ID
	if c.Workload != "" {
		flag, id = "--workload", c.Workload
	}
	return command + " " + flag + " " + shellWord(id)
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellWord quotes text for a shell, unless it is plain.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// chosenGrants are the grants that a command revokes.
type chosenGrants struct {
	ids []cli.ID
	// subjects keep no grant; keep are the others, described.
	subjects []apiclient.Subject
	keep     []string
	// denied reports that the caller may not see grants, so that the subjects are unknown.
	denied bool
	// none is the error if nothing is revoked.
	none error
}

// choose returns the chosen grants. An id may be that of a revoked grant.
func (c grantRemoveCommand) choose(ctx context.Context, client *apiclient.Client) (chosen chosenGrants, err error) {
	in := &api.ListAuthorizationsRequest{IncludeRevoked: !c.chosenSubject()}
	if in.SubjectType, in.SubjectID, err = c.subject(ctx, client); err != nil {
		return chosen, err
	}
	wanted, err := c.grants(ctx, client)
	if err != nil {
		return chosen, err
	}
	grants, err := apiclient.Call(ctx, client, api.ListAuthorizations, in)
	if !c.chosenSubject() && apiclient.Denied(err) && !c.WithChildren {
		return chosenGrants{ids: c.Grants, denied: true}, nil
	} else if err != nil {
		return chosen, c.unlisted(err)
	}
	chosen.ids = c.Grants
	if c.chosenSubject() {
		chosen.subjects = []apiclient.Subject{{Type: in.SubjectType, ID: in.SubjectID}}
		chosen.none = fmt.Errorf("the %s %s has no such grant; see mailhostd grant list", in.SubjectType, in.SubjectID)
	}
	for _, g := range *grants {
		switch {
		case !c.chosenSubject():
			if s := (apiclient.Subject{Type: g.SubjectType, ID: g.SubjectID}); slices.Contains(c.Grants, cli.ID(g.ID)) && !slices.Contains(chosen.subjects, s) {
				chosen.subjects = append(chosen.subjects, s)
			}
		case !c.chosen() || slices.ContainsFunc(wanted, func(w api.GrantAuthorizationBody) bool {
			return w.GrantKind == g.GrantKind && api.Value(w.CapabilityKey) == api.Value(g.CapabilityKey) && api.Value(w.ResourceID) == api.Value(g.ResourceID)
		}):
			chosen.ids = append(chosen.ids, cli.ID(g.ID))
		}
	}
	if len(chosen.ids) == 0 && c.chosen() {
		return chosen, chosen.none
	}
	chosen.subjects = slices.DeleteFunc(chosen.subjects, func(s apiclient.Subject) bool {
		keeps := slices.ContainsFunc(*grants, func(g api.Authorization) bool {
			return g.SubjectType == s.Type && g.SubjectID == s.ID && g.RevokedAt == nil && !slices.Contains(chosen.ids, cli.ID(g.ID))
		})
		if keeps {
			chosen.keep = append(chosen.keep, apiclient.DescribeSubject(s.Type, s.ID, ""))
		}
		return keeps
	})
	return chosen, nil
}
