import type { Projection } from '@bunting/outbox';
import { type Loop, startLoop } from '@bunting/runtime';
import type { PendingPrivateProjects } from '../persistence/projects/pending-private-projects.ts';

const intervalMs = 60_000;
const waitMs = 5_000;

interface Options {
  readonly pendingPrivateProjects: Pick<PendingPrivateProjects, 'hasExpired' | 'revealExpired'>;
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly warn: (message: string) => void;
}

/**
 * Reveals the projects that were hidden for a commit that failed. It waits until the gateway has applied every committed state: while the features
 * service is away, the projects stay hidden.
 */
export const revealExpiredProjects = async ({
  pendingPrivateProjects: pending,
  projects,
}: Omit<Options, 'warn'>): Promise<void> => {
  if ((await pending.hasExpired()) && (await projects.catchUp(waitMs)) === 0) await pending.revealExpired();
};

/** Runs `revealExpiredProjects` once a minute. */
export const startRevealingExpiredProjects = ({ warn, ...options }: Options): Pick<Loop, 'stop'> =>
  startLoop({
    name: 'The reveal of projects whose commit failed',
    run: () => revealExpiredProjects(options),
    intervalMs,
    warn,
  });
