// Package feedback has the action mailhost_submit_feedback.
package feedback
