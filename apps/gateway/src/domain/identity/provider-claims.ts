import { groupsIn } from './group-claims.ts';
import type { OidcClientSettings } from './oidc-settings.ts';

type Claims = Readonly<Record<string, unknown>>;
type Settings = Pick<OidcClientSettings, 'enableGroupSyncing' | 'groupJsonPath' | 'trustEmails'>;

/** What the claims of a provider say about a user. */
export interface ProviderClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  /** the e-mail address, only if it is verified */
  readonly email: string | null;
  readonly hasUnverifiedEmail: boolean;
  /** undefined where groups are not synchronised */
  readonly groups: readonly string[] | undefined;
}

const textOf = (value: unknown): string | null => {
  const text = typeof value === 'string' ? value.normalize('NFC').trim() : '';
  const isStorable = ![...text].some((character) => character < ' ' || character === '\u007f');
  return text === '' || text.length > 255 || !isStorable ? null : text;
};

/** Whether an ID token lacks what the settings need, so that the claims of the user are requested from the provider. */
export const lacksUserClaims = (claims: Claims, { enableGroupSyncing, groupJsonPath }: Settings): boolean =>
  claims['email'] === undefined || (enableGroupSyncing && groupsIn(claims, groupJsonPath) === undefined);

/** What an ID token says about its subject, and what the provider says beside it; undefined where it was not requested. */
export const providerClaims = (
  claims: Claims & { readonly iss: string; readonly sub: string },
  userInfo: Claims | undefined,
  { enableGroupSyncing, groupJsonPath, trustEmails }: Settings,
): ProviderClaims => {
  // The source of the address also says whether it is verified.
  const source = claims['email'] === undefined ? userInfo : claims;
  const email = textOf(source?.['email'])?.toLowerCase() ?? null;
  const verified = source?.['email_verified'];
  const isVerified = verified === true || verified === 'true' || (verified === undefined && trustEmails);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    name: textOf(claims['name']) ?? textOf(userInfo?.['name']),
    email: isVerified ? email : null,
    hasUnverifiedEmail: email !== null && !isVerified,
    groups: enableGroupSyncing
      ? (groupsIn(claims, groupJsonPath) ?? (userInfo === undefined ? [] : groupsIn(userInfo, groupJsonPath)) ?? [])
      : undefined,
  };
};
