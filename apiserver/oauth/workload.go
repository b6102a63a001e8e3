package oauth

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// WorkloadPrefix begins the user id of a workload. An issuer of people's tokens can't issue a token
// for such a user.
const WorkloadPrefix = "workload:"

// WorkloadUser returns the user id of a workload. Grants use it as the subject.
func WorkloadUser(name string) string { return WorkloadPrefix + name }

// Workload is a program, such as a job of a CI system. A token of the issuer with exactly these
// claims belongs to the user WorkloadUser(Name).
type Workload struct {
	Name string `json:"name"`
	// Claims are compared exactly, a boolean as "true" or "false". There are no wildcards.
	Claims map[string]string `json:"claims"`
}

var workloadName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckWorkloadName returns an error for an invalid name.
func CheckWorkloadName(name string) error {
	if !workloadName.MatchString(name) {
		return fmt.Errorf("%.64q is no name of a workload: use up to 63 lower-case letters, digits, dots, hyphens and underscores", name)
	}
	return nil
}

// Claims in the tokens of CI systems. A claim of ownerClaims identifies the owner of a pipeline;
// without one, anybody's pipeline matches. A GitHub repository may build its sub from other claims.
var (
	githubClaims = []string{"repository", "repository_id", "repository_owner", "repository_owner_id", "job_workflow_ref", "event_name", "workflow_ref"}
	gitlabClaims = []string{"project_path", "project_id", "namespace_path", "namespace_id", "ref_protected", "environment_protected", "pipeline_source"}
	ownerClaims  = []string{"repository", "repository_id", "project_path", "project_id"}
	githubSub    = regexp.MustCompile(`^(repo|environment|ref|workflow|actor|` + strings.Join(githubClaims, "|") + `):`)
	ownerInSub   = regexp.MustCompile(`(^|:)(repo|repository|repository_owner|project_path)(_id)?:`)
	// commonClaims are checked for every token, or differ in each token.
	commonClaims = []string{"iss", "aud", "exp", "nbf", "iat", "jti"}
)

// githubEvents lists the GitHub events that a workload may use, and whether any branch can cause
// the event. Other events, such as pull_request_target or issue_comment, run with the rights of the
// default branch for anybody who opens a pull request or writes a comment.
var githubEvents = map[string]bool{
	"push": true, "workflow_dispatch": true, "pull_request": false, "merge_group": false, "schedule": false, "release": false, "deployment": true, "repository_dispatch": false,
}

// check returns the reason why the workload can't be trusted: its claims are not exact, or a
// stranger can start a job with these claims.
func (w Workload) check() error {
	if err := CheckWorkloadName(w.Name); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(w.Claims)) {
		value := w.Claims[name]
		switch {
		case slices.Contains(commonClaims, name):
			return fmt.Errorf("the claim %s is checked for every token; remove it", name)
		case value == "":
			return fmt.Errorf("the claim %s is empty", name)
		case strings.ContainsAny(value, "*?"):
			return fmt.Errorf("the claim %s is %q: claims are compared exactly, there are no wildcards; list a workload for each value", name, value)
		}
	}
	switch sub := w.Claims["sub"]; {
	case w.has(githubClaims) || githubSub.MatchString(sub):
		return w.checkGitHub()
	case w.has(gitlabClaims) || strings.HasPrefix(sub, "project_path:"):
		return w.checkGitLab()
	case sub == "":
		return errors.New("without the claim sub, every workload of the issuer that has the others matches; add sub")
	}
	return nil
}

func (w Workload) has(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return w.Claims[name] != "" })
}

func (w Workload) hasOwner() bool {
	return w.has(ownerClaims) || ownerInSub.MatchString(w.Claims["sub"])
}

func (w Workload) checkGitHub() error {
	sub, event := w.Claims["sub"], w.Claims["event_name"]
	needsRef, known := githubEvents[event]
	switch {
	case !w.hasOwner():
		return errors.New("workflows of other repositories match; add repository or repository_id")
	case w.Claims["environment"] != "" || strings.Contains(sub, ":environment:"), strings.HasSuffix(sub, ":pull_request"):
		return nil
	case event == "":
		return errors.New("workflows that a fork or a comment can start on the default branch match, by the event pull_request_target or issue_comment; add environment or event_name")
	case !known:
		return fmt.Errorf("a fork or a comment can cause the event %s; add environment, or trust one of the events %s", event, strings.Join(slices.Sorted(maps.Keys(githubEvents)), ", "))
	case needsRef && w.Claims["ref"] == "" && !strings.Contains(sub, ":ref:"):
		return fmt.Errorf("the event %s of every branch matches, also of one without protection; add ref or environment", event)
	}
	return nil
}

func (w Workload) checkGitLab() error {
	switch {
	case !w.hasOwner():
		return errors.New("pipelines of other projects match; add project_path or project_id")
	case w.Claims["ref_protected"] == "true", w.Claims["environment_protected"] == "true", strings.Contains(w.Claims["sub"], ":ref:"), w.Claims["pipeline_source"] == "merge_request_event":
		return nil
	}
	return errors.New(`pipelines of every branch match, also of one without protection; add ref_protected "true" or environment_protected "true", or for merge requests pipeline_source "merge_request_event"`)
}

// workload returns the user of the first workload that matches the claims. The user's name, for the
// audit log, lists the claims.
func (v *Verifier) workload(c claims) (identity.User, error) {
	var problems []string
	for _, w := range v.workloads {
		names := slices.Sorted(maps.Keys(w.Claims))
		differing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			switch got := c[name].(type) {
			case string:
				return got == w.Claims[name]
			case bool:
				return strconv.FormatBool(got) == w.Claims[name]
			}
			return false
		})
		if len(differing) == 0 {
			return identity.User{ID: WorkloadUser(w.Name), Name: w.describe(names)}, nil
		}
		// Only the owner of a workload may learn its claims: anybody can get a token of a public
		// issuer.
		if slices.ContainsFunc(names, func(name string) bool {
			return (name == "sub" || slices.Contains(ownerClaims, name)) && !slices.Contains(differing, name)
		}) {
			problems = append(problems, w.Name+" needs "+w.describe(differing))
		}
	}
	if len(problems) == 0 {
		return identity.User{}, errNoWorkload
	}
	return identity.User{}, invalid("the access token's claims match no trusted workload: " + strings.Join(problems, "; "))
}

// describe returns claims with their values, as in "repository acme/mail, ref refs/heads/main".
func (w Workload) describe(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + " " + w.Claims[name]
	}
	return strings.Join(parts, ", ")
}
