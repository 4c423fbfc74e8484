import type { EventContent } from '@bunting/contracts';
import {
  type Caller,
  type CreateUserBody,
  invalidProperty,
  refusal,
  Refusal,
  type UpdateUserBody,
  type User,
} from '@bunting/contracts';
import { eventsOfUpdate } from '../events.ts';

/** The names of a user or a service account. */
export interface UserNames {
  readonly name: string | null;
  readonly username: string | null;
  readonly email: string | null;
}

/** The name of a user in events. */
export function nameInEvents({ name, username, email }: UserNames): string {
  return email ?? username ?? name ?? 'unknown';
}

/** The name of a user as a creator and collaborator of a feature, and as an owner of a project. */
export function displayNameOf({ name, username, email }: UserNames): string {
  return name ?? username ?? email ?? 'unknown';
}

/** The user name of a user as an author in a change request: an e-mail address only if the user has nothing else. */
export function authorNameOf({ name, username, email }: UserNames): string {
  return username ?? name ?? email ?? 'unknown';
}

/** A name or e-mail address of a request, trimmed and with composed characters (NFC), so that one name has one spelling. */
export function normalisedName(text: string): string {
  return text.trim().normalize('NFC');
}

/** The normalised name; null for a missing or empty one. */
export function optionalName(text: string | null | undefined): string | null {
  return (text == null ? undefined : normalisedName(text)) || null;
}

/** A domain in its one spelling: with Punycode for other letters than those of ASCII; as it is where it is none. */
export function canonicalDomain(domain: string): string {
  const lowered = domain.toLowerCase();
  const isInternational = /[^\0-\x7f]/.test(lowered) && /^[\p{L}\p{M}\p{N}.-]+$/u.test(lowered);
  const url = `http://${lowered}`;
  return isInternational && URL.canParse(url) ? new URL(url).hostname : lowered;
}

/** The normalised e-mail address in lower case, so that one address has one spelling; null for a missing or empty one. */
export function optionalEmail(text: string | null | undefined): string | null {
  const name = optionalName(text)?.toLowerCase();
  if (name === undefined) return null;
  const at = name.lastIndexOf('@') + 1;
  return name.slice(0, at) + canonicalDomain(name.slice(at));
}

/** A text by which a user signs in: the e-mail address, or the username. */
export function signInName(text: string): string {
  return (text.includes('@') ? optionalEmail(text) : undefined) ?? normalisedName(text);
}

/** Why names are not accepted. The input of a caller may call the field differently. */
export interface NamesFault {
  readonly reason: string;
  readonly field: 'username' | 'email';
}

// The rule of `<input type="email">` in HTML, with letters beyond ASCII before the `@`; canonicalDomain has replaced those behind it.
const localPart = /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u;
const domainLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a text that `optionalEmail` has returned is one e-mail address. */
function isEmailAddress(email: string): boolean {
  const at = email.lastIndexOf('@');
  return (
    localPart.test(email.slice(0, Math.max(at, 0))) &&
    email
      .slice(at + 1)
      .split('.')
      .every((label) => domainLabel.test(label))
  );
}

/** What is wrong with the names of an account, which needs a username or an e-mail address; undefined for valid ones. */
export function namesFault({ username, email }: Pick<UserNames, 'username' | 'email'>): NamesFault | undefined {
  if (username === null && email === null) return { reason: 'You must specify username or email', field: 'username' };
  if (email !== null && !isEmailAddress(email)) return { reason: 'The email must be an address', field: 'email' };
  return undefined;
}

/**
 * The names of a new account in a body, normalised.
 * @throws Refusal 400 without a username and an e-mail address, and for a malformed address
 */
export function parseUserNames({
  name,
  username,
  email,
}: Partial<Pick<CreateUserBody, 'name' | 'username' | 'email'>>): UserNames {
  const names = { name: optionalName(name), username: optionalName(username), email: optionalEmail(email) };
  const fault = namesFault(names);
  if (fault !== undefined) throw invalidProperty(fault.reason, `/body/${fault.field}`);
  return names;
}

/** Whether the caller is a user or a service account; an admin token has no account, and so no PATs and no favourites. */
export function hasAccount({ id }: Pick<Caller, 'id'>): boolean {
  return id > 0;
}

/** @throws Refusal 403 for a caller without an account */
export function requireAccount(caller: Caller): void {
  if (!hasAccount(caller)) throw refusal('ForbiddenError', 'PATs require an authenticated user.');
}

/** The data of a user or a service account in events. */
function eventData({ id, name, username, email, rootRole, active }: User) {
  return {
    id,
    name,
    username,
    email,
    rootRole,
    active,
  };
}

function eventPrefix({ accountType }: User): 'user' | 'service-account' {
  return accountType === 'Service Account' ? 'service-account' : 'user';
}

/** The event of a user or a service account that is created. */
export function accountCreated(account: User): EventContent {
  return {
    type: `${eventPrefix(account)}-created`,
    data: eventData(account),
  };
}

/** The event of a user or a service account that is updated; none if nothing changes. */
export function accountUpdated(before: User, after: User): readonly EventContent[] {
  return eventsOfUpdate({ type: `${eventPrefix(after)}-updated`, data: eventData(after), preData: eventData(before) });
}

/** The event of a user or a service account that is deleted. */
export function accountDeleted(account: User): EventContent {
  return {
    type: `${eventPrefix(account)}-deleted`,
    preData: eventData(account),
  };
}

function updatedText(requested: string | null | undefined, before: string | undefined): string | null {
  return requested === undefined ? (before ?? null) : optionalName(requested);
}

/**
 * The properties of a user or a service account after an update, without the root role. Those that the request omits stay.
 * @throws Refusal 400 for a malformed e-mail address, and for a user that would have neither a username nor an e-mail address
 */
export function updatedAccount(before: User, body: UpdateUserBody) {
  const email = body.email === undefined ? (before.email ?? null) : optionalEmail(body.email);
  const fault = namesFault({ username: before.username ?? null, email });
  if (body.email !== undefined && fault !== undefined) throw invalidProperty(fault.reason, '/body/email');
  return { name: updatedText(body.name, before.name), email, active: body.active ?? before.active };
}

/**
 * 400 for a username or an e-mail address that another account has. It is a class of its own, because SCIM responds with another status,
 * 409.
 */
export class AccountExistsRefusal extends Refusal {
  constructor(field: 'username' | 'email') {
    const { kind, message, details } = invalidProperty('User already exists', `/body/${field}`);
    super(kind, message, { details });
  }
}
