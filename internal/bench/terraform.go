package main

import (
	"context"
	"fmt"
	"time"
)

// The three commands of a lifecycle, as the table names them.
var lifecycle = [3]string{"first plan", "apply", "empty plan"}

// compareFloor compares a set with one terraform_data that has the same map: the least
// that the CLI needs for it.
func (b *bench) compareFloor(ctx context.Context) error {
	return b.compareLifecycles(ctx, b.set, b.rounds, "terraform_data", asTerraformData, [3]target{atMost(2), atMost(2), atMost(2)})
}

// compareCount compares a set with as many single mailboxes.
func (b *bench) compareCount(ctx context.Context) error {
	return b.compareLifecycles(ctx, b.count, 1, "count", asCount, [3]target{atMost(0.2), atMost(0.05), atMost(0.3)})
}

// compareLifecycles compares the lifecycle of a set of n mailboxes with that of another
// configuration.
func (b *bench) compareLifecycles(ctx context.Context, n, rounds int, versus, against string, targets [3]target) error {
	ours, err := b.workspace(config(embedded, asSet, n))
	if err != nil {
		return err
	}
	theirs, err := b.workspace(config(embedded, against, n))
	if err != nil {
		return err
	}
	side := func(w *workspace) func() ([]float64, error) {
		return func() ([]float64, error) {
			times, err := w.lifecycle(ctx)
			return times[:], err
		}
	}
	a, c, err := alternate(rounds, side(ours), side(theirs))
	if err != nil {
		return err
	}
	for i, command := range lifecycle {
		b.rows = append(b.rows, row{
			measure: fmt.Sprintf("set of %d: %s", n, command), unit: seconds, target: targets[i], ours: a[i], against: c[i], versus: versus,
		})
	}
	return nil
}

// The latencies of distant servers.
const (
	near = 50 * time.Millisecond
	far  = 150 * time.Millisecond
)

// compareDistantSet compares a set at a distance with the same one without a latency, and
// counts its requests.
func (b *bench) compareDistantSet(ctx context.Context) error {
	const pageSize = 1000
	w, err := b.workspace(config("", asSet, b.set))
	if err != nil {
		return err
	}
	var counts [2][]float64 // the requests of an apply and of an empty plan at a distance
	side := func(latency time.Duration) func() ([]float64, error) {
		return func() ([]float64, error) {
			b.progress("a set of %d with a latency of %s", b.set, latency)
			s, err := b.mailhostd(ctx, 0)
			if err != nil {
				return nil, err
			}
			defer s.stop()
			l, err := newLink(s.url, latency)
			if err != nil {
				return nil, err
			}
			defer l.Close()
			if err := w.write("provider.tf", remote(s, l.URL)); err != nil {
				return nil, err
			}
			if err := w.reset(ctx); err != nil {
				return nil, err
			}
			var times [3]float64
			if times[0], err = w.plan(ctx, changes); err != nil {
				return nil, err
			}
			before := l.requests.Load()
			if times[1], err = w.apply(ctx); err != nil {
				return nil, err
			}
			applied := l.requests.Load()
			if times[2], err = w.plan(ctx, noChanges); err != nil {
				return nil, err
			}
			if latency > 0 {
				counts[0] = append(counts[0], float64(applied-before))
				counts[1] = append(counts[1], float64(l.requests.Load()-applied))
			}
			return times[:], nil
		}
	}
	distant, local, err := alternate(b.rounds, side(near), side(0))
	if err != nil {
		return err
	}
	for i, command := range lifecycle {
		b.rows = append(b.rows, row{
			measure: fmt.Sprintf("set of %d, latency %s: %s", b.set, near, command), unit: seconds, target: atMost(1.1),
			ours: distant[i], against: local[i], versus: "no latency",
		})
	}
	pages := (b.set + pageSize - 1) / pageSize
	for i, limits := range []int{pages + 2, pages + 2} {
		b.rows = append(b.rows, row{
			measure: fmt.Sprintf("set of %d: requests of the %s", b.set, lifecycle[i+1]), unit: requests, target: atMost(1),
			ours: counts[i], against: limit(float64(limits), counts[i]), versus: "the target",
		})
	}
	return nil
}

// compareDistant compares a plan of single mailboxes at a distance with the same one
// without a latency.
func (b *bench) compareDistant(ctx context.Context) error {
	s, err := b.mailhostd(ctx, 0)
	if err != nil {
		return err
	}
	defer s.stop()
	w, err := b.workspace(config(remote(s, s.url), asCount, b.distant))
	if err != nil {
		return err
	}
	if err := w.applyQuickly(ctx); err != nil {
		return err
	}
	side := func(latency time.Duration) func() ([]float64, error) {
		return func() ([]float64, error) {
			l, err := newLink(s.url, latency)
			if err != nil {
				return nil, err
			}
			defer l.Close()
			if err := w.write("provider.tf", remote(s, l.URL)); err != nil {
				return nil, err
			}
			took, err := w.plan(ctx, noChanges)
			return []float64{took}, err
		}
	}
	distant, local, err := alternate(b.rounds, side(far), side(0))
	if err != nil {
		return err
	}
	b.rows = append(b.rows, row{
		measure: fmt.Sprintf("plan of %d single mailboxes, latency %s", b.distant, far), unit: seconds, target: atMost(1.3),
		ours: distant[0], against: local[0], versus: "no latency",
	})
	return nil
}

// compareNull compares a plan of single mailboxes with one of as many null resources, and
// with one of null resources whose states are as long as those of mailboxes.
func (b *bench) compareNull(ctx context.Context) error {
	if err := b.installNull(ctx); err != nil {
		return err
	}
	ours, err := b.planOf(ctx, config(embedded, asCount, b.single))
	if err != nil {
		return err
	}
	null, err := b.planOf(ctx, config(requireNull, asNull, b.single))
	if err != nil {
		return err
	}
	large, err := b.planOf(ctx, config(requireNull, asLargeNull, b.single))
	if err != nil {
		return err
	}
	measure := fmt.Sprintf("plan of %d single mailboxes", b.single)
	a, c, err := alternate(b.rounds, ours, null)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, row{measure: measure, unit: seconds, target: atMost(1.25), ours: a[0], against: c[0], versus: "hashicorp/null"})
	memory := row{measure: measure + ": the provider's memory", unit: mebibytes, target: atMost(1.5), ours: a[1], against: c[1], versus: "hashicorp/null"}
	if memory.ours[0] == 0 {
		memory.missing = "the peak memory is read from /proc, which this system does not have"
	}
	b.rows = append(b.rows, memory)
	if a, c, err = alternate(b.rounds, ours, large); err != nil {
		return err
	}
	b.rows = append(b.rows, row{measure: measure, unit: seconds, target: atMost(1), ours: a[0], against: c[0], versus: "hashicorp/null with states of that size"})
	return nil
}

// planOf creates the resources of a configuration, and returns a function that measures a
// plan of them and the provider's peak memory.
func (b *bench) planOf(ctx context.Context, files map[string]string) (func() ([]float64, error), error) {
	w, err := b.workspace(files)
	if err != nil {
		return nil, err
	}
	b.progress("creating %d resources", b.single)
	if err := w.reset(ctx); err != nil {
		return nil, err
	}
	if err := w.applyQuickly(ctx); err != nil {
		return nil, err
	}
	return func() ([]float64, error) {
		took, peak, err := w.planPeak(ctx)
		return []float64{took, peak}, err
	}, nil
}

// compareLimit counts the requests of an apply under a rate limit.
func (b *bench) compareLimit(ctx context.Context) error {
	s, err := b.mailhostd(ctx, 0, "--rate-limit", "10/1s")
	if err != nil {
		return err
	}
	defer s.stop()
	l, err := newLink(s.url, 0)
	if err != nil {
		return err
	}
	defer l.Close()
	w, err := b.workspace(config(remote(s, l.URL), asCount, b.limited))
	if err != nil {
		return err
	}
	if _, err := w.apply(ctx); err != nil {
		return err
	}
	// 130 requests for 1,000 mailboxes.
	sent := []float64{float64(l.requests.Load())}
	b.rows = append(b.rows, row{
		measure: fmt.Sprintf("apply of %d single mailboxes at 10 requests a second", b.limited), unit: requests, target: atMost(1),
		ours: sent, against: limit(0.13*float64(b.limited), sent), versus: "the target",
	})
	return nil
}
