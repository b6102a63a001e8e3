package walkthrough_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
)

// job is a job of a pipeline.
type job struct {
	// steps are its shell commands.
	steps []string
	// artifacts are the files that the job uploads.
	artifacts []string
	// needs are the jobs whose artifacts it downloads.
	needs []string
	// password is the expression in TF_HTTP_PASSWORD, with which the job reads the state.
	password string
	// identified: the CI system issues a token to the job.
	identified  bool
	environment string
}

// githubJobs parses a GitHub Actions workflow.
func githubJobs(t *testing.T, name string) map[string]job {
	t.Helper()
	var workflow struct {
		Env  map[string]string
		Jobs map[string]struct {
			Needs, Environment string
			Permissions        map[string]string
			Env                map[string]string
			Steps              []struct {
				Run, Uses string
				With      map[string]string
			}
		}
	}
	parse(t, name, &workflow)
	for variable, value := range workflow.Env {
		assert.Check(t, !strings.Contains(value, "secrets."), "every job has %s in %s", value, variable)
	}
	found := map[string]job{}
	for name, described := range workflow.Jobs {
		j := job{password: described.Env["TF_HTTP_PASSWORD"], identified: described.Permissions["id-token"] == "write", environment: described.Environment}
		for _, step := range described.Steps {
			switch {
			case step.Run != "":
				j.steps = append(j.steps, step.Run)
			case uses(step.Uses, "actions/upload-artifact"):
				j.artifacts = append(j.artifacts, strings.Fields(step.With["path"])...)
			case uses(step.Uses, "actions/download-artifact"):
				j.needs = []string{described.Needs}
			}
		}
		assert.Check(t, j.identified == (j.password != ""), "%s has an identity: %t, and the state's password %q; only a job with both or none makes sense", name, j.identified, j.password)
		found[name] = j
	}
	return found
}

// uses reports whether a step uses any version of an action.
func uses(step, action string) bool {
	matches, err := filepath.Match(action+"@*", step)
	return err == nil && matches
}

// gitlabJobs parses a GitLab CI pipeline.
func gitlabJobs(t *testing.T, name string) map[string]job {
	t.Helper()
	var pipeline map[string]yaml.Node
	parse(t, name, &pipeline)
	var first struct {
		BeforeScript []string `yaml:"before_script"`
	}
	shared := pipeline["default"]
	assert.NilError(t, shared.Decode(&first))
	found := map[string]job{}
	for name, node := range pipeline {
		var described struct {
			Script      []string
			Needs       []string
			Artifacts   struct{ Paths []string }
			IDTokens    map[string]struct{ Aud string } `yaml:"id_tokens"`
			Environment string
		}
		if name == "default" || name == "variables" {
			continue
		}
		err := node.Decode(&described)
		assert.Assert(t, err == nil, "%s: %v", name, err)
		found[name] = job{
			steps:      slices.Concat(first.BeforeScript, described.Script),
			artifacts:  described.Artifacts.Paths,
			needs:      described.Needs,
			identified: described.IDTokens["MAILHOST_ID_TOKEN"].Aud == "$MAILHOST_BASE_URL", environment: described.Environment,
		}
	}
	return found
}

func parse(t *testing.T, name string, to any) {
	t.Helper()
	err := yaml.Unmarshal([]byte(read(t, filepath.Join(examples, "ci", name))), to)
	assert.Assert(t, err == nil, "%s: %v", name, err)
}
