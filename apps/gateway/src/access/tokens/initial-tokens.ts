import { newTokenSecret } from '../../unit-of-work/secrets.ts';
import type { Transaction, TransactionContext, UnitOfWork } from '../../unit-of-work/unit-of-work.ts';
import type { InitialToken } from './initial-token-store.ts';
import { initialTokenInEvents, tokenEvent, type TokenKind, type TokenScope, wildcard } from './token.ts';

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
export function adminTokenAction(
  stored: StoredConfiguredToken | undefined,
): 'add' | 'keep' | 'mark-as-current' | 'restore' | 'stays-revoked' | 'of-another-kind' {
  if (stored === undefined) return 'add';
  const { kind, revokedAt, configured } = stored;
  if (kind !== 'admin') return 'of-another-kind';
  if (revokedAt !== null) return configured === 'replaced' ? 'restore' : 'stays-revoked';
  return configured === 'current' ? 'keep' : 'mark-as-current';
}

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
function parseScope(secret: string, malformed: () => Error): Pick<TokenScope, 'projects' | 'environment'> {
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
}

/**
 * Parses the tokens of the settings, which have Unleash's format.
 * @throws Error that names the setting and the position of a malformed token
 */
export function configuredTokens(settings: Settings): ConfiguredTokens {
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
}

const adminScope = { kind: 'admin', projects: [wildcard], environment: wildcard } as const;

interface InitialTokensOptions {
  readonly transaction: UnitOfWork;
  readonly context: TransactionContext;
  readonly tokens: ConfiguredTokens;
  readonly warn: (message: string) => void;
}

/**
 * Ensures the tokens of the settings. The token of `BUNTING_ADMIN_TOKEN` is added if it is missing, and replaces that of a previous value.
 * Without any token in the database, those for a first start are created; if neither they nor `BUNTING_ADMIN_TOKEN` is an admin token, one is
 * generated.
 * @returns the generated secret, which is stored nowhere; undefined where none was generated
 */
export function ensureInitialTokens({
  transaction,
  context,
  tokens: { adminToken, initial },
  warn,
}: InitialTokensOptions): Promise<string | undefined> {
  const now = context.now.toISOString();

  const add = ({ initialTokens }: Transaction, token: InitialToken): Promise<void> =>
    initialTokens.add(token, now, [tokenEvent('api-token-created', { data: initialTokenInEvents(token, now) })]);

  /** Makes the token of `BUNTING_ADMIN_TOKEN` valid, and revokes the tokens of earlier values of the setting. */
  const ensureAdminToken = async (tx: Transaction, secret: string): Promise<void> => {
    const { initialTokens } = tx;
    const stored = await initialTokens.findForUpdate(secret);
    const action = adminTokenAction(stored);
    if (action === 'stays-revoked')
      return warn(
        `The token of BUNTING_ADMIN_TOKEN (${stored?.maskedSecret}) was revoked and stays so: set another value.`,
      );
    if (action === 'of-another-kind')
      return warn(
        `The value of BUNTING_ADMIN_TOKEN is the secret of an SDK token (${stored?.maskedSecret}), which stays one: set another value.`,
      );
    const currentTokens = await initialTokens.listCurrentForUpdate();
    for (const earlierToken of currentTokens.filter(({ id }) => id !== stored?.id)) {
      await initialTokens.revokeReplaced(earlierToken.id, [
        tokenEvent('api-token-deleted', { preData: initialTokenInEvents(adminScope, earlierToken.createdAt) }),
      ]);
      warn(
        `The gateway revoked the admin token ${earlierToken.maskedSecret} of an earlier value of BUNTING_ADMIN_TOKEN. Replace it where it is still used.`,
      );
    }
    if (stored === undefined) return add(tx, { ...adminScope, secret, isConfiguredAdminToken: true });
    if (action === 'mark-as-current') await initialTokens.markAsCurrent(stored.id, []);
    if (action === 'restore')
      await initialTokens.markAsCurrent(stored.id, [
        tokenEvent('api-token-created', { data: initialTokenInEvents(adminScope, stored.createdAt) }),
      ]);
  };

  return transaction(context, async (tx) => {
    const { initialTokens } = tx;
    // Replicas may start concurrently: one creates the tokens, the others find them.
    await initialTokens.lock();
    const isFirstStart = !(await initialTokens.hasAny());
    for (const token of isFirstStart ? initial : []) if (token.secret !== adminToken) await add(tx, token);
    if (adminToken !== undefined) {
      await ensureAdminToken(tx, adminToken);
      return undefined;
    }
    for (const { maskedSecret } of await initialTokens.listCurrentForUpdate()) {
      warn(
        `BUNTING_ADMIN_TOKEN is not set any more, but the admin token of its last value (${maskedSecret}) still works. ` +
          `If it is not needed, revoke it: DELETE /api/admin/api-tokens/${maskedSecret}`,
      );
    }
    if (!isFirstStart || initial.some(({ kind }) => kind === 'admin')) return undefined;
    const generated = newTokenSecret(adminScope.projects, adminScope.environment);
    await add(tx, { ...adminScope, ...generated });
    return generated.secret;
  });
}
