package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// down destroys what the demo applied and removes its folder.
func (d *demo) down(ctx context.Context) error {
	if _, err := os.Stat(d.work); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(d.stdout, "There is no demo to remove: %s does not exist.\n", d.rel(d.work))
		return nil
	}
	if _, err := os.Stat(filepath.Join(d.config(), "terraform.tfstate")); err == nil {
		if err := d.destroy(ctx); err != nil {
			return fmt.Errorf("%w\nThe account is a file of the demo. To remove it without a destroy, delete %s", err, d.work)
		}
	}
	d.heading("Remove the demo's folder")
	if err := os.RemoveAll(d.work); err != nil {
		return err
	}
	d.say("%s is gone, and with it the account and the state.", d.rel(d.work))
	return nil
}

func (d *demo) destroy(ctx context.Context) error {
	c, err := d.openCLI(ctx)
	if err != nil {
		return err
	}
	if err := d.init(ctx, c); err != nil {
		return err
	}
	d.heading("%s destroy", c.name())
	if err := c.must(ctx, d.sayOutcome, "destroy", "-auto-approve"); err != nil {
		return err
	}
	left, err := c.capture(ctx, "state", "list")
	if err == nil && left != "" {
		err = fmt.Errorf("the destroy left these behind:\n%s", indent(left))
	}
	return err
}
