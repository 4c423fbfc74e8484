import { type TokenScope, wildcard } from './token-scope.ts';

/** A token from the settings, whose secret the operator chose. */
export interface ConfiguredToken extends TokenScope {
  readonly secret: string;
}

/** The tokens of the settings. */
export interface ConfiguredTokens {
  /** the admin token that every start ensures */
  readonly adminToken: string | undefined;
  /** tokens that are created by a start that finds no token */
  readonly initial: readonly ConfiguredToken[];
}

interface Settings {
  readonly BUNTING_ADMIN_TOKEN?: string;
  readonly INIT_ADMIN_API_TOKENS?: string;
  readonly INIT_CLIENT_API_TOKENS?: string;
  readonly INIT_FRONTEND_API_TOKENS?: string;
}

const maxLength = 256;

/** Parses `<project>:<environment>.<secret>`. The error must not contain the secret. */
const parseScope = (secret: string, malformed: () => Error): Pick<TokenScope, 'projects' | 'environment'> => {
  const colon = secret.indexOf(':');
  const dot = secret.indexOf('.', colon);
  const [project, environment, rest] = [secret.slice(0, colon), secret.slice(colon + 1, dot), secret.slice(dot + 1)];
  const isPlain = [...secret].every((character) => character > ' ' && character <= '~');
  if (colon < 1 || dot < colon + 2 || rest === '' || !isPlain || secret.length > maxLength) throw malformed();
  if (project === '[]') throw malformed();
  return { projects: [project], environment };
};

/**
 * Parses the tokens of the settings, which have Unleash's format.
 * @throws Error that names the setting and the position of a malformed token
 */
export const configuredTokens = (settings: Settings): ConfiguredTokens => {
  const listed = (kind: TokenScope['kind'], setting: keyof Settings): ConfiguredToken[] =>
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
  return {
    adminToken: settings.BUNTING_ADMIN_TOKEN,
    initial: [
      ...listed('admin', 'INIT_ADMIN_API_TOKENS'),
      ...listed('client', 'INIT_CLIENT_API_TOKENS'),
      ...listed('frontend', 'INIT_FRONTEND_API_TOKENS'),
    ],
  };
};
