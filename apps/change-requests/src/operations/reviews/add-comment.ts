import { implement } from '@bunting/bus';
import { AddComment } from '@bunting/contracts';
import { requireText } from '../../domain/content/edit-change.ts';
import { requireVisible } from '../../domain/review/execute-command.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Adds a comment, in any state of the request, including closed ones. */
export const addCommentEndpoint = ({ transaction }: ChangeRequestsContext) =>
  implement(AddComment, (request) =>
    transaction(request, async ({ requests }) => {
      const { params, body, caller } = request;
      const text = requireText(body.text, 1000, '/body/text');
      const before = requireVisible(await requests.getInProject(params.id, params.projectId), params.id, caller.id);
      const { by, now } = actorOf(request);
      const comment = { id: await requests.newCommentId(), text, createdBy: by, createdAt: now.toISOString() };
      await requests.save(before, { ...before, comments: [...before.comments, comment] });
      return null;
    }),
  );
