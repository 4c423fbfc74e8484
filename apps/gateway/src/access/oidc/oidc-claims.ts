import { isJsonObject } from '@bunting/contracts';
import { namesFault, optionalEmail } from '../users/account.ts';
import type { OidcSettingsWithSecret } from './oidc-settings.ts';

/** Whether PostgreSQL stores a text of a provider unchanged, and people can read it: it has no control character and no lone surrogate. */
export function isReadableClaimText(text: string): boolean {
  return text.isWellFormed() && [...text].every((character) => character >= ' ' && character !== '\u007f');
}

/** The value at a path of names that dots separate. A name may itself contain dots, as `https://example.org/groups` does. */
function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  if (Array.isArray(value)) return value.flatMap((item) => valueAt(item, path) ?? []);
  if (!isJsonObject(value)) return undefined;
  if (Object.hasOwn(value, path)) return value[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(value, name)) continue;
    const member = valueAt(value[name], path.slice(dot + 1));
    if (member !== undefined) return member;
  }
  return undefined;
}

/** Maximum groups of one user that are read from a claim. */
const maxGroupsOfClaim = 5_000;

/**
 * The names of the groups in a claim, which is a string or an array of strings. A `$.` at the start of the path and `[*]` after the name of
 * an array are ignored.
 * @returns undefined where there is no such claim
 */
export function groupsIn(claims: Claims, path: string): string[] | undefined {
  const claim = valueAt(
    claims,
    path
      .trim()
      .replace(/^\$\.?/, '')
      .replaceAll('[*]', ''),
  );
  if (claim === undefined || claim === null) return undefined;
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const names = values
    .filter((name) => typeof name === 'string')
    .filter((name) => name !== '' && isReadableClaimText(name));
  return [...new Set(names)].slice(0, maxGroupsOfClaim);
}

/**
 * Whether the provider left the groups out because there are too many of them, and refers to another source instead (OpenID Connect Core
 * 5.6.2, as Microsoft Entra ID does for more than 200 groups).
 */
export function hasOmittedGroups(claims: Claims, path: string): boolean {
  const [name = ''] = path
    .trim()
    .replace(/^\$\.?/, '')
    .split(/[.[]/);
  return (
    claims['hasgroups'] === true ||
    (isJsonObject(claims['_claim_names']) && Object.hasOwn(claims['_claim_names'], name))
  );
}

type Claims = Readonly<Record<string, unknown>>;
type Settings = Pick<OidcSettingsWithSecret, 'enableGroupSyncing' | 'groupJsonPath' | 'trustEmails'>;

/** The claims of an OpenID provider about a user, as far as Bunting uses them. */
export interface OidcUserClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  /** the e-mail address, only if it is verified */
  readonly email: string | null;
  readonly hasUnverifiedEmail: boolean;
  /** undefined where groups are not synchronised */
  readonly groups: readonly string[] | undefined;
}

/** Maximum characters of a name and of an e-mail address. */
const maxLength = 255;

/** The text of a claim, trimmed; null for an empty one, and for one that cannot be stored as a name or an e-mail address. */
function textOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text.length > maxLength || !isReadableClaimText(text) ? null : text;
}

function nameOf(value: unknown): string | null {
  return textOf(value)?.normalize('NFC') ?? null;
}

/**
 * The e-mail address of a claim, in the one spelling of each address; null for a text that is none. Unicode replaces some characters by
 * others, as the Kelvin sign by `K`: an address with one is another address to the provider, and must not open the account of the replaced one.
 */
function emailOf(value: unknown): string | null {
  const text = textOf(value);
  if (text === null || [...text].some((character) => character.normalize('NFKC') !== character)) return null;
  const email = optionalEmail(text);
  return namesFault({ username: null, email }) === undefined ? email : null;
}

/** Whether an ID token lacks claims that the settings need, so that they are requested from the UserInfo endpoint of the provider. */
export function lacksUserClaims(claims: Claims, { enableGroupSyncing, groupJsonPath }: Settings): boolean {
  return claims['email'] === undefined || (enableGroupSyncing && groupsIn(claims, groupJsonPath) === undefined);
}

/**
 * Combines the claims of an ID token and of the UserInfo endpoint about its subject.
 * @param userInfo undefined where the endpoint was not called
 */
export function oidcUserClaims(
  claims: Claims & { readonly iss: string; readonly sub: string },
  userInfo: Claims | undefined,
  { enableGroupSyncing, groupJsonPath, trustEmails }: Settings,
): OidcUserClaims {
  // The source of the e-mail address also says whether it is verified.
  const source = claims['email'] === undefined ? userInfo : claims;
  const email = emailOf(source?.['email']);
  const verified = source?.['email_verified'];
  const isVerified = verified === true || verified === 'true' || (verified === undefined && trustEmails);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    name: nameOf(claims['name']) ?? nameOf(userInfo?.['name']),
    email: isVerified ? email : null,
    hasUnverifiedEmail: email !== null && !isVerified,
    groups: enableGroupSyncing
      ? (groupsIn(claims, groupJsonPath) ?? (userInfo === undefined ? [] : groupsIn(userInfo, groupJsonPath)) ?? [])
      : undefined,
  };
}
