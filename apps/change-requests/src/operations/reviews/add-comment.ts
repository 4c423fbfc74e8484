import { implement } from '@bunting/bus';
import { AddComment } from '@bunting/contracts';
import { withoutEvents } from '../../requests/change-request.ts';
import { withComment } from '../../domain/title-and-comments.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { requireProject } from '../require-project.ts';

/** Adds a comment, in any state of the request, including closed ones. */
export const addCommentEndpoint = ({ bus, transaction }: ChangeRequestsContext) =>
  implement(AddComment, async (request) => {
    await requireProject(bus, request);
    return transaction(request, async ({ requests }) => {
      const { params, body, caller } = request;
      const before = await requests.getVisible(params, caller.id);
      const comment = { id: await requests.newCommentId(), text: body.text.trim() };
      await requests.save(withoutEvents(withComment(before, comment, actorOf(caller, requests.now()))));
      return null;
    });
  });
