/** Attributes of a user that an identity provider stores and Bunting does not use. */
export interface ProvisionedUser {
  readonly externalId?: string;
  readonly givenName?: string;
  readonly familyName?: string;
}

/** Attributes of a group that an identity provider stores and Bunting does not use. */
export interface ProvisionedGroup {
  readonly externalId?: string;
}
