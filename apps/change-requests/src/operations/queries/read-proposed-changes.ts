import { implement } from '@bunting/bus';
import { invalid, isClosedState, maySee, ReadProposedChanges } from '@bunting/contracts';
import { requireVisible } from '../../domain/require-visible.ts';
import { changeWithSnapshot } from '../previews/change-body.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const readProposedChangesEndpoint = ({ reader }: ChangeRequestsContext) =>
  implement(ReadProposedChanges, async ({ body: { id }, caller }) => {
    const found = await reader.byId(id);
    const isHidden = found !== undefined && !maySee(caller, found.project);
    const { state, project, environment, changes } = requireVisible(isHidden ? undefined : found, id, caller.id);
    if (isClosedState(state))
      throw invalid(
        `Change request ${id} is closed (${state}): its changes are not proposed any more.`,
        '/body/changeRequest',
      );
    return { project, environment, changes: changes.map((change) => changeWithSnapshot(change)) };
  });
