import type { Projection } from '@bunting/outbox';
import type { ProjectHidings } from '../persistence/project-hidings.ts';

const intervalMs = 60_000;
const waitMs = 5_000;

interface Needs {
  readonly hidings: Pick<ProjectHidings, 'hasStale' | 'removeStale'>;
  readonly projects: Pick<Projection, 'caughtUp'>;
  readonly warn: (message: string) => void;
}

/**
 * Shows a project again that was hidden for a commit that failed. It does so only after the gateway has applied every state that was
 * committed: as long as the features service is away, the project stays hidden.
 */
export const removeStaleHidings = async ({ hidings, projects, warn }: Needs): Promise<void> => {
  try {
    if ((await hidings.hasStale()) && (await projects.caughtUp(waitMs)) === 0) await hidings.removeStale();
  } catch (error) {
    warn(`Projects that were hidden for a commit that failed stay hidden for now: ${(error as Error).message}`);
  }
};

/** Does that once a minute. */
export const startRemovingStaleHidings = (needs: Needs): { readonly stop: () => Promise<void> } => {
  let removing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => (removing = removing.then(() => removeStaleHidings(needs))), intervalMs).unref();
  return {
    stop: () => {
      clearInterval(timer);
      return removing;
    },
  };
};
