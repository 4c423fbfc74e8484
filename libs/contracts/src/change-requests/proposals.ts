import { Type } from 'typebox';
import { ChangesBody, SingleChangeBody } from '../changes/change.ts';
import { CheckedChange } from '../changes/operations.ts';
import { operationsOf } from '../operation.ts';
import { ChangePath, ChangeRequestPath } from '../paths.ts';
import { Nullable, TrimmedText } from '../schemas.ts';
import { ChangeRequest, ChangeRequestPreview, changeRequestStates } from './change-request.ts';

const defineOperation = operationsOf('Change Requests');

/** Emits `change-request-created` and `change-added`. */
export const AddChanges = defineOperation({
  subject: 'call.change-requests.add-changes',
  operationId: 'createChangeRequest',
  summary: 'Create or add to a change request',
  description:
    "Adds the changes to the caller's change request for this project and environment. When there is none, it is created.",
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments/:environment/change-requests' },
  permission: 'proposer',
  query: Type.Object({
    new: Type.Optional(
      Type.Boolean({
        description:
          'whether to create a change request even if one is in review or approved; a draft is always added to',
      }),
    ),
  }),
  // Validation against the union of all actions could not name the invalid property, so the service validates the body by its `action`.
  body: Type.Unsafe<unknown>({ type: ['object', 'array'], documentation: ChangesBody }),
  reply: ChangeRequest,
  errors: ['ValidationError', 'ExceedsLimitError', 'ArchivedFeatureError', 'NotFoundError', 'ConflictError'],
});

/** The rule is that of `AddChanges`: the caller's draft, or else the newest request that accepts changes. */
export const GetProposalTarget = defineOperation({
  subject: 'call.change-requests.get-proposal-target',
  summary: 'Get the change request to which a proposal would be added',
  description:
    "Returns the caller's change request to which further changes for this project and environment would be added; null where they would create one. Adding changes to one that is in review or approved removes its approvals.",
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/projects/:projectId/environments/:environment/change-requests/target' },
  permission: 'authenticated',
  reply: Type.Object(
    {
      changeRequest: Nullable(
        Type.Object({
          id: Type.Integer({ description: 'the id of the change request' }),
          title: Type.String({ description: 'its title' }),
          state: Type.Enum([...changeRequestStates], { type: 'string', description: 'its state' }),
          approvals: Type.Integer({ minimum: 0, description: 'the number of approvals that it has' }),
        }),
        { description: 'the change request; null where a proposal creates one' },
      ),
    },
    { title: 'proposalTargetSchema', description: 'The change request to which a proposal would be added.' },
  ),
});

export const DiscardChange = defineOperation({
  subject: 'call.change-requests.discard-change',
  summary: 'Discard a change',
  description: 'Removes a change from a change request. Emits `change-discarded`.',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/change-requests/:id/changes/:changeId' },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangePath,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

export const DiscardDraft = defineOperation({
  subject: 'call.change-requests.discard-draft',
  operationId: 'deleteChangeRequest',
  summary: 'Discard a draft',
  description: 'Deletes a draft, which only its author can see. Emits `change-request-discarded`.',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/change-requests/:id' },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  errors: ['NotFoundError', 'ConflictError'],
});

export const EditChange = defineOperation({
  subject: 'call.change-requests.edit-change',
  summary: 'Update a change',
  description:
    'Replaces a change of a change request by another one with the same action and subject. Emits `change-edited`.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/changes/:changeId' },
  ifMatch: 'change request',
  permission: 'proposer',
  params: ChangePath,
  body: Type.Unsafe<unknown>({ type: 'object', documentation: SingleChangeBody }),
  reply: ChangeRequest,
  errors: ['ValidationError', 'ExceedsLimitError', 'ArchivedFeatureError', 'NotFoundError', 'ConflictError'],
});

export const PreviewProposal = defineOperation({
  subject: 'call.change-requests.preview-proposal',
  summary: 'Preview changes',
  description: 'Previews the effect of proposing and applying changes. Nothing is stored.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments/:environment/change-requests/preview' },
  permission: 'proposer',
  readsOnly: true,
  body: Type.Unsafe<unknown>({ type: ['object', 'array'], documentation: ChangesBody }),
  reply: ChangeRequestPreview,
});

/**
 * Creates a change request from the changes of an import that need approval, and sends it to review. A repeated call for the
 * same import creates no second one.
 */
export const ProposeImport = defineOperation({
  subject: 'call.change-requests.propose-import',
  summary: 'Create a change request for the changes of an import that need approval',
  idempotent: true,
  body: Type.Object({
    importId: Type.String({ description: 'the id of the import' }),
    project: Type.String(),
    environment: Type.String(),
    title: Type.String(),
    by: Type.Object(
      { id: Type.Integer(), name: Type.String(), username: Type.Optional(Type.String()) },
      { description: 'the user who imports' },
    ),
    changes: Type.Array(CheckedChange),
  }),
  reply: Type.Object({ id: Type.Integer({ description: 'the change request' }) }),
  tag: 'Internal',
});

export const RevertChangeRequest = defineOperation({
  subject: 'call.change-requests.revert-change-request',
  summary: 'Revert a change request',
  description: 'Creates a draft that undoes an applied change request. Later changes show as overwrites.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/projects/:projectId/change-requests/:id/revert' },
  permission: 'proposer',
  params: ChangeRequestPath,
  reply: ChangeRequest,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});

export const SetTitle = defineOperation({
  subject: 'call.change-requests.set-title',
  operationId: 'updateChangeRequestTitle',
  summary: 'Rename a change request',
  description: 'Sets the title of a change request.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/change-requests/:id/title', status: 204 },
  ifMatch: 'change request',
  permission: 'authenticated',
  params: ChangeRequestPath,
  body: Type.Object(
    {
      title: TrimmedText(255, 'the title'),
    },
    { title: 'updateChangeRequestTitleSchema', description: 'The new title of a change request.' },
  ),
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
