/** Attributes of a user that an identity provider stores and Bunting does not use. */
export interface UnusedUserAttributes {
  readonly externalId?: string;
  readonly givenName?: string;
  readonly familyName?: string;
}

/** Attributes of a group that an identity provider stores and Bunting does not use. */
export interface UnusedGroupAttributes {
  readonly externalId?: string;
}
