import { requireReferences, strategiesOf } from '../../domain/archive.ts';
import type { Decision } from '../../domain/feature.ts';
import type { Work } from '../../persistence/unit-of-work.ts';

/** Refuses to revive features of a project that use what was deleted while they were in the archive. */
export const requireReferencesOfRevived = async (
  { neighbourhood }: Pick<Work, 'neighbourhood'>,
  decisions: readonly Decision[],
): Promise<void> => {
  const revived = decisions.filter(({ events }) => events.length > 0).map(({ feature }) => feature);
  const [first] = revived;
  const strategies = revived.flatMap(strategiesOf);
  if (first === undefined || strategies.length === 0) return;
  const surroundings = await neighbourhood.of(first.project, {
    texts: strategies.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
    numbers: strategies.flatMap(({ segments }) => segments),
  });
  if (surroundings !== undefined) requireReferences(revived, surroundings);
};
