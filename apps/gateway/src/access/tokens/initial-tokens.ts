import { adminTokenAction, type ConfiguredTokens } from '../../domain/tokens/configured-tokens.ts';
import { initialTokenInEvents, tokenEvent } from '../../domain/tokens/token-event.ts';
import { wildcard } from '../../domain/tokens/token-scope.ts';
import type { InitialToken } from './initial-token-store.ts';
import { newTokenSecret } from '../../unit-of-work/secrets.ts';
import type { Transaction, TransactionContext, UnitOfWork } from '../../unit-of-work/unit-of-work.ts';

/** The scope of every admin token. */
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
export const ensureInitialTokens = ({
  transaction,
  context,
  tokens: { adminToken, initial },
  warn,
}: InitialTokensOptions): Promise<string | undefined> => {
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
};
