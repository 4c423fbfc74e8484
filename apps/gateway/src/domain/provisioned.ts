/** What an identity provider stores with a user beside the properties that Bunting uses. */
export interface ProvisionedUser {
  readonly externalId?: string;
  readonly givenName?: string;
  readonly familyName?: string;
}

/** What an identity provider stores with a group beside the properties that Bunting uses. */
export interface ProvisionedGroup {
  readonly externalId?: string;
}
