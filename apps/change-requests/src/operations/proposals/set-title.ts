import { implement } from '@bunting/bus';
import { SetTitle } from '@bunting/contracts';
import { withoutEvents } from '../../domain/change-request.ts';
import { setTitle } from '../../domain/title-and-comments.ts';
import type { ChangeRequestsContext } from '../context.ts';

export const setTitleEndpoint = ({ transaction, rolesOf }: ChangeRequestsContext) =>
  implement(SetTitle, (request) =>
    transaction(request, async ({ requests }) => {
      const { params, body, caller } = request;
      const before = await requests.getVisible(params, caller.id);
      await requests.save(withoutEvents(setTitle(before, body.title, rolesOf(caller, before))));
      return null;
    }),
  );
