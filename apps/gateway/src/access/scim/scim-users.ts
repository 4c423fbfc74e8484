import { isJsonObject, type User } from '@bunting/contracts';
import { scimPatch, type ScimPatchOperation } from 'scim-patch';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import { predefinedRole } from '../roles/role.ts';
import { accountCreated, accountUpdated, namesFault, optionalEmail, type UserNames } from '../users/account.ts';
import { removeAccount } from '../users/endpoints.ts';
import {
  invalidValue,
  notFoundResource,
  parsePatchOperations,
  type PatchOperation,
  ScimError,
} from './scim-request.ts';
import type { ScimUserRow } from './scim-store.ts';

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';

interface ScimUserInput extends UserNames {
  readonly active: boolean;
  readonly provisioned: UnusedUserAttributes;
}

type Attributes = Record<string, unknown>;
interface Email {
  readonly value?: unknown;
  readonly type?: unknown;
  readonly primary?: unknown;
}
interface UserAttributes {
  externalId?: unknown;
  userName?: unknown;
  displayName?: unknown;
  active?: unknown;
  name?: { formatted?: unknown; givenName?: unknown; familyName?: unknown };
  emails?: Email[];
}

function scimUserNameOf({ username, email, id }: ScimUserRow): string {
  return username ?? email ?? `user-${id}`;
}

function attributesOf(row: ScimUserRow): UserAttributes {
  const { name, email, provisioned, isActive } = row;
  const { externalId, givenName, familyName, email: provisionedEmail = {} } = provisioned ?? {};
  const emails = email === null ? [] : [{ value: email, type: 'work', primary: true, ...provisionedEmail }];
  const names = {
    ...(name === null ? {} : { formatted: name }),
    ...(givenName === undefined ? {} : { givenName }),
    ...(familyName === undefined ? {} : { familyName }),
  };
  return {
    ...(externalId === undefined ? {} : { externalId }),
    userName: scimUserNameOf(row),
    ...(name === null ? {} : { displayName: name }),
    ...(Object.keys(names).length === 0 ? {} : { name: names }),
    ...(emails.length === 0 ? {} : { emails }),
    active: isActive,
  };
}

export function userResource(row: ScimUserRow, base: string): object {
  return {
    schemas: [userSchema],
    id: String(row.id),
    ...attributesOf(row),
    groups: row.groups.map(({ id, name }) => ({ value: String(id), display: name, $ref: `${base}/Groups/${id}` })),
    meta: { resourceType: 'User', created: row.createdAt, location: `${base}/Users/${row.id}` },
  };
}

const attributeNames: Readonly<Record<string, string>> = {
  externalid: 'externalId',
  username: 'userName',
  displayname: 'displayName',
  active: 'active',
  name: 'name',
  emails: 'emails',
  'name.formatted': 'name.formatted',
  'name.givenname': 'name.givenName',
  'name.familyname': 'name.familyName',
};
const emailsPath = /^emails(\[(?:type eq "[\w-]{1,50}"|primary eq true)\])?(\.(?:value|type|primary))?$/i;

const filteredEmailsPath = /^emails\s*\[/i;
const readableFilter = /^emails\[(?:type eq "[\w-]{1,50}"|primary eq true)\](?:\.\w+)?$/i;

/** Refuses a filter of addresses that cannot be read: accepted without effect, it would leave an address that the provider has replaced. */
function requireReadableFilter(path: string): void {
  const attributePath = path.replace(new RegExp(`^${userSchema}:`, 'i'), '');
  if (!filteredEmailsPath.test(attributePath) || readableFilter.test(attributePath)) return;
  throw new ScimError(
    400,
    `E-mail addresses are found by their type or as the primary one, not by ${path}.`,
    'invalidFilter',
  );
}

/**
 * The path of an attribute that Bunting uses, in its standard spelling; undefined for others, which are accepted without effect. Nothing else
 * reaches the library that applies patches.
 */
function knownPath(path: string): string | undefined {
  const attributePath = path.replace(new RegExp(`^${userSchema}:`, 'i'), '');
  if (emailsPath.test(attributePath))
    return attributePath.replace(/^emails/i, 'emails').replace(/\.\w+$/, (part) => part.toLowerCase());
  const key = attributePath.toLowerCase();
  return Object.hasOwn(attributeNames, key) ? attributeNames[key] : undefined;
}

function textIn(value: unknown, attribute: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidValue(`${attribute} must be text.`);
  const text = value.normalize('NFC').trim();
  if (text.length > 255) throw invalidValue(`${attribute} must have at most 255 characters.`);
  return text === '' ? undefined : text;
}

/** A boolean, which some clients send as text. */
function booleanIn(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw invalidValue('active must be true or false.');
  return text === 'true';
}

/** A user has ten attributes that Bunting uses: more values or operations than this are no user, and take quadratic time. */
const maxValues = 100;

/** The e-mail addresses in a value. Clients send a list of objects, but also one object, or the address alone. */
function emailsIn(value: unknown): Email[] {
  const emails: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (emails.length > maxValues) throw invalidValue(`emails can have at most ${maxValues} values.`);
  return emails.flatMap((email): Email[] => {
    if (typeof email === 'string') return [{ value: email }];
    if (!isJsonObject(email)) return [];
    const { value: address, type, primary } = email;
    return [{ value: address, type, primary }];
  });
}

/** The attributes of a body in their standard spelling, without those that Bunting does not use. */
function attributesIn(body: Attributes): UserAttributes {
  const attributes: Attributes = {};
  for (const [key, value] of Object.entries(body)) {
    const path = knownPath(key);
    if (path === undefined) continue;
    if (path === 'emails') {
      attributes['emails'] = emailsIn(value);
    } else if (path === 'name' && isJsonObject(value)) {
      const names = Object.entries(value).flatMap(([part, text]) => {
        const attributePath = knownPath(`name.${part}`);
        return attributePath === undefined ? [] : [[attributePath.slice('name.'.length), text]];
      });
      attributes['name'] = { ...(attributes['name'] as object | undefined), ...Object.fromEntries(names) };
    } else if (path.startsWith('name.')) {
      attributes['name'] = { ...(attributes['name'] as object | undefined), [path.slice('name.'.length)]: value };
    } else if (!path.includes('.') && !path.includes('[') && path !== 'name') attributes[path] = value;
  }
  return attributes;
}

/** What the provider says of the e-mail address that Bunting stores. */
function emailPropertiesIn({ type, primary }: Email): NonNullable<UnusedUserAttributes['email']> {
  const typeText = typeof type === 'string' ? textIn(type, 'The type of emails') : undefined;
  return {
    ...(typeText === undefined || typeText === 'work' ? {} : { type: typeText }),
    ...(primary === false || (typeof primary === 'string' && primary.toLowerCase() === 'false')
      ? { primary: false }
      : {}),
  };
}

/**
 * The e-mail address that Bunting stores of those in a body: the primary one, else that for work, else the first. A primary one that is added
 * takes the place of the one before.
 */
function chosenEmailIn(attributes: UserAttributes): Email | undefined {
  const emails = (attributes.emails ?? []).filter(({ value }) => value !== undefined && value !== null && value !== '');
  const isPrimary = ({ primary }: Email) =>
    primary === true || (typeof primary === 'string' && primary.toLowerCase() === 'true');
  return emails.findLast(isPrimary) ?? emails.find(({ type }) => type === 'work') ?? emails[0];
}

function namesIn({ displayName, name = {} }: UserAttributes): (string | undefined)[] {
  const parts = [textIn(name.givenName, 'name.givenName'), textIn(name.familyName, 'name.familyName')];
  const joined = parts.filter((part) => part !== undefined).join(' ');
  return [
    textIn(displayName, 'displayName'),
    textIn(name.formatted, 'name.formatted'),
    joined === '' ? undefined : textIn(joined, 'The name'),
  ];
}

/**
 * The name: the first of its sources that changed, or else the first that has a value. Bunting has one name, which is `displayName` and
 * `name.formatted`: whoever removes one of them removes both.
 */
function nameIn(attributes: UserAttributes, before: UserAttributes | undefined): string | null {
  const names = namesIn(attributes);
  const namesBefore = before === undefined ? [] : namesIn(before);
  const changed = names.find((name, index) => name !== undefined && name !== namesBefore[index]);
  if (before !== undefined && changed !== undefined) return changed;
  const isRemoved = [0, 1].some((index) => namesBefore[index] !== undefined && names[index] === undefined);
  return (isRemoved ? undefined : names.find((name) => name !== undefined)) ?? null;
}

function inputFrom(attributes: UserAttributes, before?: ScimUserRow): ScimUserInput {
  const userName = textIn(attributes.userName, 'userName');
  if (userName === undefined) throw invalidValue('userName is required.');
  const attributesBefore = before === undefined ? undefined : attributesOf(before);
  const address = userName.includes('@') ? (optionalEmail(userName) ?? undefined) : undefined;
  const chosenEmail = chosenEmailIn(attributes);
  const requestedEmail = optionalEmail(textIn(chosenEmail?.value, 'The value of emails')) ?? undefined;
  // An e-mail address that only repeats the user name changes with it.
  const followsUserName =
    before !== undefined && requestedEmail === before.email && before.email === scimUserNameOf(before).toLowerCase();
  const email = (followsUserName ? address : undefined) ?? requestedEmail ?? address ?? null;
  const username = before?.username === null && userName.toLowerCase() === email ? null : userName;
  const fault = namesFault({ username, email });
  const isChanged = username !== before?.username || email !== before.email;
  if (isChanged && fault !== undefined)
    throw invalidValue(`${fault.reason}: see the attribute \`${email === address ? 'userName' : 'emails'}\`.`);
  const emailProperties = email === null || chosenEmail === undefined ? {} : emailPropertiesIn(chosenEmail);
  const { givenName, familyName } = attributes.name ?? {};
  const [externalId, givenNameText, familyNameText] = [
    textIn(attributes.externalId, 'externalId'),
    textIn(givenName, 'name.givenName'),
    textIn(familyName, 'name.familyName'),
  ];
  return {
    username,
    email,
    name: nameIn(attributes, attributesBefore),
    // A deactivated user stays so until the provider says otherwise.
    active: attributes.active === undefined ? (before?.isActive ?? true) : booleanIn(attributes.active),
    provisioned: {
      ...(externalId === undefined ? {} : { externalId }),
      ...(givenNameText === undefined ? {} : { givenName: givenNameText }),
      ...(familyNameText === undefined ? {} : { familyName: familyNameText }),
      ...(Object.keys(emailProperties).length === 0 ? {} : { email: emailProperties }),
    },
  };
}

/** The user that the body of a POST or PUT describes. @throws ScimError 400 */
function parseScimUser(body: unknown, before?: ScimUserRow): ScimUserInput {
  if (!isJsonObject(body)) throw new ScimError(400, 'The body must be a user.', 'invalidSyntax');
  return inputFrom(attributesIn(body), before);
}

/** What an operation of a PATCH does at a path; nothing where Bunting does not have the attribute. */
function patchAt(op: 'add' | 'replace' | 'remove', path: string, value: unknown): ScimPatchOperation[] {
  requireReadableFilter(path);
  const attributePath = knownPath(path);
  if (attributePath === undefined) return [];
  if (op === 'remove') return [{ op, path: attributePath }];
  const isComplex = attributePath === 'name' || attributePath === 'emails';
  const standardValue = isComplex ? attributesIn({ [attributePath]: value })[attributePath] : value;
  return [{ op, path: attributePath, value: standardValue }];
}

function patchesOf({ op, path, value }: PatchOperation): ScimPatchOperation[] {
  if (path === undefined || path === '') {
    if (op === 'remove') throw new ScimError(400, 'A removal needs a path.', 'invalidPath');
    if (!isJsonObject(value)) throw invalidValue('An operation without a path needs an object as its value.');
    // Microsoft Entra ID sends paths as its keys, such as `emails[type eq "work"].value`.
    return Object.entries(value).flatMap(([key, valueAtKey]) => patchAt(op, key, valueAtKey));
  }
  if (typeof path !== 'string' || path.length > 255) throw new ScimError(400, 'path must be text.', 'invalidPath');
  return patchAt(op, path, value);
}

/**
 * A user without an address gets one by a replacement, as Microsoft Entra ID expects; but an address of another type or rank than the
 * stored one is no target (RFC 7644, 3.5.2.3).
 * @throws ScimError 400 `noTarget`
 */
function requireEmailTarget(row: ScimUserRow, operations: readonly ScimPatchOperation[]): void {
  const first = operations.find(({ path = '' }) => path.startsWith('emails'));
  const [, type] = /^emails\[(?:type eq "([^"]*)"|primary eq true)\]/i.exec(first?.path ?? '') ?? [];
  const [email] = attributesOf(row).emails ?? [];
  if (first?.op !== 'replace' || !first.path?.startsWith('emails[') || email === undefined) return;
  const isTarget =
    type === undefined ? email.primary === true : String(email.type).toLowerCase() === type.toLowerCase();
  if (!isTarget) throw new ScimError(400, `The user has no e-mail address at ${first.path}.`, 'noTarget');
}

/** The user after the operations of a PATCH. Attributes that Bunting does not use are accepted without effect. @throws ScimError 400 */
function applyUserPatch(row: ScimUserRow, body: unknown): ScimUserInput {
  const operations = parsePatchOperations(body).flatMap(patchesOf);
  requireEmailTarget(row, operations);
  if (operations.length > maxValues)
    throw invalidValue(`A PATCH of a user can change at most ${maxValues} attributes.`);
  const resource = {
    schemas: [userSchema],
    meta: { created: new Date(row.createdAt), lastModified: new Date(row.createdAt) },
    ...attributesOf(row),
  };
  let patched: Attributes;
  try {
    patched = { ...scimPatch(resource, operations, { mutateDocument: false, treatMissingAsAdd: true }) };
  } catch (error) {
    throw new ScimError(400, `The patch cannot be applied: ${(error as Error).message}`.slice(0, 300), 'invalidPath');
  }
  // A path with a filter may have stored a value of any type in the list.
  return inputFrom(attributesIn(patched), row);
}

/** A user as identity providers see it. @throws ScimError 404 */
export async function getScimUser({ scim }: Pick<GatewayReads, 'scim'>, id: number): Promise<ScimUserRow> {
  const row = await scim.findUser(id);
  if (row === undefined) throw notFoundResource('user', String(id));
  return row;
}

async function getUserForUpdate({ users }: Transaction, id: number): Promise<User> {
  const user = await users.findForUpdate(id, { only: 'users' });
  if (user === undefined) throw notFoundResource('user', String(id));
  return user;
}

/** Creates a user with the root role Viewer. @throws ScimError 409 for a user name or an e-mail address that is taken */
export async function createScimUser(tx: Transaction, body: unknown): Promise<ScimUserRow> {
  const input = parseScimUser(body);
  const account = { accountType: 'User', rootRole: predefinedRole.viewer, isActive: input.active } as const;
  const user = await tx.users.add(input, account, (created) => [accountCreated(created)]);
  await tx.scim.setProvisionedUser(user.id, input.provisioned);
  return getScimUser(tx, user.id);
}

async function changeUser(
  tx: Transaction,
  id: number,
  inputOf: (row: ScimUserRow) => ScimUserInput,
): Promise<ScimUserRow> {
  const before = await getUserForUpdate(tx, id);
  const { name, username, email, active, provisioned } = inputOf(await getScimUser(tx, id));
  const update = { name, username, email, rootRole: before.rootRole, active };
  await tx.users.save(id, update, (stored) => accountUpdated(before, stored));
  await tx.scim.setProvisionedUser(id, provisioned);
  return getScimUser(tx, id);
}

/** Replaces what an identity provider manages of a user. Deactivation ends the sessions and suspends the keys immediately. */
export function replaceScimUser(tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> {
  return changeUser(tx, id, (row) => parseScimUser(body, row));
}

/** Applies a patch to a user. Deactivation ends the sessions and suspends the keys immediately. */
export function patchScimUser(tx: Transaction, id: number, body: unknown): Promise<ScimUserRow> {
  return changeUser(tx, id, (row) => applyUserPatch(row, body));
}

export async function deleteScimUser(tx: Transaction, id: number): Promise<null> {
  return removeAccount(tx, await getUserForUpdate(tx, id));
}

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
