// Package dedicatedip has the resource mailhost_dedicated_ip.
package dedicatedip
