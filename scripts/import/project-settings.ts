import type { ProjectOverview } from '@bunting/contracts';
import type { SendRequest } from './import-batches.ts';
import type { Refusals } from './refusals.ts';

/** Two servers with Unleash's API, and what becomes of a move from one to the other. */
export interface Servers {
  readonly source: SendRequest;
  readonly target: SendRequest;
  readonly refusals: Refusals;
  /** Tells what was done. */
  readonly log: (line: string) => void;
}

type Overview = Pick<ProjectOverview, 'environments' | 'featureNaming' | 'featureLimit'>;

/** The strategy as it is sent: with the ids that its segments have at the target. */
function withSegments(strategy: object, idOf: (segment: number) => number): object {
  const { segments, ...rest } = strategy as { readonly segments?: readonly number[] };
  return segments === undefined ? rest : { ...rest, segments: segments.map(idOf) };
}

/**
 * Sets the naming pattern, the limit of features and the default strategies of projects where the target has none. It comes after the
 * features, whose names may be older than the pattern.
 * @param segments those of the source
 */
export async function moveProjectSettings(
  { source, target, refusals, log }: Servers,
  projects: readonly string[],
  segments: readonly { readonly id: number; readonly name: string }[],
): Promise<void> {
  const listed = await target<{ readonly segments: typeof segments }>('GET', '/api/admin/segments');
  const idByName = new Map(listed.segments.map(({ id, name }) => [name, id]));
  const nameById = new Map(segments.map(({ id, name }) => [id, name]));
  /** An id that the target refuses by its number, if it has refused the segment. */
  const idOf = (segment: number): number => idByName.get(nameById.get(segment) ?? '') ?? 0;
  for (const project of projects) {
    const path = `/api/admin/projects/${encodeURIComponent(project)}`;
    await refusals.collectFrom(`project ${project}`, async () => {
      const [before, after] = [
        await source<Overview>('GET', `${path}/overview`),
        await target<Overview>('GET', `${path}/overview`),
      ];
      const naming = before.featureNaming?.pattern ? { featureNaming: before.featureNaming } : {};
      const limit = typeof before.featureLimit === 'number' ? { featureLimit: before.featureLimit } : {};
      const settings = {
        ...(after.featureNaming?.pattern ? {} : naming),
        ...(typeof after.featureLimit === 'number' ? {} : limit),
      };
      if (Object.keys(settings).length > 0) {
        await target('PUT', `${path}/settings`, settings);
        log(`${project}: ${Object.keys(settings).join(', ')}`);
      }
      for (const { environment, defaultStrategy } of before.environments) {
        const there = after.environments.find((connected) => connected.environment === environment);
        if (!defaultStrategy || there === undefined || there.defaultStrategy) continue;
        await refusals.collectFrom(`default strategy of ${project} in ${environment}`, async () => {
          const strategy = withSegments(defaultStrategy, idOf);
          await target('POST', `${path}/environments/${encodeURIComponent(environment)}/default-strategy`, strategy);
          log(`${project} in ${environment}: default strategy`);
        });
      }
    });
  }
}
