import type { Projection } from '@bunting/outbox';
import { type Loop, startLoop } from '@bunting/runtime';
import type { ProjectHidings } from '../persistence/projects/project-hidings.ts';

const intervalMs = 60_000;
const waitMs = 5_000;

interface Needs {
  readonly hidings: Pick<ProjectHidings, 'hasStale' | 'removeStale'>;
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly warn: (message: string) => void;
}

/**
 * Shows a project again that was hidden for a commit that failed. It does so only after the gateway has applied every state that was
 * committed: as long as the features service is away, the project stays hidden.
 */
export const removeStaleHidings = async ({ hidings, projects }: Omit<Needs, 'warn'>): Promise<void> => {
  if ((await hidings.hasStale()) && (await projects.catchUp(waitMs)) === 0) await hidings.removeStale();
};

/** Does that once a minute. */
export const startRemovingStaleHidings = ({ warn, ...needs }: Needs): Pick<Loop, 'stop'> =>
  startLoop({
    name: 'Showing projects again that were hidden for a commit that failed',
    run: () => removeStaleHidings(needs),
    intervalMs,
    warn,
  });
