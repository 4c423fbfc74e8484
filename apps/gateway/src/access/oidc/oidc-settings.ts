import { invalidProperty, type OidcSettings, type OidcSettingsBody, refusal } from '@bunting/contracts';

/** The settings of OpenID Connect as they are stored, without the secret. */
export type OidcSettingsWithoutSecret = Omit<OidcSettings, 'enablePkce' | 'secret' | 'hasSecret' | 'isReadOnly'>;

export const defaultOidcSettings: OidcSettingsWithoutSecret = {
  enabled: false,
  discoverUrl: '',
  clientId: '',
  autoCreate: false,
  emailDomains: '',
  defaultRootRole: 'Viewer',
  defaultRootRoleId: null,
  enableSingleSignOut: false,
  addGroupsScope: false,
  enableGroupSyncing: false,
  groupJsonPath: 'groups',
  acrValues: '',
  idTokenSigningAlgorithm: 'RS256',
  extraScopes: '',
  trustEmails: false,
};

export interface OidcSettingsWithSecret extends OidcSettingsWithoutSecret {
  readonly secret: string | undefined;
}

export function oidcSettingsResponse({
  secret,
  ...values
}: OidcSettingsWithSecret & Pick<OidcSettings, 'isReadOnly'>): OidcSettings {
  return {
    ...values,
    enablePkce: true,
    secret: '',
    hasSecret: secret !== undefined && secret !== '',
  };
}

/** The members of a body that are settings. Others are not stored: a secret under a mistyped name would be shown. */
function settingsIn(body: OidcSettingsBody): Partial<OidcSettingsWithoutSecret> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(defaultOidcSettings, name)));
}

/**
 * The settings after a change. The stored secret is retained for the same client at the same provider only: otherwise it could be sent to
 * another host by changing the URL of the provider.
 * @throws Refusal 400 for settings that are enabled and not complete, or with which nobody could sign in
 */
export function mergeOidcSettings(before: OidcSettingsWithSecret, body: OidcSettingsBody): OidcSettingsWithSecret {
  const { secret } = body;
  const values = settingsIn(body);
  const { defaultRootRoleId = before.defaultRootRoleId } = values;
  // Terraform's provider sends 0 where its configuration names no role.
  const role = { defaultRootRoleId: defaultRootRoleId === 0 ? null : defaultRootRoleId };
  const merged = { ...before, ...values, ...role, discoverUrl: (values.discoverUrl ?? before.discoverUrl).trim() };
  const isSameClient = merged.discoverUrl === before.discoverUrl && merged.clientId === before.clientId;
  const after = { ...merged, secret: secret || (isSameClient ? before.secret : undefined) };
  // What is stored while sign-in is off is what every later reader gets.
  if (after.enabled || after.emailDomains !== before.emailDomains) requireDomains(after.emailDomains);
  if (!after.enabled) return after;
  if (after.discoverUrl === '') throw invalidProperty('The address of the provider must be given', '/body/discoverUrl');
  if (after.clientId === '') throw invalidProperty('The id of the client must be given', '/body/clientId');
  if (after.enableGroupSyncing && after.groupJsonPath.trim() === '')
    throw invalidProperty('The path of the claim with the groups must be given', '/body/groupJsonPath');
  return after;
}

/** @throws Refusal `ValidationError` for domains with which nobody could sign in: with another separator there is one, which nobody has */
function requireDomains(emailDomains: string): void {
  const noDomain = emailDomains.split(',').find((domain) => /\S\s+\S|[;/:*]|\S@/.test(domain));
  if (noDomain === undefined) return;
  throw invalidProperty(
    `“${noDomain.trim().slice(0, 100)}” is no domain: they are written as example.org, example.com`,
    '/body/emailDomains',
  );
}

/**
 * Requires that the provider of the settings is the one that was checked before the transaction, which must not wait for another host.
 * @throws Refusal `ConflictError` when another request has changed the URL of the provider since
 */
export function requireCheckedProvider(checked: OidcSettingsWithSecret, after: OidcSettingsWithSecret): void {
  if (!after.enabled || after.discoverUrl === checked.discoverUrl) return;
  throw refusal('ConflictError', 'The settings were changed at the same time. Try again.', { retryAfterSeconds: 1 });
}

/** Turning passwords off needs another way to sign in. @throws Refusal `InvalidOperationError` while OpenID Connect is off */
export function requireOidcToDisablePasswords({ enabled }: Pick<OidcSettingsWithSecret, 'enabled'>): void {
  if (enabled) return;
  throw refusal(
    'InvalidOperationError',
    'Passwords cannot be turned off while users cannot sign in with OpenID Connect. Turn that on first.',
  );
}
