import { type Caller, invalidProperty, refusal, type UpdateUserBody, type User } from '@bunting/contracts';
import { type GatewayEvent, eventsOfUpdate } from '../gateway-event.ts';
import { namesFault, optionalEmail, optionalName } from '../../access/users/account.ts';

/** Whether the caller is a user or a service account; an admin token has no account, and so no PATs and no favourites. */
export const hasAccount = ({ id }: Pick<Caller, 'id'>): boolean => id > 0;

/** @throws Refusal 403 for a caller without an account */
export const requireAccount = (caller: Caller): void => {
  if (!hasAccount(caller)) throw refusal('ForbiddenError', 'PATs require an authenticated user.');
};

/** The data of a user or a service account in events. */
const eventData = ({ id, name, username, email, rootRole, active }: User) => ({
  id,
  name,
  username,
  email,
  rootRole,
  active,
});

const eventPrefix = ({ accountType }: User): 'user' | 'service-account' =>
  accountType === 'Service Account' ? 'service-account' : 'user';

/** The event of a user or a service account that is created. */
export const accountCreated = (account: User): GatewayEvent => ({
  type: `${eventPrefix(account)}-created`,
  data: eventData(account),
});

/** The event of a user or a service account that is updated; none if nothing changes. */
export const accountUpdated = (before: User, after: User): readonly GatewayEvent[] =>
  eventsOfUpdate({ type: `${eventPrefix(after)}-updated`, data: eventData(after), preData: eventData(before) });

/** The event of a user or a service account that is deleted. */
export const accountDeleted = (account: User): GatewayEvent => ({
  type: `${eventPrefix(account)}-deleted`,
  preData: eventData(account),
});

const updatedText = (requested: string | null | undefined, before: string | undefined): string | null =>
  requested === undefined ? (before ?? null) : optionalName(requested);

/**
 * The properties of a user or a service account after an update, without the root role. Those that the request omits stay.
 * @throws Refusal 400 for a malformed e-mail address, and for a user that would have neither a username nor an e-mail address
 */
export const updatedAccount = (before: User, body: UpdateUserBody) => {
  const email = body.email === undefined ? (before.email ?? null) : optionalEmail(body.email);
  const fault = namesFault({ username: before.username ?? null, email });
  if (body.email !== undefined && fault !== undefined) throw invalidProperty(fault.reason, '/body/email');
  return { name: updatedText(body.name, before.name), email, active: body.active ?? before.active };
};
