package simulate

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	rowFlag     = flag.String("row", "", "the rows whose names begin with this; all of them for \"all\"")
	logsFlag    = flag.String("logs", "", "a folder for the log of each life that has findings, with -row")
	objectsFlag = flag.Int("objects", 300, "objects of the configuration, with -row")
)

// allRows returns every fault at every rate in every mode on both engines.
func allRows() (rows []row) {
	for i := range faults {
		for _, percent := range faults[i].percents() {
			for _, m := range modes {
				for _, onPostgres := range []bool{false, true} {
					rows = append(rows, row{fault: &faults[i], percent: percent, mode: m, onPostgres: onPostgres})
				}
			}
		}
	}
	return rows
}

// shortRows returns one row for each fault, and all modes and engines; with -short only
// every fourth, on SQLite.
func shortRows() (rows []row) {
	for i := range faults {
		if !testing.Short() || i%4 == 2 {
			rows = append(rows, row{fault: &faults[i], percent: slices.Max(faults[i].percents()), mode: modes[i%len(modes)], onPostgres: i%6 == 1})
		}
	}
	return rows
}

// rowsNamed returns the row with a name, or else those whose names begin with it; all rows
// for "all".
func rowsNamed(name string) (rows []row) {
	for _, r := range allRows() {
		switch {
		case r.String() == name:
			return []row{r}
		case name == "all" || strings.HasPrefix(r.String(), name):
			rows = append(rows, r)
		}
	}
	return rows
}

// TestChaos runs the rows of the flags, or one short row for each fault, and prints a
// table.
func TestChaos(t *testing.T) {
	chosen, objects := shortRows(), 75
	if *rowFlag != "" {
		chosen, objects = rowsNamed(*rowFlag), *objectsFlag
		if chosen == nil {
			t.Fatalf("no row has a name that begins with %q; the first one is %s", *rowFlag, allRows()[0])
		}
	}
	first := uint64(1)
	if *seedFlag != "" {
		c, err := ParseCase(*seedFlag)
		if err != nil {
			t.Fatal(err)
		}
		first = c.Seed
	}
	var printing sync.Mutex
	print := func(l *life) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Println(tableRow(cells(l)))
	}
	if *rowFlag != "" && len(chosen)**runsFlag > 1 {
		fmt.Printf("%d objects. Rows without keys leave out what no client can mend: go doc ./internal/simulate\n%s\n", objects, tableRow(columns))
	}
	for _, r := range chosen {
		for i := range *runsFlag {
			seed := first + uint64(i)
			t.Run(fmt.Sprintf("%s/%d", r, seed), func(t *testing.T) {
				t.Parallel()
				l := live(t, r, seed, objects)
				if *rowFlag != "" && len(chosen)**runsFlag == 1 {
					fmt.Printf("%s\n%s\n", strings.Join(l.log, "\n"), tableRow(columns))
				}
				if len(l.findings) > 0 && *logsFlag != "" {
					file := filepath.Join(*logsFlag, fmt.Sprintf("chaos-%s-%d.log", strings.ReplaceAll(r.String(), "/", "-"), seed))
					if err := os.WriteFile(file, []byte(strings.Join(l.log, "\n")+"\n"), 0o600); err != nil {
						t.Error(err)
					}
					t.Logf("The log of its requests is %s", file)
				}
				if *rowFlag != "" {
					print(l)
				}
				reportFindings(t, l)
			})
		}
	}
}

// reportFindings fails the test if a row has findings.
func reportFindings(t *testing.T, l *life) {
	const most, longest = 10, 2000
	if len(l.findings) == 0 {
		return
	}
	text := ""
	for i, f := range l.findings {
		if i == most {
			text += fmt.Sprintf("and %d more\n", len(l.findings)-most)
			break
		}
		text += f[:min(len(f), longest)] + "\n"
	}
	t.Errorf("%s\nRepeat it with:\n  make chaos ROW=%s SEED=%d OBJECTS=%d\n", text, l.row, l.seed, l.objects)
}

var columns = []string{"fault/rate/mode/engine", "seed", "requests", "faults", "retries", "applies", "duplicates", "losses", "paid", "result", "time"}

// cells returns a life as a row of the table.
func cells(l *life) []string {
	result := "ok"
	if n := len(l.findings); n > 0 {
		result = fmt.Sprint(n, " findings")
	}
	n := l.network
	return []string{
		l.row.String(), fmt.Sprint(l.seed), fmt.Sprint(n.requests), fmt.Sprint(n.faults), fmt.Sprint(n.retries),
		fmt.Sprintf("%d+%d+%d", l.applies[created], l.applies[changed], l.applies[destroyed]),
		fmt.Sprint(l.duplicates), fmt.Sprint(l.losses), fmt.Sprintf("%d/%d", l.paid, l.toPay), result, fmt.Sprintf("%.1f s", l.took.Seconds()),
	}
}

// tableRow formats a row of the table.
func tableRow(cells []string) string {
	widths := []int{-31, 13, 8, 6, 7, 7, 10, 6, 6, -11, 7}
	var b strings.Builder
	for i, cell := range cells {
		fmt.Fprintf(&b, "| %*s ", widths[i], cell)
	}
	return b.String() + "|"
}
