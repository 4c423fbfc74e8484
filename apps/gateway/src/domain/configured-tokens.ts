import type { TokenScope } from './token-scope.ts';

/** A token that the settings give, with the secret that somebody chose. */
export interface ConfiguredToken extends TokenScope {
  readonly secret: string;
}

/** Tokens that the settings give. */
export interface ConfiguredTokens {
  /** an admin token that is there at any start */
  readonly adminToken: string | undefined;
  /** tokens that a start makes which finds none */
  readonly initial: readonly ConfiguredToken[];
}

interface Settings {
  readonly BUNTING_ADMIN_TOKEN?: string;
  readonly INIT_ADMIN_API_TOKENS?: string;
  readonly INIT_CLIENT_API_TOKENS?: string;
  readonly INIT_FRONTEND_API_TOKENS?: string;
}

const everywhere = '*';
const maxLength = 256;

/** `<project>:<environment>.<secret>`; the message names where it stands, and not the secret itself. */
const parseScope = (secret: string, complain: () => Error): Pick<TokenScope, 'projects' | 'environment'> => {
  const colon = secret.indexOf(':');
  const dot = secret.indexOf('.', colon);
  const [project, environment, rest] = [secret.slice(0, colon), secret.slice(colon + 1, dot), secret.slice(dot + 1)];
  const isPlain = [...secret].every((character) => character > ' ' && character <= '~');
  if (colon < 1 || dot < colon + 2 || rest === '' || !isPlain || secret.length > maxLength) throw complain();
  if (project === '[]') throw complain();
  return { projects: [project], environment };
};

/**
 * Reads the tokens that the settings give, in Unleash's format.
 * @throws Error that names the setting and the place in it, when one is no such token
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
        const isEverywhere = scope.environment === everywhere && scope.projects[0] === everywhere;
        if (kind === 'admin' ? !isEverywhere : scope.environment === everywhere)
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
