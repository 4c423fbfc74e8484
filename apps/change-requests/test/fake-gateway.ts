import { type Bus, implement, serve } from '@bunting/bus';
import {
  type Caller,
  GetPermissionsOfUsers,
  ListPermissionHolders,
  may,
  type OutboxMessage,
  outboxOperations,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { randomUUID } from 'node:crypto';

function cardOf({ id, name }: Caller) {
  return {
    id,
    name: null,
    username: name,
    email: name.includes('@') ? name : null,
    imageUrl: gravatarUrlOf(name),
  };
}

/** Implements the operations of the gateway that change requests call, for the users of the specs. */
export async function fakeGateway(bus: Bus, everyone: readonly Caller[]) {
  const users = new Map<number, Caller>();
  const messages: OutboxMessage[] = [];
  const jobs: (() => unknown)[] = [];
  const reset = () => {
    users.clear();
    for (const user of everyone) users.set(user.id, user);
  };
  reset();

  const served = await serve(
    bus,
    [
      implement(ListPermissionHolders, async ({ body: { project, environment, permissions } }) => ({
        users: [...users.values()]
          .filter((user) => may(user, permissions, { project, environment }))
          .map((user) => ({ ...cardOf(user), isMember: user.grants.some((grant) => grant.project === project) })),
      })),
      implement(GetPermissionsOfUsers, async ({ body }) => {
        await jobs.shift()?.();
        return {
          users: body.ids.flatMap((id) => {
            const caller = users.get(id);
            return caller === undefined ? [] : [{ user: cardOf(caller), caller }];
          }),
        };
      }),
      implement(outboxOperations.gateway, async ({ body }) => ({
        head: messages.length,
        messages: messages.filter(({ position }) => position > body.after).slice(0, body.limit),
      })),
    ],
    { checkReplies: true },
  );
  return {
    /** Adds users, who come before those of the specs. */
    addFirst: (added: readonly Caller[]): void => {
      const known = [...users];
      users.clear();
      for (const user of added) users.set(user.id, user);
      for (const [id, user] of known) users.set(id, user);
    },
    /** Removes a user. `emit` emits the event of the removal. */
    remove: (id: number): void => void users.delete(id),
    /** Replaces the permissions of the user. */
    grant: (id: number, grants: Caller['grants']): void => {
      const user = users.get(id);
      if (user !== undefined) users.set(id, { ...user, grants });
    },
    /** Emits the deletion of a user. */
    emit: (id: number): void => {
      messages.push({
        position: messages.length + 1,
        uid: randomUUID(),
        type: 'user-deleted',
        recordedAt: new Date().toISOString(),
        traceparent: null,
        payload: { type: 'user-deleted', data: null, preData: { id } },
      });
      bus.notify({ producer: 'gateway', topic: 'event' });
    },
    /** Restores a backup without any event, and with all users. */
    restore: (): void => {
      messages.length = 0;
      reset();
      bus.notify({ producer: 'gateway', topic: 'event' });
    },
    /** Runs a job once, while the next GetPermissionsOfUsers is handled. */
    whileReadingUsers: (job: () => unknown): void => void jobs.push(job),
    reset,
    stop: (): Promise<void> => served.stop(),
  };
}
export type FakeGateway = Awaited<ReturnType<typeof fakeGateway>>;
