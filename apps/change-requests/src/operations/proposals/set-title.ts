import { implement } from '@bunting/bus';
import { SetTitle } from '@bunting/contracts';
import { withoutEvents } from '../../requests/change-request.ts';
import { setTitle } from '../../domain/title-and-comments.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { requireProject } from '../require-project.ts';

export const setTitleEndpoint = ({ bus, transaction, rolesOf }: ChangeRequestsContext) =>
  implement(SetTitle, async (request) => {
    await requireProject(bus, request);
    return transaction(request, async ({ requests }) => {
      const { params, body, caller } = request;
      const before = await requests.getVisible(params, caller.id);
      await requests.save(withoutEvents(setTitle(before, body.title, rolesOf(caller, before))));
      return null;
    });
  });
