package oauth

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// WorkloadUser returns the user id of a workload. Grants use it as the subject.
func WorkloadUser(name string) string { return identity.WorkloadPrefix + name }

// Workload is a program, such as a job of a CI system. A token of the issuer with exactly these
// claims belongs to the user WorkloadUser(Name).
type Workload struct {
	Name string `json:"name"`
	// Claims are compared exactly, a boolean as "true" or "false". There are no wildcards.
	Claims map[string]string `json:"claims"`
}

// commonClaims are checked for every token, or differ in each token.
var commonClaims = []string{"iss", "aud", "exp", "nbf", "iat", "jti"}

// ciSystem is a CI system that issues tokens for jobs.
type ciSystem struct {
	name string
	// example is a claim that identifies the owner of a job.
	example string
	// keys lists the claims of which a subject may consist, as in key:value:key:value. Projects choose
	// them, so that a subject alone says nothing about the claims that it lacks.
	keys []string
	// typical lists the claims that occur in no other issuer's tokens.
	typical []string
	// check returns the reason why somebody else's job may have the claims.
	check func(facts map[string]string) error
}

var (
	github = &ciSystem{
		name: "GitHub", example: "repository",
		keys: []string{
			"actor", "actor_id", "base_ref", "check_run_id", "enterprise", "enterprise_id", "environment", "event_name", "head_ref", "job_workflow_ref", "job_workflow_sha",
			"ref", "ref_protected", "ref_type", "repo", "repository", "repository_id", "repository_owner", "repository_owner_id", "repository_visibility",
			"run_attempt", "run_id", "run_number", "runner_environment", "sha", "workflow", "workflow_ref", "workflow_sha",
		},
		typical: []string{
			"event_name", "job_workflow_ref", "job_workflow_sha", "repository", "repository_id", "repository_owner", "repository_owner_id", "repository_visibility",
			"workflow_ref", "workflow_sha",
		},
		check: checkGitHub,
	}
	gitlab = &ciSystem{
		name: "GitLab", example: "project_path",
		keys: []string{
			"ci_config_ref_uri", "ci_config_sha", "deployment_tier", "environment", "environment_action", "environment_protected", "groups_direct",
			"job_id", "job_namespace_id", "job_namespace_path", "job_project_id", "job_project_path", "job_source", "namespace_id", "namespace_path",
			"pipeline_id", "pipeline_source", "project_id", "project_path", "project_visibility", "ref", "ref_path", "ref_protected", "ref_type",
			"runner_environment", "runner_id", "sha", "user_access_level", "user_email", "user_id", "user_login",
		},
		typical: []string{
			"ci_config_ref_uri", "environment_protected", "job_namespace_path", "job_project_id", "job_project_path", "namespace_id", "namespace_path",
			"pipeline_source", "project_id", "project_path", "project_visibility",
		},
		check: checkGitLab,
	}
)

// gitHubServerPath ends the issuer of a GitHub Enterprise Server.
const gitHubServerPath = "/_services/token"

// gitHubIDs matches the ids that GitHub writes into the names of owner and repository in a subject, as in
// repo:acme@12/mail@34. They are missing for repositories that were created before July 2026.
var gitHubIDs = regexp.MustCompile(`@\d+(/|$)`)

// systemOf returns the CI system of an issuer. On another host, it is the system of most of the workload's claims;
// claims such as ref, environment or runner_environment occur in several. It returns nil for another issuer, such as
// a Kubernetes cluster.
func systemOf(issuer string, w Workload) *ciSystem {
	u, _ := url.Parse(issuer) // New reports an invalid URL
	switch {
	case u != nil && (u.Host == "token.actions.githubusercontent.com" || strings.HasSuffix(u.Host, ".ghe.com") || strings.HasSuffix(u.Path, gitHubServerPath)):
		return github
	case u != nil && u.Host == "gitlab.com":
		return gitlab
	}
	names := maps.Clone(w.Claims)
	if sub := w.Claims["sub"]; sub != "" {
		delete(names, "project_id") // other issuers have it too, beside a sub of their own
		if first, _, composed := strings.Cut(sub, ":"); composed {
			names[first] = ""
			if first == "repo" {
				names["repository"] = ""
			}
		}
	}
	matches := func(s *ciSystem) (n int) {
		for _, name := range s.typical {
			if _, ok := names[name]; ok {
				n++
			}
		}
		return n
	}
	switch inGitHub, inGitLab := matches(github), matches(gitlab); {
	case inGitLab > inGitHub:
		return gitlab
	case inGitHub > 0:
		return github
	}
	return nil
}

// facts returns the claims of a workload, with those in its sub.
func (s *ciSystem) facts(claims map[string]string) (map[string]string, error) {
	facts := maps.Clone(claims)
	sub := facts["sub"]
	delete(facts, "sub")
	for rest := sub; rest != ""; {
		var key, value string
		key, rest, _ = strings.Cut(rest, ":")
		if s == github && key == "pull_request" { // in place of ref, for a pull request without an environment
			if facts["event_name"] == "" {
				facts["event_name"] = key
			}
			continue
		}
		if !slices.Contains(s.keys, key) {
			return nil, fmt.Errorf("%s's subjects have no %.40q, as far as this server knows; remove sub, and write the claims themselves, such as %s", s.name, key, s.example)
		}
		value, rest, _ = strings.Cut(rest, ":")
		if value == "" {
			return nil, fmt.Errorf("in the claim sub, %s is empty", key)
		}
		if s == github {
			value = strings.ReplaceAll(value, "%3A", ":")
		}
		if key == "repo" {
			key, value = "repository", gitHubIDs.ReplaceAllString(value, "$1")
		}
		if other, both := claims[key]; both && other != value {
			return nil, fmt.Errorf("the claim %s is %q, and %q in sub, so that no token matches", key, other, value)
		}
		facts[key] = value
	}
	return facts, nil
}

// githubEvents lists the GitHub events that a workload may use, and whether any branch or tag can cause
// the event. Other events, such as pull_request_target or issue_comment, run with the rights of the
// default branch for anybody who opens a pull request or writes a comment.
var githubEvents = map[string]bool{
	"push": true, "workflow_dispatch": true, "deployment": true, "release": true, "pull_request": false, "merge_group": false, "schedule": false, "repository_dispatch": false,
}

// check returns the reason why the workload of an issuer can't be trusted: its claims are not exact, or a
// stranger can start a job with these claims.
func (w Workload) check(issuer string) error {
	if err := identity.CheckWorkloadName(w.Name); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(w.Claims)) {
		value := w.Claims[name]
		switch {
		case slices.Contains(commonClaims, name):
			return fmt.Errorf("the claim %s is checked for every token; remove it", name)
		case value == "":
			return fmt.Errorf("the claim %s is empty", name)
		case strings.ContainsFunc(name+value, func(r rune) bool { return !unicode.IsPrint(r) }):
			return fmt.Errorf("the claim %+q contains a control character: %+q", name, value)
		case strings.ContainsAny(value, "*?"):
			return fmt.Errorf("the claim %s is %q: claims are compared exactly, there are no wildcards; list a workload for each value", name, value)
		}
	}
	system := systemOf(issuer, w)
	switch {
	case system != nil:
	case identifyOwner(slices.Collect(maps.Keys(w.Claims))):
		return nil
	default:
		sets := make([]string, len(ownerClaims))
		for i, all := range ownerClaims {
			sets[i] = strings.Join(all, " and ")
		}
		return errors.New("without the claim sub, or others that identify an owner, workloads of other owners match; add one of: " + strings.Join(sets, ", "))
	}
	facts, err := system.facts(w.Claims)
	if err != nil {
		return err
	}
	return system.check(facts)
}

// ownerClaims lists the claims that, together, identify a pipeline, repository, project or workspace. The subjects of
// some CI systems can't be in a rule, because they contain the commit, the person or the run.
var ownerClaims = [][]string{
	{"sub"}, {"repository"}, {"repository_id"}, {"project_path"}, {"project_id"},
	// Buildkite:
	{"pipeline_id"}, {"organization_slug", "pipeline_slug"}, {"organization_id", "pipeline_slug"},
	// CircleCI and Bitbucket:
	{"oidc.circleci.com/project-id"}, {"repositoryUuid"},
	// HCP Terraform:
	{"terraform_workspace_id"}, {"terraform_project_id"},
	{"terraform_organization_name", "terraform_workspace_name"}, {"terraform_organization_id", "terraform_workspace_name"},
}

// identifyOwner reports whether only one owner's workloads have certain values of the claims.
func identifyOwner(names []string) bool {
	return slices.ContainsFunc(ownerClaims, func(all []string) bool {
		return !slices.ContainsFunc(all, func(name string) bool { return !slices.Contains(names, name) })
	})
}

// These are the values that the claims of GitHub and GitLab can have.
var (
	gitHubRepository = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)
	gitHubRef        = regexp.MustCompile(`^refs/\S*[^\s/]$`)
	gitLabProject    = regexp.MustCompile(`^[^\s/]+(/[^\s/]+)+$`)
)

// checkForm returns an error if no token has the fact.
func checkForm(facts map[string]string, name string, form *regexp.Regexp, example string) error {
	if value := facts[name]; value != "" && !form.MatchString(value) {
		return fmt.Errorf("the claim %s is %q, and no token matches: it has the form %s", name, value, example)
	}
	return nil
}

func checkGitHub(facts map[string]string) error {
	if err := checkForm(facts, "repository", gitHubRepository, "OWNER/REPOSITORY"); err != nil {
		return err
	}
	if err := checkForm(facts, "ref", gitHubRef, "refs/heads/main"); err != nil {
		return err
	}
	event := facts["event_name"]
	anyRef, known := githubEvents[event]
	switch {
	case facts["repository"] == "" && facts["repository_id"] == "":
		return errors.New("workflows of other repositories match; add repository or repository_id")
	case facts["environment"] != "":
		return nil
	case event == "":
		return errors.New("workflows that a fork or a comment can start on the default branch match, by the event pull_request_target or issue_comment; add environment or event_name")
	case !known:
		return fmt.Errorf("a fork or a comment can cause the event %s; add environment, or trust one of the events %s", event, strings.Join(slices.Sorted(maps.Keys(githubEvents)), ", "))
	case anyRef && facts["ref"] == "":
		return fmt.Errorf("the event %s of every branch or tag matches, also of one without protection; add ref or environment", event)
	}
	return nil
}

func checkGitLab(facts map[string]string) error {
	if err := checkForm(facts, "project_path", gitLabProject, "GROUP/PROJECT"); err != nil {
		return err
	}
	switch {
	case facts["project_path"] == "" && facts["project_id"] == "":
		return errors.New("pipelines of other projects match; add project_path or project_id")
	case facts["ref_protected"] == "true", facts["environment_protected"] == "true", facts["pipeline_source"] == "merge_request_event":
		return nil
	}
	return errors.New(`pipelines of every branch match, also of one without protection, and ref alone may be a tag or lose its protection; add ref_protected "true" or environment_protected "true", or for merge requests pipeline_source "merge_request_event"`)
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
			return identity.User{ID: WorkloadUser(w.Name), Name: w.describe(names), Details: c.job()}, nil
		}
		// Only the owner of a workload may learn its claims: anybody can get a token of a public
		// issuer.
		if identifyOwner(slices.DeleteFunc(names, func(name string) bool { return slices.Contains(differing, name) })) {
			problems = append(problems, w.Name+" needs "+w.describe(differing))
		}
	}
	if len(problems) == 0 {
		return identity.User{}, errNoWorkload
	}
	return identity.User{}, invalid("the access token's claims match no trusted workload: " + strings.Join(problems, "; "))
}

// jobClaims name a job in the tokens of GitHub and GitLab.
var jobClaims = []string{
	"repository", "project_path", "ref", "sha", "workflow_ref", "run_id", "run_attempt", "pipeline_id", "job_id", "actor", "user_login",
}

// job returns the claims that say which job a token belongs to, and the pod of a Kubernetes token.
func (c claims) job() map[string]string {
	job := map[string]string{}
	for _, name := range jobClaims {
		switch value := c[name].(type) {
		case string:
			job[name] = value
		case float64:
			job[name] = strconv.FormatFloat(value, 'f', -1, 64)
		}
	}
	cluster, _ := c["kubernetes.io"].(map[string]any)
	pod, _ := cluster["pod"].(map[string]any)
	if name, ok := pod["name"].(string); ok {
		job["pod"] = name
	}
	return job
}

// describe returns claims with their values, as in "repository acme/mail, ref refs/heads/main".
func (w Workload) describe(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + " " + w.Claims[name]
	}
	return strings.Join(parts, ", ")
}
