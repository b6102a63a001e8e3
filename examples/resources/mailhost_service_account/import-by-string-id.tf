import {
  to = mailhost_service_account.ci
  id = "ci-deploy"
}
