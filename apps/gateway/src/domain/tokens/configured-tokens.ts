import { type TokenKind, type TokenScope, wildcard } from './token-scope.ts';

/** A token from the settings, whose secret the operator chose. */
export interface ConfiguredToken extends TokenScope {
  readonly secret: string;
}

/** A token that is stored with the secret of a setting. */
export interface StoredConfiguredToken {
  readonly id: string;
  readonly kind: TokenKind;
  readonly maskedSecret: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
  /** marks the token of the current value of `BUNTING_ADMIN_TOKEN`, and those of its replaced values */
  readonly configured: 'current' | 'replaced' | null;
}

/**
 * What a start does about the stored token that has the secret of `BUNTING_ADMIN_TOKEN`, undefined where there is none. A token that an
 * administrator has revoked stays revoked, and an SDK token stays one; in both cases the tokens of earlier values of the setting stay
 * valid. A token that was revoked because another value of the setting replaced it becomes valid again.
 */
export const adminTokenAction = (
  stored: StoredConfiguredToken | undefined,
): 'add' | 'keep' | 'mark-as-current' | 'restore' | 'stays-revoked' | 'of-another-kind' => {
  if (stored === undefined) return 'add';
  const { kind, revokedAt, configured } = stored;
  if (kind !== 'admin') return 'of-another-kind';
  if (revokedAt !== null) return configured === 'replaced' ? 'restore' : 'stays-revoked';
  return configured === 'current' ? 'keep' : 'mark-as-current';
};

/** The tokens of the settings. */
export interface ConfiguredTokens {
  /** the admin token that every start ensures */
  readonly adminToken: string | undefined;
  /** tokens that are created by a start that finds no token; each secret once */
  readonly initial: readonly ConfiguredToken[];
}

interface Settings {
  readonly BUNTING_ADMIN_TOKEN?: string;
  readonly INIT_ADMIN_API_TOKENS?: string;
  readonly INIT_CLIENT_API_TOKENS?: string;
  readonly INIT_FRONTEND_API_TOKENS?: string;
}

const maxSecretLength = 256;

/** Parses the scope in `<project>:<environment>.<secret>`. The error must not contain the secret. */
const parseScope = (secret: string, malformed: () => Error): Pick<TokenScope, 'projects' | 'environment'> => {
  const colon = secret.indexOf(':');
  const dot = secret.indexOf('.', colon);
  const [project, environment, secretPart] = [
    secret.slice(0, colon),
    secret.slice(colon + 1, dot),
    secret.slice(dot + 1),
  ];
  const isPlain = [...secret].every((character) => character > ' ' && character <= '~');
  if (colon < 1 || dot < colon + 2 || secretPart === '' || !isPlain || secret.length > maxSecretLength)
    throw malformed();
  if (project === '[]') throw malformed();
  return { projects: [project], environment };
};

/**
 * Parses the tokens of the settings, which have Unleash's format.
 * @throws Error that names the setting and the position of a malformed token
 */
export const configuredTokens = (settings: Settings): ConfiguredTokens => {
  const tokensOf = (kind: TokenScope['kind'], setting: keyof Settings): ConfiguredToken[] =>
    (settings[setting] ?? '')
      .split(',')
      .map((secret) => secret.trim())
      .flatMap((secret, index) => {
        if (secret === '') return [];
        const form = kind === 'admin' ? '*:*.<secret>' : '<project>:<environment>.<secret>, with one environment';
        const scope = parseScope(
          secret,
          () => new Error(`Token ${index + 1} of ${setting} must have the form ${form}.`),
        );
        const isForAll = scope.environment === wildcard && scope.projects[0] === wildcard;
        if (kind === 'admin' ? !isForAll : scope.environment === wildcard)
          throw new Error(`Token ${index + 1} of ${setting} must have the form ${form}.`);
        return [{ kind, secret, ...scope }];
      });
  const tokens = [
    ...tokensOf('admin', 'INIT_ADMIN_API_TOKENS'),
    ...tokensOf('client', 'INIT_CLIENT_API_TOKENS'),
    ...tokensOf('frontend', 'INIT_FRONTEND_API_TOKENS'),
  ];
  const initial = tokens.filter(({ secret }, index) => tokens.findIndex((other) => other.secret === secret) === index);
  return { adminToken: settings.BUNTING_ADMIN_TOKEN, initial };
};
