import { implement } from '@bunting/bus';
import { maySee, ReadProposedChanges } from '@bunting/contracts';
import { requireOpenForPlayground } from '../../domain/require-open-for-playground.ts';
import { requireVisible } from '../../domain/require-visible.ts';
import { toWireChangeWithSnapshot } from '../previews/wire-change.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const readProposedChangesEndpoint = ({ reader }: ChangeRequestsContext) =>
  implement(ReadProposedChanges, async ({ body: { id }, caller }) => {
    const found = await reader.byId(id);
    const isHidden = found !== undefined && !maySee(caller, found.project);
    const request = requireVisible(isHidden ? undefined : found, id, caller.id);
    requireOpenForPlayground(request);
    const { project, environment, changes } = request;
    return { project, environment, changes: changes.map((change) => toWireChangeWithSnapshot(change)) };
  });
