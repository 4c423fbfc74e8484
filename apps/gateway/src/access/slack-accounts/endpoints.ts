import {
  type Bus,
  type CallContext,
  type CallRequest,
  deserializeRefusal,
  type Endpoint,
  implement,
  onBehalfOf,
  writes,
} from '@bunting/bus';
import {
  AddComment,
  ChangeState,
  type Caller,
  CheckSlackLink,
  InviteSlackUser,
  isFinalRefusal,
  LinkSlackAccount,
  ListOwnSlackAccounts,
  ListUserSlackAccounts,
  notFound,
  type AnyOperation,
  type RequestOf,
  refusal,
  type ReplyOf,
  ReviewAsSlackUser,
  UnlinkOwnSlackAccount,
  UnlinkUserSlackAccount,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { callWithCurrentRights } from '../../admission/authorisation.ts';
import { withoutStoredReply } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';

export function slackAccountEndpoints({ transaction, reads, bus }: GatewayContext): readonly Endpoint[] {
  /** The active person whom an account acts as, with the rights of now. */
  const personOf = async (slackUser: SlackUserKey): Promise<Caller | undefined> => {
    const userId = await reads.slackAccounts.findUser(slackUser);
    const [found] = userId === undefined ? [] : await reads.access.usersWithRights([userId]);
    return found?.caller;
  };

  return [
    implement(CheckSlackLink, async ({ body }) => {
      const { selector: _selector, email: _email, ...slackUser } = await reads.slackAccounts.getLink(body.token);
      return slackUser;
    }),
    implement(LinkSlackAccount, async (request) => {
      const { caller, body } = request;
      // A stolen API key must not outlive its end as a Slack account.
      const sessions = await reads.sessions.list(caller.id);
      if (!sessions.some(({ id }) => id === caller.tokenId))
        throw refusal('ForbiddenError', 'A Slack account is linked in the console: sign in there, and open the link.');
      return transaction(request, async ({ users, slackAccounts }) => {
        // Locked against whoever disables or deletes the user, which ends the accounts that it finds.
        const user = await users.findForUpdate(caller.id);
        if (user?.active !== true) throw refusal('AuthenticationRequired', 'The session has ended.');
        return slackAccounts.link(body.token, user);
      });
    }),
    implement(ListOwnSlackAccounts, async ({ caller }) => ({
      slackAccounts: await reads.slackAccounts.list(caller.id),
    })),
    writes(UnlinkOwnSlackAccount, transaction, async ({ slackAccounts }, { params, caller }) => {
      if (!(await slackAccounts.unlink(caller.id, params.id))) throw slackAccountNotFound();
      return null;
    }),
    implement(ListUserSlackAccounts, async ({ params }) => {
      await reads.users.get(params.id, { only: 'users' });
      return { slackAccounts: await reads.slackAccounts.list(params.id) };
    }),
    writes(UnlinkUserSlackAccount, transaction, async ({ slackAccounts }, { params }) => {
      if (!(await slackAccounts.unlink(params.id, params.tokenId))) throw slackAccountNotFound();
      return null;
    }),

    implement(InviteSlackUser, async (request) => {
      const { email, ...slackUser } = request.body;
      const person = await personOf(slackUser);
      if (person !== undefined) return { by: nameOf(person), token: null };
      if (email === undefined) return { by: null, token: null };
      const token = await transaction(withoutStoredReply(request), ({ slackAccounts }) =>
        slackAccounts.createLink({ ...slackUser, email }),
      );
      return { by: null, token };
    }),

    // Whoever calls this names a Slack account, and never a person: it is the person who has linked it, with the rights of now.
    implement(ReviewAsSlackUser, async (request) => {
      const { body } = request;
      const caller = await personOf(body);
      if (caller === undefined) return { by: null, refusal: null };
      const by = nameOf(caller);
      try {
        await review(bus, { ...caller, via: 'slack' }, body, onBehalfOf(request));
        return { by, refusal: null };
      } catch (error) {
        if (!isFinalRefusal(error) || error.retryAfterSeconds !== undefined) throw error;
        return { by, refusal: error.message };
      }
    }),
  ];
}

type SlackReview = RequestOf<typeof ReviewAsSlackUser>['body'];
type SlackUserKey = Pick<SlackReview, 'teamId' | 'slackUserId'>;

function nameOf({ id, name, displayName = name }: Caller): NonNullable<ReplyOf<typeof ReviewAsSlackUser>['by']> {
  return { id, name: displayName };
}

/** Sends the request that the console would send, as the person. @throws Refusal of the operation */
async function review(
  bus: Bus,
  caller: Caller,
  body: SlackReview,
  context: Omit<CallContext, 'caller'>,
): Promise<void> {
  const { operation, params, content } = reviewCall(body);
  // Services rely on it that the gateway has validated what they get, as it does for a request.
  parse(operation.body, content, '/body');
  const response = await callWithCurrentRights(bus, operation, { params, body: content } as CallRequest<AnyOperation>, {
    ...context,
    caller,
    idempotencyKey: body.key,
    readCurrentCaller: async () => caller,
  });
  if ('refusal' in response) throw deserializeRefusal(response.refusal);
}

function reviewCall({ project: projectId, changeRequestId: id, review, comment, revision, basis }: SlackReview) {
  const params = { projectId, id };
  if (review === 'comment') return { operation: AddComment, params, content: { text: comment ?? '' } };
  const content = {
    state: review === 'approve' ? ('Approved' as const) : ('Rejected' as const),
    ...(comment === undefined ? {} : { comment }),
    ...(revision === undefined ? {} : { revision }),
    ...(basis === undefined || review === 'reject' ? {} : { basis }),
  };
  return { operation: ChangeState, params, content };
}

function slackAccountNotFound() {
  return notFound('There is no Slack account with that id.');
}
