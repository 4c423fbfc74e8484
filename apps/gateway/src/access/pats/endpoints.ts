import { type Endpoint, implement, writes } from '@bunting/bus';
import {
  type CreatedPat,
  CreateOwnPat,
  type CreatePatBody,
  CreateUserPat,
  DeleteOwnPat,
  DeleteUserPat,
  ListOwnPats,
  ListUserPats,
  type Pats,
  refusal,
} from '@bunting/contracts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import { newPatSecret } from '../../unit-of-work/secrets.ts';
import type { GatewayWriteContext, ReplyWithSecret, Transaction } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { requireAccount } from '../users/account.ts';
import type { AccountCollection } from '../users/user-store.ts';
import { parseNewPat, patCreated, patDeleted } from './pat.ts';

export function patEndpoints({ transaction, reads }: GatewayContext): readonly Endpoint[] {
  return [
    implement(CreateOwnPat, async (request) => {
      requireAccount(request.caller);
      return transaction.revealingSecret(request, async (tx) => {
        const user = await tx.users.findForUpdate(request.caller.id);
        // The user was deleted after the request was authenticated.
        if (user === undefined)
          throw refusal('AuthenticationRequired', 'The key in the authorization header is not valid.');
        return addPat(tx, request, user.id, request.body);
      });
    }),
    implement(DeleteOwnPat, async (request) => {
      requireAccount(request.caller);
      return transaction(request, async ({ tokens }) => {
        await tokens.revokePat(request.caller.id, request.params.id, (pat) => [patDeleted(pat)]);
        return null;
      });
    }),
    implement(ListOwnPats, async ({ caller }) => {
      requireAccount(caller);
      return { pats: await reads.tokens.listPats(caller.id) };
    }),
    implement(CreateUserPat, (request) =>
      transaction.revealingSecret(request, (tx) => createAccountPat(tx, 'users', request)),
    ),
    writes(DeleteUserPat, transaction, (tx, { params }) => deleteAccountPat(tx, 'users', params.id, params.tokenId)),
    implement(ListUserPats, ({ params }) => listAccountPats(reads, 'users', params.id)),
  ];
}

/** Creates a PAT for a user whose row is locked. */
async function addPat(
  { tokens, generateSecretBytes }: Transaction,
  { caller, now }: GatewayWriteContext,
  userId: number,
  body: CreatePatBody,
): Promise<ReplyWithSecret<CreatedPat>> {
  const pats = await tokens.listPats(userId);
  const callerExpiresAt = userId === caller.id ? await tokens.expiryOf(caller.tokenId) : null;
  const { description, expiresAt } = parseNewPat(body, { pats, callerExpiresAt, now });
  const generated = newPatSecret(generateSecretBytes);
  const newPat = { userId, description, expiresAt };
  const pat = await tokens.addPat(newPat, generated, caller.id, (created) => [patCreated(created)]);
  return { reply: { ...pat, secret: generated.masked }, secret: generated.secret };
}

type CreateAccountPatRequest = GatewayWriteContext & {
  readonly params: { readonly id: number };
  readonly body: CreatePatBody;
};

export async function createAccountPat(
  tx: Transaction,
  accounts: AccountCollection,
  request: CreateAccountPatRequest,
): Promise<ReplyWithSecret<CreatedPat>> {
  const account = await tx.users.getForUpdate(request.params.id, { only: accounts });
  return addPat(tx, request, account.id, request.body);
}

export async function listAccountPats(
  { users, tokens }: GatewayReads,
  accounts: AccountCollection,
  id: number,
): Promise<Pats> {
  const account = await users.get(id, { only: accounts });
  return { pats: await tokens.listPats(account.id) };
}

export async function deleteAccountPat(
  tx: Transaction,
  accounts: AccountCollection,
  id: number,
  tokenId: number,
): Promise<null> {
  const account = await tx.users.getForUpdate(id, { only: accounts });
  await tx.tokens.revokePat(account.id, tokenId, (pat) => [patDeleted(pat)]);
  return null;
}
