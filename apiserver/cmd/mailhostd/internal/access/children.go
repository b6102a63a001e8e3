package access

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// This file handles what a subject has created, when its rights or its token are revoked.

type childrenFlag struct {
	WithChildren bool `variable:"-" help:"Also revoke the service accounts and grants that they have created, and what these have. Without it they are listed, and go on working."`
}

// listedChild is a child in JSON.
type listedChild struct {
	Type      string            `json:"type"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	ExpiresAt *string           `json:"expires_at"`
	CreatedBy *api.AuditSubject `json:"created_by"`
}

func listChildren(children []apiclient.Child, names grantNames) []listedChild {
	listed := []listedChild{}
	for _, child := range children {
		name := child.Account.Name
		if child.IsGrant() {
			name = DescribeGrant(child.Grant, names.Names)
		}
		listed = append(listed, listedChild{child.ObjectType, child.ObjectID, name, child.Account.ExpiresAt, child.CreatedBy})
	}
	return listed
}

func printChildren(w io.Writer, children []listedChild) {
	for _, child := range children {
		name, by := cli.Printable(child.Name), ""
		switch {
		case child.Name == "":
			name = "you may not see its name and expiry"
		case child.Type == vocab.SubjectServiceAccount:
			name = fmt.Sprintf("%q, expires %s", child.Name, cmp.Or(cli.Minute(child.ExpiresAt), "never"))
		}
		if child.CreatedBy != nil {
			by = ", created by " + apiclient.DescribeAuthor(*child.CreatedBy)
		}
		fmt.Fprintf(w, "  %s %s: %s%s\n", child.Type, child.ID, name, by)
	}
}

// done ends the error of a revocation with the number of those before it.
func done(revoked, all int) string {
	if revoked == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d are revoked", revoked, all)
}

// precheck returns an error if the children are to be revoked but can't be listed, before anything is revoked.
func (f childrenFlag) precheck(ctx context.Context, c *apiclient.Client, subjects []apiclient.Subject) error {
	if !f.WithChildren {
		return nil
	}
	_, err := apiclient.Children(ctx, c, subjects...)
	return f.unlisted(err)
}

// unlisted explains an error of a list that --with-children needs.
func (f childrenFlag) unlisted(err error) error {
	if err == nil || !f.WithChildren {
		return err
	}
	return fmt.Errorf("nothing is revoked, because --with-children can't list what was created: %w", err)
}

// endedChildren are the children that a command has revoked, and those that go on working.
type endedChildren struct{ revoked, remaining []listedChild }

// end revokes the children of subjects, or lists them on stderr with the command that revokes them. own is
// the id of the caller.
func (f childrenFlag) end(ctx context.Context, p cli.Program, c *apiclient.Client, own, command string, subjects []apiclient.Subject) (e endedChildren, err error) {
	names := grantNames{apiclient.NewNames(ctx, c)}
	unknown, _ := apiclient.UnknownCreators(ctx, c) // an error is that of the list below; afterwards the caller may lack the right
	var revoked, remaining []apiclient.Child
	if f.WithChildren {
		revoked, err = apiclient.RevokeChildren(ctx, c, own, subjects...)
	} else {
		remaining, err = apiclient.Children(ctx, c, subjects...)
	}
	e.revoked = listChildren(revoked, names)
	if err != nil && f.WithChildren {
		remaining, _ = apiclient.Children(ctx, c, subjects...) // for the message about the other error
		if len(revoked) > 0 {
			fmt.Fprintln(p.Stderr, "mailhostd: these are revoked:")
			printChildren(p.Stderr, e.revoked)
		}
	}
	e.remaining = listChildren(remaining, names)
	if len(remaining) > 0 {
		fmt.Fprintf(p.Stderr, "mailhostd: these were created with what is revoked, and go on working; to revoke them too: %s\n", command)
		printChildren(p.Stderr, e.remaining)
	}
	if unknown > 0 {
		fmt.Fprintf(p.Stderr, "mailhostd: the creator of %s is unknown, and may be what is revoked; mailhostd token list and grant list show \"?\" for it\n", cli.Counted(unknown, "working object"))
	}
	if apiclient.Denied(err) && !f.WithChildren {
		fmt.Fprintf(p.Stderr, "mailhostd: what was created with it may go on working, and can't be listed: %s\n", err)
		return e, nil
	}
	for _, s := range subjects {
		if s.Type == vocab.SubjectGroup {
			fmt.Fprintf(p.Stderr, "mailhostd: what members of the group %s have created counts as theirs; mailhostd token list and grant list show it\n", cli.Printable(s.ID))
		}
	}
	if err != nil {
		return e, fmt.Errorf("what it has created is not all revoked: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return e, nil
}
