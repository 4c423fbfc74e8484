import type { Projection } from '@bunting/outbox';
import { type Log, type Loop, startLoop } from '@bunting/runtime';
import type { PendingPrivateProjects } from '../persistence/projects/pending-private-projects.ts';

const intervalMs = 60_000;
const waitMs = 5_000;

interface Options {
  readonly pendingPrivateProjects: Pick<PendingPrivateProjects, 'hasExpired' | 'revealExpired'>;
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly log: Log;
}

/**
 * Unhides private projects that the gateway hid for a change which the features service did not commit. It waits until the gateway has applied
 * every committed state: while the features service is unavailable, the projects stay hidden.
 */
export const unhideUnconfirmedProjects = async ({
  pendingPrivateProjects: pending,
  projects,
}: Omit<Options, 'log'>): Promise<void> => {
  if ((await pending.hasExpired()) && (await projects.catchUp(waitMs)) === 0) await pending.revealExpired();
};

/** Runs `unhideUnconfirmedProjects` once a minute. */
export const startUnhidingUnconfirmedProjects = ({ log, ...options }: Options): Pick<Loop, 'stop'> =>
  startLoop({
    name: 'The unhiding of projects whose change was not committed',
    run: () => unhideUnconfirmedProjects(options),
    intervalMs,
    log,
  });
