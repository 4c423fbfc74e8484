terraform {
  required_providers {
    unleash = { source = "unleash/unleash" }
  }
}

provider "unleash" {}

# The second apply of the journey changes what every resource can change.
variable "changed" {
  type    = bool
  default = false
}

data "unleash_role" "viewer" {
  name = "Viewer"
}

data "unleash_role" "owner" {
  name = "Owner"
}

data "unleash_permission" "turn_on" {
  name        = "UPDATE_FEATURE_ENVIRONMENT"
  environment = "development"
  lifecycle {
    postcondition {
      condition     = self.environment == "development"
      error_message = "The permission does not name its environment."
    }
  }
}

data "unleash_project" "default" {
  id = "default"
}

resource "unleash_environment" "lab" {
  name = "lab"
  type = var.changed ? "preproduction" : "test"
}

resource "unleash_project" "shop" {
  id          = "shop"
  name        = var.changed ? "Shop and stall" : "Shop"
  description = "Sells things"
  mode        = var.changed ? "protected" : "open"
  feature_naming = {
    pattern     = "^shop[.][a-z-]+$"
    example     = "shop.new-basket"
    description = "Flags begin with the project"
  }
  link_templates = [{
    title        = "Ticket"
    url_template = "https://tickets.example.org/{{feature}}"
  }]
}

resource "unleash_project_environment" "lab_of_shop" {
  project_id              = unleash_project.shop.id
  environment_name        = unleash_environment.lab.name
  change_requests_enabled = true
  required_approvals      = var.changed ? 2 : 1
}

resource "unleash_context_field" "tier" {
  name        = "tier"
  description = "What the customer pays for"
  stickiness  = var.changed
  legal_values = concat(
    [{ value = "free", description = "Pays nothing" }],
    var.changed ? [{ value = "gold", description = "Pays most" }] : [],
  )
}

resource "unleash_user" "ada" {
  name       = var.changed ? "Ada L." : "Ada"
  email      = "ada@example.org"
  root_role  = data.unleash_role.viewer.id
  send_email = false
}

resource "unleash_group" "team" {
  name         = "Team"
  description  = var.changed ? "Ships the shop" : "Builds the shop"
  mappings_sso = ["shop-team"]
  users        = [tonumber(unleash_user.ada.id)]
}

resource "unleash_role" "keeper" {
  name        = "Keeper"
  description = "Keeps the lab"
  type        = "custom"
  permissions = concat(
    [{ name = "CREATE_FEATURE" }, { name = "UPDATE_FEATURE_ENVIRONMENT", environment = unleash_environment.lab.name }],
    var.changed ? [{ name = "DELETE_FEATURE" }] : [],
  )
}

resource "unleash_project_access" "shop" {
  project = unleash_project.shop.id
  roles = [
    {
      role   = data.unleash_role.owner.id
      users  = [tonumber(unleash_user.ada.id)]
      groups = var.changed ? [tonumber(unleash_group.team.id)] : []
    },
  ]
}

# The provider cannot rename a service account: it sends the name that it has.
resource "unleash_service_account" "robot" {
  name      = "Robot"
  username  = "robot"
  root_role = data.unleash_role.viewer.id
}

resource "unleash_service_account_token" "robot" {
  service_account_id = unleash_service_account.robot.id
  description        = "The robot's key"
  expires_at         = "2048-01-01T00:00:00Z"
}

resource "unleash_api_token" "browser" {
  token_name  = "browser"
  type        = "frontend"
  expires_at  = var.changed ? "2049-01-01T00:00:00Z" : "2048-01-01T00:00:00Z"
  projects    = [unleash_project.shop.id]
  environment = "development"
}
