import { isJsonObject } from '@bunting/contracts';
import { isReadableClaimText } from './readable-claim-text.ts';

type Claims = Readonly<Record<string, unknown>>;

/** The value at a path of names that dots separate. A name may itself contain dots, as `https://example.org/groups` does. */
const valueAt = (value: unknown, path: string): unknown => {
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
};

/** Maximum groups of one user that are read from a claim. */
const maxGroupsOfClaim = 5_000;

/**
 * The names of the groups in a claim, which is a string or an array of strings. A `$.` at the start of the path and `[*]` after the name of
 * an array are ignored.
 * @returns undefined where there is no such claim
 */
export const groupsIn = (claims: Claims, path: string): string[] | undefined => {
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
};

/**
 * Whether the provider left the groups out because there are too many of them, and refers to another source instead (OpenID Connect Core
 * 5.6.2, as Microsoft Entra ID does for more than 200 groups).
 */
export const hasOmittedGroups = (claims: Claims, path: string): boolean => {
  const [name = ''] = path
    .trim()
    .replace(/^\$\.?/, '')
    .split(/[.[]/);
  return (
    claims['hasgroups'] === true ||
    (isJsonObject(claims['_claim_names']) && Object.hasOwn(claims['_claim_names'], name))
  );
};
