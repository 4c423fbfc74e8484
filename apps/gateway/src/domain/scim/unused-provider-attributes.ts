/** Attributes of a user that an identity provider stores and Bunting does not use. */
export interface UnusedUserAttributes {
  readonly externalId?: string;
  readonly givenName?: string;
  readonly familyName?: string;
  /** what it says of the e-mail address; `work` and primary where it says nothing */
  readonly email?: { readonly type?: string; readonly primary?: boolean };
}

/** Attributes of a group that an identity provider stores and Bunting does not use. */
export interface UnusedGroupAttributes {
  readonly externalId?: string;
}
