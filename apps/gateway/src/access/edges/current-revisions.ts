import type { EdgeInstance, EdgeReport, EdgeRevision } from '@bunting/contracts';

type Scope = Pick<EdgeRevision, 'environment' | 'projects'>;
/** The revision of an environment and projects; undefined where there is no such environment. */
export type CurrentRevisionOf = (scope: Scope) => number | undefined;

/** Looking one up takes a look at every feature, and an edge may report whatever it likes. */
const maxScopes = 20;

/** The edges, and those behind them, with the revisions that this server has beside theirs, for the first 20 pairs of environment and projects. */
export function withCurrentRevisions(
  edges: readonly EdgeInstance[],
  currentRevisionOf: CurrentRevisionOf,
): EdgeInstance[] {
  const known = new Map<string, number | undefined>();
  const currentOf = ({ environment, projects }: Scope): number | undefined => {
    const key = JSON.stringify([environment, projects.toSorted()]);
    if (!known.has(key) && known.size < maxScopes) known.set(key, currentRevisionOf({ environment, projects }));
    return known.get(key);
  };
  const complete = <E extends EdgeReport>(edge: E): E => ({
    ...edge,
    ...(edge.edgeApiKeyRevisionIds === undefined
      ? {}
      : {
          edgeApiKeyRevisionIds: edge.edgeApiKeyRevisionIds.map((revision) => {
            const currentRevisionId = currentOf(revision);
            return { ...revision, ...(currentRevisionId === undefined ? {} : { currentRevisionId }) };
          }),
        }),
    ...(edge.connectedEdges === undefined ? {} : { connectedEdges: edge.connectedEdges.map(complete) }),
  });
  return edges.map(complete);
}
