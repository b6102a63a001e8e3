// Package forwarding has the resource mailhost_forwarding.
package forwarding
