"""Creates an object with the generated client, is refused another, and deletes the first."""

import os

from account_api import AuthenticatedClient
from account_api.api.service_accounts import create_service_account, revoke_service_account
from account_api.models import CreateServiceAccountBody, Error, ProblemType

account = os.environ["MAILHOST_ACCOUNT_ID"]
client = AuthenticatedClient(base_url=os.environ["MAILHOST_BASE_URL"], token=os.environ["MAILHOST_TOKEN"])

created = create_service_account.sync_detailed(account, client=client, body=CreateServiceAccountBody(name="Prüfung"))
assert created.status_code == 201 and created.parsed.name == "Prüfung", created

refused = create_service_account.sync(account, client=client, body=CreateServiceAccountBody(name=""))
assert isinstance(refused, Error) and refused.detail[0].type_ == ProblemType.STRING_TOO_SHORT, refused

deleted = revoke_service_account.sync_detailed(account, created.parsed.id, client=client)
assert deleted.status_code == 204, deleted
