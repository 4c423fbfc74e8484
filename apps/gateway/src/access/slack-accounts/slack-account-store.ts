import { type Refusal, refusal, type SlackAccount, slackLinkMinutes, type User } from '@bunting/contracts';
import { timestampSql, type Tx } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import { timingSafeEqual } from 'node:crypto';
import { newLinkSecret, type SecretHasher } from '../../unit-of-work/secrets.ts';

/** A person at Slack, with names for people. */
export type SlackUser = Omit<SlackAccount, 'id' | 'createdAt'>;

/** A person at Slack who has not linked the account. */
export interface InvitedSlackUser extends SlackUser {
  /** confirmed by Slack */
  readonly email: string;
}

/** A link that can be used, and how it is found again. */
export interface FoundLink extends InvitedSlackUser {
  readonly selector: string;
}

const slackUserColumns =
  'team_id as "teamId", team_name as "teamName", slack_user_id as "slackUserId", slack_user_name as "slackUserName"';
const columns = `id, ${slackUserColumns}, ${timestampSql('created_at')} as "createdAt"`;

/** The text that is hashed for a link. Its prefix ensures that the hash of a link is never that of a token, a session or another link. */
function textToHash(secret: string): string {
  return `slack link ${secret}`;
}

function invalidSlackLink(): Refusal {
  return refusal(
    'InvalidTokenError',
    'The link is not valid, was used, or has expired. Press the button in Slack again to get another one.',
  );
}

export function slackAccountReads({ query }: Pick<Tx, 'query'>, hasher: SecretHasher) {
  return {
    /** the accounts of a user, in the order in which they were linked */
    list: (userId: number): Promise<SlackAccount[]> =>
      query<SlackAccount>(`select ${columns} from slack_account where user_id = $1 order by id`, [userId]),
    /** whom an account acts as, also if that person is disabled by now; undefined for nobody */
    findUser: async ({ teamId, slackUserId }: Pick<SlackUser, 'teamId' | 'slackUserId'>) => {
      const text = 'select user_id as "userId" from slack_account where team_id = $1 and slack_user_id = $2';
      return (await query<{ userId: number }>(text, [teamId, slackUserId]))[0]?.userId;
    },
    /** @throws Refusal `InvalidTokenError` for a link that is unknown, used or expired */
    getLink: (secret: string): Promise<FoundLink> => findLink({ query }, hasher, secret, ''),
  };
}

async function findLink(
  { query }: Pick<Tx, 'query'>,
  hasher: SecretHasher,
  secret: string,
  lock: '' | 'for update',
): Promise<FoundLink> {
  const { selector, hash } = hasher(textToHash(secret));
  const text = `select selector, hash, email, ${slackUserColumns} from slack_link where selector = $1 and expires_at > now() ${lock}`;
  const [row] = await query<FoundLink & { readonly hash: Buffer }>(text, [selector]);
  if (row === undefined || !timingSafeEqual(row.hash, hash)) throw invalidSlackLink();
  const { hash: _hash, ...link } = row;
  return link;
}

/** Ends the links of a user to Slack. Every write that disables or deletes a user calls it. */
export async function endSlackAccounts({ query }: Pick<Tx, 'query'>, userId: number): Promise<void> {
  await query('delete from slack_account where user_id = $1', [userId]);
}

export function slackAccountRepository(tx: Pick<Tx, 'query'>, hasher: SecretHasher, record: RecordEvents) {
  const { query } = tx;
  const dataOf = ({ teamId, teamName, slackUserId, slackUserName }: SlackUser, userId: number) => ({
    teamId,
    teamName,
    slackUserId,
    slackUserName,
    userId,
  });
  return {
    ...slackAccountReads(tx, hasher),
    /** Makes a link, which ends earlier ones of the same account. @returns its secret, which is stored as a hash alone */
    createLink: async ({ teamId, teamName, slackUserId, slackUserName, email }: InvitedSlackUser): Promise<string> => {
      const { secret } = newLinkSecret();
      const { selector, hash } = hasher(textToHash(secret));
      await query('delete from slack_link where expires_at < now()');
      await query(
        `insert into slack_link (selector, hash, team_id, team_name, slack_user_id, slack_user_name, email, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(mins => $8))
         on conflict (team_id, slack_user_id) do update set selector = excluded.selector, hash = excluded.hash,
           team_name = excluded.team_name, slack_user_name = excluded.slack_user_name, email = excluded.email,
           expires_at = excluded.expires_at`,
        [selector, hash, teamId, teamName, slackUserId, slackUserName, email, slackLinkMinutes],
      );
      return secret;
    },
    /**
     * Uses a link up: its account acts as the user from then on.
     * @throws Refusal `InvalidTokenError`, `ForbiddenError` for an account with another e-mail address than the user's, or `ConflictError` for
     * one that acts as another user
     */
    link: async (secret: string, { id: userId, email }: Pick<User, 'id' | 'email'>): Promise<SlackAccount> => {
      const { selector, ...slackUser } = await findLink(tx, hasher, secret, 'for update');
      // Who opens the link of somebody else, because that one has sent it, would let that one act in this name.
      if (slackUser.email.toLowerCase() !== email?.toLowerCase())
        throw refusal(
          'ForbiddenError',
          'The Slack account has another e-mail address than your account of Bunting: link your own one, which has the same address.',
        );
      await query('delete from slack_link where selector = $1', [selector]);
      const { teamId, teamName, slackUserId, slackUserName } = slackUser;
      const [account] = await query<SlackAccount>(
        `insert into slack_account (team_id, team_name, slack_user_id, slack_user_name, user_id)
         values ($1, $2, $3, $4, $5)
         on conflict (team_id, slack_user_id) do update
           set team_name = excluded.team_name, slack_user_name = excluded.slack_user_name
           where slack_account.user_id = excluded.user_id
         returning ${columns}`,
        [teamId, teamName, slackUserId, slackUserName, userId],
      );
      if (account === undefined)
        throw refusal(
          'ConflictError',
          'The Slack account is linked to another user. Unlink it there first, or ask an administrator to do it.',
        );
      record([{ type: 'slack-account-linked', data: dataOf(account, userId) }]);
      return account;
    },
    /** @returns whether the user had the account */
    unlink: async (userId: number, id: number): Promise<boolean> => {
      const [account] = await query<SlackAccount>(
        `delete from slack_account where user_id = $1 and id = $2 returning ${columns}`,
        [userId, id],
      );
      if (account !== undefined) record([{ type: 'slack-account-unlinked', preData: dataOf(account, userId) }]);
      return account !== undefined;
    },
  };
}
