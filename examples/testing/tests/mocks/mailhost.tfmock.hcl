# A value for every computed attribute, so that references pass the provider's validation: an address
# contains an @, and an id is a UUID. Copy the file, and change the values that your tests check.
# Terraform leaves lists of objects empty in a mock, so they are not here.

mock_resource "mailhost_dedicated_ip" {
  defaults = {
    acquisition  = "purchase"
    asn          = 64500
    country_code = "DE"
    created_at   = "2026-01-01T00:00:00Z"
    id           = "00000006-0000-4000-8000-000000000000"
    name         = "Frankfurt"
    option_id    = "00000007-0000-4000-8000-000000000000"
    status       = "active"
    type         = "shared"
    updated_at   = "2026-01-01T00:00:00Z"
  }
}

mock_resource "mailhost_dns_record" {
  defaults = {
    domain_id         = "00000003-0000-4000-8000-000000000000"
    domain_name       = "example.com"
    fqdn              = "www.example.com"
    id                = "1001"
    is_system_managed = false
    ttl               = 3600
  }
}

mock_resource "mailhost_dns_zone" {
  defaults = {
    domain_id   = "00000003-0000-4000-8000-000000000000"
    domain_name = "example.com"
    id          = "00000003-0000-4000-8000-000000000000"
    purged      = []
  }
}

mock_resource "mailhost_domain" {
  defaults = {
    acquisition                = "purchase"
    auto_renew                 = true
    created_at                 = "2026-01-01T00:00:00Z"
    dedicated_ip_id            = "00000006-0000-4000-8000-000000000000"
    id                         = "00000003-0000-4000-8000-000000000000"
    inbound_tenant_external_id = "t-1"
    inbound_tenant_id          = "0000000b-0000-4000-8000-000000000000"
    inbound_tenant_name        = "Main"
    inbound_tenant_type        = "shared"
    outbound_routing_ready     = true
    purchase_price             = "12.00 USD"
    redirect_mode              = null
    redirect_url               = null
    status                     = "active"
    updated_at                 = "2026-01-01T00:00:00Z"
    workspace_id               = "00000002-0000-4000-8000-000000000000"
  }
}

mock_resource "mailhost_forwarding" {
  defaults = {
    active                   = true
    created_at               = "2026-01-01T00:00:00Z"
    id                       = "00000005-0000-4000-8000-000000000000"
    scope_id                 = "00000003-0000-4000-8000-000000000000"
    scope_type               = "domain"
    updated_at               = "2026-01-01T00:00:00Z"
    verification_expires_at  = "2026-01-04T00:00:00Z"
    verification_required    = true
    verification_sent_at     = "2026-01-01T00:00:00Z"
    verification_state       = "verified"
    verification_verified_at = "2026-01-01T00:00:00Z"
  }
}

mock_resource "mailhost_mailbox" {
  defaults = {
    created_at    = "2026-01-01T00:00:00Z"
    domain_id     = "00000003-0000-4000-8000-000000000000"
    domain_name   = "example.com"
    id            = "00000004-0000-4000-8000-000000000000"
    primary_email = "jane.doe@example.com"
    quota = {
      allowed = 10737418240
      used    = 0
    }
    status         = "active"
    updated_at     = "2026-01-01T00:00:00Z"
    workspace_id   = "00000002-0000-4000-8000-000000000000"
    workspace_name = "Default"
  }
}

mock_resource "mailhost_mailbox_set" {
  defaults = {
    addresses = {
      "jane.doe" = "jane.doe@example.com"
    }
    domain_name = "example.com"
    id          = "00000003-0000-4000-8000-000000000000"
    ids = {
      "jane.doe" = "00000004-0000-4000-8000-000000000000"
    }
    unmanaged = []
  }
}

mock_resource "mailhost_master_password" {
  defaults = {
    created_at       = "2026-01-01T00:00:00Z"
    generated_secret = "mocked-secret"
    id               = "00000008-0000-4000-8000-000000000000"
    scope_id         = "00000003-0000-4000-8000-000000000000"
    scope_type       = "domain"
    updated_at       = "2026-01-01T00:00:00Z"
  }
}

mock_resource "mailhost_service_account" {
  defaults = {
    account_id         = "00000001-0000-4000-8000-000000000000"
    created_at         = "2026-01-01T00:00:00Z"
    created_by_user_id = "0000000a-0000-4000-8000-000000000000"
    expires_at         = "2027-01-01T00:00:00Z"
    id                 = "00000009-0000-4000-8000-000000000000"
    last_used_at       = null
    revoked_at         = null
    revoked_by_user_id = null
    token              = "mhsa_mocked_token"
    token_last4        = "oken"
    token_prefix       = "mhsa_"
    token_public_id    = "mocked"
    updated_at         = "2026-01-01T00:00:00Z"
  }
}

mock_data "mailhost_account" {
  defaults = {
    cancels_at           = null
    created_at           = "2026-01-01T00:00:00Z"
    default_workspace_id = "00000002-0000-4000-8000-000000000000"
    id                   = "00000001-0000-4000-8000-000000000000"
    plan_id              = "smtp_per_mailbox"
    status               = "active"
    updated_at           = "2026-01-01T00:00:00Z"
  }
}

mock_data "mailhost_dedicated_ip" {
  defaults = {
    asn          = 64500
    country_code = "DE"
    created_at   = "2026-01-01T00:00:00Z"
    id           = "00000006-0000-4000-8000-000000000000"
    ip           = "192.0.2.10"
    name         = "Frankfurt"
    status       = "active"
    type         = "shared"
    updated_at   = "2026-01-01T00:00:00Z"
  }
}

mock_data "mailhost_dns_record" {
  defaults = {
    domain            = "example.com"
    domain_id         = "00000003-0000-4000-8000-000000000000"
    domain_name       = "example.com"
    fqdn              = "www.example.com"
    id                = "1001"
    is_system_managed = false
    name              = "www"
    priority          = null
    ttl               = 3600
    type              = "CNAME"
    value             = "example.org"
  }
}

mock_data "mailhost_domain" {
  defaults = {
    auto_renew                 = true
    created_at                 = "2026-01-01T00:00:00Z"
    dedicated_ip_id            = "00000006-0000-4000-8000-000000000000"
    id                         = "00000003-0000-4000-8000-000000000000"
    inbound_tenant_external_id = "t-1"
    inbound_tenant_id          = "0000000b-0000-4000-8000-000000000000"
    inbound_tenant_name        = "Main"
    inbound_tenant_type        = "shared"
    name                       = "example.com"
    outbound_routing_ready     = true
    redirect_mode              = null
    redirect_url               = null
    status                     = "active"
    updated_at                 = "2026-01-01T00:00:00Z"
    workspace_id               = "00000002-0000-4000-8000-000000000000"
  }
}

mock_data "mailhost_forwarding" {
  defaults = {
    active                   = true
    created_at               = "2026-01-01T00:00:00Z"
    domain                   = "example.com"
    id                       = "00000005-0000-4000-8000-000000000000"
    scope_id                 = "00000003-0000-4000-8000-000000000000"
    scope_type               = "domain"
    target_email             = "archive@example.net"
    updated_at               = "2026-01-01T00:00:00Z"
    verification_expires_at  = "2026-01-04T00:00:00Z"
    verification_required    = true
    verification_sent_at     = "2026-01-01T00:00:00Z"
    verification_state       = "verified"
    verification_verified_at = "2026-01-01T00:00:00Z"
    workspace_id             = "00000002-0000-4000-8000-000000000000"
  }
}

mock_data "mailhost_mailbox" {
  defaults = {
    created_at    = "2026-01-01T00:00:00Z"
    domain        = "example.com"
    domain_id     = "00000003-0000-4000-8000-000000000000"
    domain_name   = "example.com"
    first_name    = "Jane"
    id            = "00000004-0000-4000-8000-000000000000"
    last_name     = "Doe"
    local_part    = "jane.doe"
    primary_email = "jane.doe@example.com"
    quota = {
      allowed = 10737418240
      used    = 0
    }
    status         = "active"
    updated_at     = "2026-01-01T00:00:00Z"
    workspace_id   = "00000002-0000-4000-8000-000000000000"
    workspace_name = "Default"
  }
}

mock_data "mailhost_mailbox_export" {
  defaults = {
    csv = "id,primary_email\n00000004-0000-4000-8000-000000000000,jane.doe@example.com\n"
  }
}

mock_data "mailhost_master_password" {
  defaults = {
    created_at   = "2026-01-01T00:00:00Z"
    domain       = "example.com"
    id           = "00000008-0000-4000-8000-000000000000"
    name         = "Backup"
    scope_id     = "00000003-0000-4000-8000-000000000000"
    scope_type   = "domain"
    updated_at   = "2026-01-01T00:00:00Z"
    workspace_id = "00000002-0000-4000-8000-000000000000"
  }
}

mock_data "mailhost_service_account" {
  defaults = {
    account_id         = "00000001-0000-4000-8000-000000000000"
    created_at         = "2026-01-01T00:00:00Z"
    created_by_user_id = "0000000a-0000-4000-8000-000000000000"
    expires_at         = "2027-01-01T00:00:00Z"
    id                 = "00000009-0000-4000-8000-000000000000"
    last_used_at       = null
    name               = "ci"
    revoked_at         = null
    revoked_by_user_id = null
    token_last4        = "oken"
    token_prefix       = "mhsa_"
    token_public_id    = "mocked"
    updated_at         = "2026-01-01T00:00:00Z"
  }
}
