import { type Endpoint, implement, onBehalfOf } from '@bunting/bus';
import { ListEdgeInstances, ListEdges } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { GatewayContext } from '../context.ts';
import { withCurrentRevisions } from './current-revisions.ts';

export function edgeEndpoints({
  bus,
  currentRevisionOf,
  projectAndEnvironmentDirectory,
}: GatewayContext): readonly Endpoint[] {
  return [
    implement(ListEdges, async (request) => {
      const { edges } = await call(bus, ListEdgeInstances, {}, onBehalfOf(request));
      if (edges.length === 0) return { edges };
      const projects = new Set(await projectAndEnvironmentDirectory.visibleProjects(request));
      return { edges: withCurrentRevisions(edges, await currentRevisionOf(projects)) };
    }),
  ];
}
