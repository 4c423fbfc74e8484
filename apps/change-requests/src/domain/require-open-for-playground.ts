import { isClosedState, invalid } from '@bunting/contracts';
import type { ChangeRequest } from '../requests/change-request.ts';

/** Refuses to evaluate the changes of a closed request, as the playground would. */
export const requireOpenForPlayground = ({ id, state }: Pick<ChangeRequest, 'id' | 'state'>): void => {
  if (isClosedState(state))
    throw invalid(
      `Change request ${id} is closed (${state}): its changes are not proposed any more.`,
      '/body/changeRequest',
    );
};
