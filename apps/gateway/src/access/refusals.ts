import { invalidProperty, notFound, refusal, type Refusal } from '@bunting/contracts';

export type LinkPurpose = 'set-password' | 'create-first-admin';

const anotherLink: Readonly<Record<LinkPurpose, string>> = {
  'set-password': 'Ask an administrator for another one.',
  'create-first-admin': 'Restart Bunting: it prints another one while it has no user.',
};

/** 401: a link that sets a password or creates the first administrator does not exist, or has expired. */
export function invalidLink(purpose: LinkPurpose): Refusal {
  return refusal('InvalidTokenError', `The link is not valid, or has expired. ${anotherLink[purpose]}`);
}

export function groupNotFound(): Refusal {
  return notFound('Could not find group');
}
export function roleNameTaken(name: string): Refusal {
  return refusal('NameExistsError', `There already exists a role with the name ${name}`);
}

/** 400 for a user or a group that a request names and that does not exist. */
export function unknownAssignee(type: 'user' | 'group', id: number): Refusal {
  return invalidProperty(`There is no ${type} ${id}`, `/body/${type}s`);
}

export function roleNotFound(): Refusal {
  return notFound('Could not find role');
}
export function userNotFound(): Refusal {
  return notFound('No user found');
}
export function inviteLinkNotFound(): Refusal {
  return notFound('Could not find the invitation link.');
}
/** 403 for settings that environment variables determine. */
export function oidcSettingsReadOnly(): Refusal {
  return refusal(
    'InvalidOperationError',
    'The variables OIDC_* give the settings of OpenID Connect: change them there, and restart the gateway.',
  );
}

export function wrongOldPassword(): Refusal {
  return refusal('PasswordMismatch', 'The old password is wrong: see the `/body/oldPassword` property.');
}

/** The refusal of the second of two concurrent changes of a password. */
export function passwordChangedConcurrently(): Refusal {
  return refusal(
    'ConflictError',
    'The password was changed by another request meanwhile. Try again with that password as the old one.',
  );
}

export function passwordPreviouslyUsed(): Refusal {
  return refusal(
    'PasswordPreviouslyUsedError',
    "You've previously used this password. Please use a new password: see the `/body/password` property.",
  );
}

/** 404 that does not quote the request, which may contain a secret. */
export function tokenNotFound(): Refusal {
  return notFound('Could not find the token');
}
export function patNotFound(): Refusal {
  return notFound('No PAT found with that id.');
}
