import { implement } from '@bunting/bus';
import { ProposeImport } from '@bunting/contracts';
import { addChanges } from '../../domain/content/add-changes.ts';
import { approvalsForNewRequest } from '../../protection/environment-protection.ts';
import { createDraft } from '../../domain/content/create-draft.ts';
import { executeCommand } from '../../states/commands.ts';
import { noRoles } from '../../reviews/request-roles.ts';
import type { ChangeRequestsContext } from '../context.ts';

/**
 * Creates a separate request for an import, in addition to the author's pending requests, and sends it to review. The changes are not
 * checked again: the features service checked them together with the import.
 */
export const proposeImportEndpoint = ({ transaction }: ChangeRequestsContext) =>
  implement(ProposeImport, ({ body, traceparent }) =>
    transaction({ traceparent }, async ({ requests, protections }) => {
      const { importId, project, environment, title, by, changes } = body;
      const existing = await requests.lockAndFindIdOfImport(importId);
      if (existing !== undefined) return { id: existing };
      const environmentRef = { project, environment };
      const { ids, now } = await requests.newChangeIds(changes.length);
      const actor = { by, now };
      const minApprovals = approvalsForNewRequest(await protections.requiredApprovals(environmentRef), true);
      const origin = { ...(await requests.newIdentity()), ...environmentRef, minApprovals };
      const draft = createDraft(origin, actor);
      const added = addChanges(draft.request, changes, ids, actor);
      const author = { ...actor, roles: { ...noRoles, author: true } };
      const sent = executeCommand({ ...added.request, title }, { name: 'send to review' }, author);
      const events = [...draft.events, ...added.events, ...sent.events];
      await requests.addForImport(importId, { request: sent.request, events });
      return { id: sent.request.id };
    }),
  );
