package operate

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

type RepairTimesCommand struct {
	cli.DatabaseFlags
	DryRun bool `variable:"-" help:"Only print what would change."`
	Force  bool `variable:"-" help:"Also repair if most changes are in the future, so that this machine's clock is probably behind."`
	Yes    bool `variable:"-" help:"Don't ask."`
	cli.OutputFlags
}

func (RepairTimesCommand) Help() string {
	return `A server whose clock is ahead writes times that are in the future for the others: an object was created next year, and the audit log for a week ago ends next year. Correct the clock of that server first, and check this machine's with date. The command then sets such times to now. Lists and the audit log keep their order, and the times that people chose, such as the expiry of a token, stay. Verification links last as long as before, purchased domains and their mailboxes are ready after the same delay, and a cancellation takes effect at the end of the current period at the latest. The audit log of each account says so.

If most changes are in the future, this machine's clock is probably behind, and nothing is repaired without --force: the times are then right, and would be lost.

It works beside running servers; their changes wait for some seconds.

Examples:
  mailhostd repair-times --dry-run
  mailhostd repair-times --database postgres://db.example.com/mailhost --yes`
}

type repairReport struct {
	// Now is the time of this machine.
	Now      string `json:"now"`
	Repaired bool   `json:"repaired"`
	// Behind means that this machine's clock is probably behind.
	Behind bool `json:"probably_behind"`
	// Tables lists the tables with times in the future.
	Tables []store.FutureTimes `json:"tables"`
}

func (c RepairTimesCommand) Run(ctx context.Context, p cli.Program, service *apiserver.Service) error {
	offset, err := service.ClockOffset(ctx)
	if err != nil {
		return err
	}
	if offset.Abs() > store.ClockTolerance {
		return fmt.Errorf("nothing was repaired: the clock of this machine and of the database server differ by %s; correct the one that is wrong, and try again", offset.Abs().Round(time.Second))
	}
	found, behind, err := service.FutureTimes(ctx)
	if err != nil {
		return err
	}
	report := repairReport{Now: time.Now().UTC().Format(api.TimestampLayout), Behind: behind, Tables: append([]store.FutureTimes{}, found...)}
	if c.DryRun || len(found) == 0 {
		return c.Print(p, report, report.write)
	}
	if behind && !c.Force {
		return fmt.Errorf("nothing was repaired: %s", report.warning())
	}
	if !c.Yes {
		report.write(p.Stderr)
		if err := ask(ctx, p, fmt.Sprintf("Set them to %s?", report.Now)); err != nil {
			return fmt.Errorf("nothing was repaired: %w", err)
		}
	}
	if report.Tables, err = service.RepairTimes(ctx, cli.SystemUser()); err != nil {
		return fmt.Errorf("nothing was repaired: %w", err)
	}
	report.Repaired = true
	return c.Print(p, report, report.write)
}

func (r repairReport) warning() string {
	return fmt.Sprintf("most changes are in the future, so the clock of this machine is probably behind: it shows %s; check it with date, and use --force only if it is right", r.Now)
}

func (r repairReport) write(w io.Writer) {
	if len(r.Tables) == 0 {
		fmt.Fprintf(w, "No time is in the future; it is %s.\n", r.Now)
		return
	}
	rows := [][]string{{"TABLE", "ROWS", "LATEST TIME"}}
	for _, t := range r.Tables {
		rows = append(rows, []string{t.Table, strconv.Itoa(t.Rows), t.Latest.Format(api.TimestampLayout)})
	}
	cli.WriteTable(w, rows)
	switch {
	case r.Repaired:
		fmt.Fprintf(w, "These times were set to %s, in the same order.\n", r.Now)
	case r.Behind:
		fmt.Fprintf(w, "Caution: %s.\n", r.warning())
	default:
		fmt.Fprintf(w, "It is %s on this machine.\n", r.Now)
	}
}
