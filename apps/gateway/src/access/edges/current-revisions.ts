import type { EdgeInstance, EdgeReport, EdgeRevision } from '@bunting/contracts';

type Scope = Pick<EdgeRevision, 'environment' | 'projects'>;
/** The revision of an environment and projects; undefined where there is no such environment. */
export type CurrentRevisionOf = (scope: Scope) => number | undefined;

/** Looking one up takes a look at every feature, and an edge may report whatever it likes. */
const maxScopes = 50;

function keyOf({ environment, projects }: Scope): string {
  return JSON.stringify([environment, [...new Set(projects)].sort()]);
}

/** The revisions of an edge, then those of the edges behind it. */
function revisionsOf({ edgeApiKeyRevisionIds = [], connectedEdges = [] }: EdgeReport): EdgeRevision[] {
  return [...edgeApiKeyRevisionIds, ...connectedEdges.flatMap(revisionsOf)];
}

/** By pair of environment and projects, the first of each edge before the second of any, so that no edge takes the places of others. */
function lookUp(edges: readonly EdgeInstance[], currentRevisionOf: CurrentRevisionOf): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  let queues = edges.map(revisionsOf);
  for (let nth = 0; queues.length > 0 && known.size < maxScopes; nth++) {
    queues = queues.filter(({ length }) => length > nth);
    for (const queue of queues) {
      const scope = queue[nth];
      if (scope === undefined || known.has(keyOf(scope)) || known.size === maxScopes) continue;
      const revision = currentRevisionOf(scope);
      if (revision !== undefined) known.set(keyOf(scope), revision);
    }
  }
  return known;
}

/**
 * The edges, and those behind them, with the revisions that this server has beside theirs, for up to 50 pairs of an environment and projects
 * that exist.
 */
export function withCurrentRevisions(
  edges: readonly EdgeInstance[],
  currentRevisionOf: CurrentRevisionOf,
): EdgeInstance[] {
  const known = lookUp(edges, currentRevisionOf);
  const complete = <E extends EdgeReport>(edge: E): E => ({
    ...edge,
    ...(edge.edgeApiKeyRevisionIds === undefined
      ? {}
      : {
          edgeApiKeyRevisionIds: edge.edgeApiKeyRevisionIds.map((revision) => {
            const currentRevisionId = known.get(keyOf(revision));
            return { ...revision, ...(currentRevisionId === undefined ? {} : { currentRevisionId }) };
          }),
        }),
    ...(edge.connectedEdges === undefined ? {} : { connectedEdges: edge.connectedEdges.map(complete) }),
  });
  return edges.map(complete);
}
