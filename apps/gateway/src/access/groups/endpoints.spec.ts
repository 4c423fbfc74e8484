import type { Group, User } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import { startedGateway } from '../../../test/started-gateway.ts';

const gateway = startedGateway();

const sent = async <T>(method: string, path: string, body: object): Promise<T> => {
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.send(`/api/admin/${path}`, { method, headers, body: JSON.stringify(body) });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as T;
};

describe('an edit of a group', () => {
  it('that waits for a user who is signing in does not keep the user from joining the group', async () => {
    const { id: user } = await sent<User>('POST', 'user-admin', { username: 'ann', rootRole: 3, sendEmail: false });
    const { id: group } = await sent<Group>('POST', 'groups', { name: 'Testers', users: [] });
    const edit = await gateway.database.transaction(async ({ query }) => {
      await query('select from api_user where id = $1 for update', [user]);
      const sending = sent<Group>('PUT', `groups/${group}`, { name: 'Testers', users: [{ user: { id: user } }] });
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await eventually(async () => expect(await gateway.database.query({ text: waiting })).toHaveLength(1));
      // The lock of a foreign key, as for a new member.
      await query('select from user_group where id = $1 for key share nowait', [group]);
      return { sending };
    });
    expect((await edit.sending).users.map(({ user: { id } }) => id)).toEqual([user]);
  });
});
