import type { Projection } from '@bunting/outbox';
import { type Log, type Loop, startLoop } from '@bunting/runtime';
import type { PendingPrivateProjects } from '../persistence/projects/pending-private-projects.ts';

const intervalMs = 60_000;
/** Maximum milliseconds that a run waits for the states of projects that are committed. */
const catchUpTimeoutMs = 5_000;

interface Options {
  readonly pendingPrivateProjects: Pick<PendingPrivateProjects, 'hasUncommitted' | 'unhideUncommitted'>;
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly log: Log;
}

/**
 * Unhides projects that the gateway hid because they were to become private, though the features service never committed that change. It
 * first waits until the gateway has applied every committed state: while the features service is unavailable, the projects stay hidden.
 */
export const unhideUncommittedProjects = async ({
  pendingPrivateProjects,
  projects,
}: Omit<Options, 'log'>): Promise<void> => {
  if (!(await pendingPrivateProjects.hasUncommitted())) return;
  if ((await projects.catchUp(catchUpTimeoutMs)) === 0) await pendingPrivateProjects.unhideUncommitted();
};

/** Runs `unhideUncommittedProjects` once a minute. */
export const startUnhidingUncommittedProjects = ({ log, ...options }: Options): Pick<Loop, 'stop'> =>
  startLoop({
    name: 'The unhiding of projects whose change was not committed',
    run: () => unhideUncommittedProjects(options),
    intervalMs,
    log,
  });
