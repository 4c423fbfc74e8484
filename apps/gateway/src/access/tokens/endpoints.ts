import { type Endpoint, implement, writes } from '@bunting/bus';
import {
  type ApiToken,
  type ApiTokenAction,
  boundEnvironment,
  type Caller,
  CreateApiToken,
  CreateProjectApiToken,
  DeleteApiToken,
  DeleteProjectApiToken,
  GetApiTokensByName,
  grantedProjects,
  limitExceeded,
  ListApiTokens,
  ListProjectApiTokens,
  ListTokensNearTheirEnd,
  may,
  maySee,
  Refusal,
  UpdateApiToken,
  tokensValidatedAtOnce,
  ValidateEdgeTokens,
  type ValidEdgeTokens,
} from '@bunting/contracts';
import type { Principal } from '@bunting/http';
import type { Authenticator } from '../../admission/authenticator.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import { newTokenSecret } from '../../unit-of-work/secrets.ts';
import type { ReplyWithSecret, Transaction } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { tokenNotFound } from '../refusals.ts';
import type { EndingToken, StoredToken } from './token-store.ts';
import {
  apiTokenKinds,
  belongsToProject,
  maxApiTokens,
  namedProjects,
  type NewToken,
  parseNewProjectToken,
  parseNewToken,
  permittedKinds,
  requireMayActOn,
  requireWithinLifetime,
  sdkTokenKinds,
  tokenEvent,
} from './token.ts';

export function tokenEndpoints({
  transaction,
  projectAndEnvironmentDirectory,
  reads,
  identify,
}: GatewayContext): readonly Endpoint[] {
  return [
    writes(DeleteProjectApiToken, transaction, async ({ tokens }, { params }) => {
      const { projectId } = params;
      const token = await tokens.findForUpdate(params.token, sdkTokenKinds);
      // A token that is also for other projects cannot be deleted through this one.
      if (token === undefined || !belongsToProject(token, projectId)) throw tokenNotFound();
      await tokens.revoke(token, [tokenEvent('api-token-deleted', { preData: token })]);
      return null;
    }),
    implement(ListTokensNearTheirEnd, async ({ body }) => {
      const ending = await reads.tokens.listNearTheirEnd(body.days);
      const users = await reads.access.usersWithRights([...new Set(ending.map(({ userId }) => userId))]);
      const callers = new Map(users.map(({ caller }) => [caller.id, caller]));
      // Its name may say what is in a project that its creator has been taken out of since.
      const isTold = ({ userId, projects }: EndingToken): boolean => {
        const caller = callers.get(userId);
        return caller !== undefined && (projects.length === 0 || projects.some((project) => maySee(caller, project)));
      };
      return { tokens: ending.filter(isTold).map((token) => ({ ...token, projects: [...token.projects] })) };
    }),
    implement(CreateApiToken, async (request) => {
      const { caller, body } = request;
      const targets = await projectAndEnvironmentDirectory.all(request);
      const token = parseNewToken(body, caller, targets);
      requireMayActOn(caller, 'CREATE', token.kind);
      await projectAndEnvironmentDirectory.awaitProjection(namedProjects(token));
      return transaction.revealingSecret(request, async (tx) => {
        if (token.kind === 'admin') requireWithinLifetime(await tx.tokens.expiryOf(caller.tokenId), token.expiresAt);
        return addToken(tx, token, caller.id);
      });
    }),
    implement(CreateProjectApiToken, async (request) => {
      const { caller, params, body } = request;
      const project = params.projectId;
      const [environments] = await Promise.all([
        projectAndEnvironmentDirectory.environments(request),
        projectAndEnvironmentDirectory.requireProject(request, project),
      ]);
      const token = parseNewProjectToken(body, caller, { project, environments });
      await projectAndEnvironmentDirectory.awaitProjection([project]);
      return transaction.revealingSecret(request, (tx) => addToken(tx, token, caller.id));
    }),
    writes(DeleteApiToken, transaction, async (tx, { caller, params }) => {
      const token = await findVisibleTokenForUpdate(tx, caller, params.token, 'DELETE');
      if (token === undefined) return null;
      await tx.tokens.revoke(token, [tokenEvent('api-token-deleted', { preData: token })]);
      return null;
    }),
    implement(GetApiTokensByName, async ({ caller, params }) => {
      const tokens = await visibleTokens(reads, caller);
      return { tokens: tokens.filter(({ tokenName }) => tokenName === params.name) };
    }),
    implement(ListApiTokens, async ({ caller }) => ({ tokens: await visibleTokens(reads, caller) })),
    implement(ListProjectApiTokens, async (request) => {
      const { caller, params } = request;
      await projectAndEnvironmentDirectory.requireProject(request, params.projectId);
      const storedTokens = await reads.tokens.list(sdkTokenKinds, params.projectId);
      const creatableKinds = permittedKinds(caller, 'CREATE');
      const mayCreate = (token: StoredToken): boolean =>
        creatableKinds.includes(token.type) ||
        (belongsToProject(token, params.projectId) &&
          may(caller, ['CREATE_PROJECT_API_TOKEN'], { project: params.projectId, environment: token.environment }));
      return {
        tokens: storedTokens
          .filter((token) => maySeeToken(caller, token))
          .map((token) => toListedToken(token, mayCreate(token))),
      };
    }),
    writes(UpdateApiToken, transaction, async (tx, { caller, params, body }) => {
      const token = await findVisibleTokenForUpdate(tx, caller, params.token, 'UPDATE');
      if (token === undefined) return null;
      const expiresAt = new Date(body.expiresAt);
      if (token.type === 'admin') requireWithinLifetime(await tx.tokens.expiryOf(caller.tokenId), expiresAt);
      if (token.expiresAt === expiresAt.toISOString()) return null;
      await tx.tokens.setExpiry(token, expiresAt, (after) => [
        tokenEvent('api-token-updated', { data: after, preData: token }),
      ]);
      return null;
    }),
    // Looks up each token, valid or not, in the same way as the token of a request, but without recording a use of it.
    implement(ValidateEdgeTokens, async ({ body }) => {
      const tokens = [...new Set(body.tokens)];
      const principals: (Principal | undefined)[] = [];
      for (let start = 0; start < tokens.length; start += tokensValidatedAtOnce) {
        const some = tokens.slice(start, start + tokensValidatedAtOnce);
        principals.push(...(await Promise.all(some.map((token) => principalOf(identify, token)))));
      }
      return {
        tokens: tokens.flatMap((token, index): ValidEdgeTokens['tokens'] => {
          const principal = principals[index];
          const environment = principal === undefined ? undefined : boundEnvironment(principal.caller);
          if (principal === undefined || principal.mayCallAdminApi || environment === undefined) return [];
          const type = principal.isPublic ? 'frontend' : 'client';
          return [{ token, type, projects: [...grantedProjects(principal.caller)], environment }];
        }),
      };
    }),
  ];
}

/** A token as the API returns it: with a masked secret, without its internal id. */
function toApiToken({ id: _id, plaintext: _readable, ...token }: StoredToken): ApiToken {
  return token;
}

/** A token as lists return it: with its secret if that is stored readable and the caller may create such a token. */
function toListedToken(token: StoredToken, mayCreate: boolean): ApiToken {
  return {
    ...toApiToken(token),
    ...(mayCreate && token.plaintext !== undefined ? { secret: token.plaintext } : {}),
  };
}

/** Creates a token. The reply is the only response that contains its secret, unless secrets are stored readable. */
async function addToken(
  { tokens, generateSecretBytes, lockExistingProjects }: Transaction,
  token: NewToken,
  createdBy: number,
): Promise<ReplyWithSecret<ApiToken>> {
  await lockExistingProjects(namedProjects(token));
  if ((await tokens.countForUpdate()) >= maxApiTokens) throw limitExceeded('api token', maxApiTokens);
  const generated = newTokenSecret(token.projects, token.environment, generateSecretBytes);
  const stored = await tokens.add(token, generated, createdBy, (added) => [
    tokenEvent('api-token-created', { data: added }),
  ]);
  const { expiresAt, seenAt: _seenAt, ...created } = toApiToken(stored);
  return { reply: expiresAt === null ? created : { ...created, expiresAt }, secret: generated.secret };
}

/** Whether the caller may see all projects of a token; a token of a hidden project is hidden too. */
function maySeeToken(caller: Caller, { projects }: StoredToken): boolean {
  return projects.every((project) => maySee(caller, project));
}

/** The API tokens that the caller may list. */
async function visibleTokens({ tokens }: Pick<GatewayReads, 'tokens'>, caller: Caller): Promise<ApiToken[]> {
  const storedTokens = await tokens.list(permittedKinds(caller, 'READ'));
  const creatableKinds = permittedKinds(caller, 'CREATE');
  return storedTokens
    .filter((token) => maySeeToken(caller, token))
    .map((token) => toListedToken(token, creatableKinds.includes(token.type)));
}

/**
 * Reads an API token and locks its row. Undefined for one that does not exist or is revoked: as in Unleash, changing it has no effect, and
 * deleting it leaves it as dead as it is.
 * @throws Refusal 404 for a token of a project that the caller may not see, `NoAccessError` for one of another kind than the caller may act on
 */
async function findVisibleTokenForUpdate(
  { tokens }: Pick<Transaction, 'tokens'>,
  caller: Caller,
  token: string,
  action: ApiTokenAction,
): Promise<StoredToken | undefined> {
  const storedToken = await tokens.findForUpdate(token, apiTokenKinds);
  if (storedToken === undefined) return undefined;
  if (!maySeeToken(caller, storedToken)) throw tokenNotFound();
  requireMayActOn(caller, action, storedToken.type);
  return storedToken;
}

async function principalOf(identify: Authenticator['identify'], token: string): Promise<Principal | undefined> {
  try {
    return await identify(token);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'AuthenticationRequired') return undefined;
    throw error;
  }
}
