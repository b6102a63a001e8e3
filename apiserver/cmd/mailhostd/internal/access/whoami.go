package access

import (
	"context"
	"io"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

type WhoamiCommand struct {
	cli.TargetFlags
	cli.OutputFlags
}

func (WhoamiCommand) Help() string {
	return "Over HTTP this is the holder of the token in $MAILHOST_TOKEN. On a database you are its operator, whom no grant restricts."
}

type whoami struct {
	// Target is the database or the URL.
	Target    string `json:"target"`
	AccountID string `json:"account_id"`
	api.Caller
}

func (c WhoamiCommand) Run(ctx context.Context, p cli.Program, t cli.ReadTarget) error {
	who, err := apiclient.Call(ctx, t.Client, api.GetCaller, &api.InAccount{})
	if err != nil {
		return err
	}
	if t.Token == "" { // on a database
		who.SubjectType, who.SubjectID = "operator", ""
	}
	return c.Print(p, whoami{t.Name, t.AccountID, *who}, func(w io.Writer) {
		name := api.Value(who.Name)
		if who.Email != nil {
			name = strings.TrimSpace(name + " <" + *who.Email + ">")
		}
		expires := "never"
		if who.ExpiresAt != nil {
			expires = cli.Minute(who.ExpiresAt) + " UTC"
		}
		rows := [][]string{
			{"You are:", apiclient.DescribeSubject(who.SubjectType, who.SubjectID, name)}, {"Target:", t.Name}, {"Account:", t.AccountID},
		}
		for i, rights := range apiclient.ListRights(who.Grants, grantNames{apiclient.NewNames(ctx, t.Client)}.scope) {
			rows = append(rows, []string{map[bool]string{true: "Rights:", false: " "}[i == 0], rights})
		}
		rows = append(rows, []string{"Expires:", expires})
		cli.WriteTable(w, rows)
	})
}
