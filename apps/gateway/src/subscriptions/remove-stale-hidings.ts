import type { Projection } from '@bunting/outbox';
import { type Loop, startLoop } from '@bunting/runtime';
import type { ProjectHidings } from '../persistence/projects/project-hidings.ts';

const intervalMs = 60_000;
const waitMs = 5_000;

interface Options {
  readonly hidings: Pick<ProjectHidings, 'hasStale' | 'removeStale'>;
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly warn: (message: string) => void;
}

/**
 * Unhides projects that were hidden for a commit that failed. It waits until the gateway has applied every committed state: while the features
 * service is away, the projects stay hidden.
 */
export const removeStaleHidings = async ({ hidings, projects }: Omit<Options, 'warn'>): Promise<void> => {
  if ((await hidings.hasStale()) && (await projects.catchUp(waitMs)) === 0) await hidings.removeStale();
};

/** Runs `removeStaleHidings` once a minute. */
export const startRemovingStaleHidings = ({ warn, ...options }: Options): Pick<Loop, 'stop'> =>
  startLoop({
    name: 'Removal of stale project hidings',
    run: () => removeStaleHidings(options),
    intervalMs,
    warn,
  });
