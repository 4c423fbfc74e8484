import { adminTokenAction, type ConfiguredTokens } from '../domain/tokens/configured-tokens.ts';
import { describeInitialToken, tokenEvent } from '../domain/tokens/token-event.ts';
import { wildcard } from '../domain/tokens/token-scope.ts';
import type { InitialToken } from '../persistence/tokens/initial-token-repository.ts';
import { newTokenSecret } from '../persistence/tokens/token-secret.ts';
import type { Transaction, TransactionContext, UnitOfWork } from '../persistence/unit-of-work.ts';

const everything = { kind: 'admin', projects: [wildcard], environment: wildcard } as const;

interface InitialTokensOptions {
  readonly transaction: UnitOfWork;
  readonly context: TransactionContext;
  readonly tokens: ConfiguredTokens;
  readonly warn: (message: string) => void;
}

/**
 * Ensures the tokens of the settings. The token of `BUNTING_ADMIN_TOKEN` is added if it is missing, and replaces that of a previous value.
 * Without any token in the database, those for a first start are created; without an admin token among them, one is generated.
 * @returns the generated secret, which is stored nowhere
 */
export const ensureInitialTokens = ({
  transaction,
  context,
  tokens: { adminToken, initial },
  warn,
}: InitialTokensOptions): Promise<string | undefined> => {
  const now = context.now.toISOString();

  const add = async ({ initialTokens, events }: Transaction, token: InitialToken): Promise<void> => {
    await initialTokens.add(token, now);
    events.emit([tokenEvent('api-token-created', { data: describeInitialToken(token, now) })]);
  };

  /** Makes the token of `BUNTING_ADMIN_TOKEN` valid, and revokes the tokens of earlier values of the setting. */
  const ensureAdminToken = async (tx: Transaction, secret: string): Promise<void> => {
    const { initialTokens, events } = tx;
    const stored = await initialTokens.findForUpdate(secret);
    const action = adminTokenAction(stored);
    if (action === 'stays-revoked')
      return warn(`The token of BUNTING_ADMIN_TOKEN (${stored?.shown}) was revoked and stays so: set another value.`);
    if (action === 'of-another-kind')
      return warn(
        `The value of BUNTING_ADMIN_TOKEN is the secret of an SDK token (${stored?.shown}), which stays one: set another value.`,
      );
    const current = await initialTokens.listCurrentForUpdate();
    for (const earlier of current.filter(({ id }) => id !== stored?.id)) {
      await initialTokens.replace(earlier.id);
      events.emit([tokenEvent('api-token-deleted', { preData: describeInitialToken(everything, earlier.createdAt) })]);
      warn(
        `The gateway revoked the admin token ${earlier.shown} of an earlier value of BUNTING_ADMIN_TOKEN. Replace it where it is still used.`,
      );
    }
    if (stored === undefined) return add(tx, { ...everything, secret, isAdminToken: true });
    if (action === 'mark' || action === 'restore') await initialTokens.makeAdminToken(stored.id);
    if (action === 'restore')
      events.emit([tokenEvent('api-token-created', { data: describeInitialToken(everything, stored.createdAt) })]);
  };

  return transaction(context, async (tx) => {
    const { initialTokens } = tx;
    // Replicas may start concurrently: one creates the tokens, the others find them.
    await initialTokens.lock();
    const isFirst = !(await initialTokens.hasAny());
    for (const token of isFirst ? initial : []) if (token.secret !== adminToken) await add(tx, token);
    if (adminToken !== undefined) {
      await ensureAdminToken(tx, adminToken);
      return undefined;
    }
    for (const { shown } of await initialTokens.listCurrentForUpdate()) {
      warn(
        `BUNTING_ADMIN_TOKEN is not set any more, but the admin token of its last value (${shown}) still works. ` +
          `If it is not needed, revoke it: DELETE /api/admin/api-tokens/${shown}`,
      );
    }
    if (!isFirst || initial.some(({ kind }) => kind === 'admin')) return undefined;
    const made = newTokenSecret(everything.projects, everything.environment);
    await add(tx, { ...everything, ...made });
    return made.secret;
  });
};
