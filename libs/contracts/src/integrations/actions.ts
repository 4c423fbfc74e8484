import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import type { Permission } from '../permissions.ts';
import { AnyObject, maxId, Nullable, TextByKey, Timestamp } from '../schemas.ts';
import { constraintOperators } from '../strategies/constraints.ts';
import { HistoryQuery } from './signals.ts';

const defineOperation = operationsOf('Actions');

/** What an action may do: the texts that it needs, and the permission in the project that its service account needs. */
export const actionKinds = {
  TOGGLE_FEATURE_ON: { needs: ['featureName', 'environment'], permission: 'UPDATE_FEATURE_ENVIRONMENT' },
  TOGGLE_FEATURE_OFF: { needs: ['featureName', 'environment'], permission: 'UPDATE_FEATURE_ENVIRONMENT' },
  PROPOSE_FEATURE_ON: { needs: ['featureName', 'environment'], permission: undefined },
  PROPOSE_FEATURE_OFF: { needs: ['featureName', 'environment'], permission: undefined },
  MARK_FEATURE_STALE: { needs: ['featureName'], permission: 'UPDATE_FEATURE' },
  TAG_FEATURE: { needs: ['featureName', 'type', 'value'], permission: 'UPDATE_FEATURE' },
  ARCHIVE_FEATURE: { needs: ['featureName'], permission: 'DELETE_FEATURE' },
} as const satisfies Readonly<
  Record<string, { readonly needs: readonly string[]; readonly permission: Permission | undefined }>
>;
export type ActionKind = keyof typeof actionKinds;

const actionKind = Type.Enum(Object.keys(actionKinds) as ActionKind[], {
  type: 'string',
  description:
    'what is done: `TOGGLE_FEATURE_ON` and `TOGGLE_FEATURE_OFF` switch a flag in an environment, `PROPOSE_FEATURE_ON` and `PROPOSE_FEATURE_OFF` open a change request that does, `MARK_FEATURE_STALE`, `TAG_FEATURE` and `ARCHIVE_FEATURE` are about the flag as a whole',
});

/** The limits of an action set, which are those of Unleash. */
export const maxFilters = 5;
export const maxFilterValues = 25;
export const maxActions = 10;

/** The operators of filters. A pattern would be matched with texts that strangers send. */
export const filterOperators = constraintOperators.filter((operator) => operator !== 'REGEX');

export const PayloadFilter = Type.Object(
  {
    operator: Type.Enum(filterOperators, { type: 'string', description: 'how the value is compared' }),
    inverted: Type.Optional(Type.Boolean({ description: 'whether the result is negated; default: false' })),
    caseInsensitive: Type.Optional(
      Type.Boolean({ description: 'whether upper and lower case are the same; default: false' }),
    ),
    value: Type.Optional(Type.String({ description: 'for operators that take a single value' })),
    values: Type.Optional(
      Type.Array(Type.String(), { maxItems: maxFilterValues, description: 'for operators that take several values' }),
    ),
  },
  { additionalProperties: false },
);
export type PayloadFilter = Static<typeof PayloadFilter>;

export const ActionMatch = Type.Object({
  source: Type.Enum(['signal-endpoint'], { type: 'string', description: 'the kind of the source' }),
  sourceId: Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the signal endpoint' }),
  payload: Type.Unsafe<Record<string, PayloadFilter>>({
    type: 'object',
    additionalProperties: PayloadFilter,
    description:
      'conditions that must all hold, by the path of a value in the signal, such as `commonLabels.severity` or `alerts[0].labels.job`; at most 5, each with at most 25 values',
  }),
});

const executionParams = AnyObject({
  description: 'what it is done to: texts such as `featureName`, `environment`, and the `type` and `value` of a tag',
});

const Action = Type.Object({
  id: Type.Integer({ minimum: 1, description: 'the id' }),
  action: actionKind,
  sortOrder: Type.Integer({ description: 'the actions are executed in this order' }),
  executionParams,
  createdAt: Timestamp('when it was stored'),
  createdByUserId: Type.Integer({ description: 'the id of who has stored it' }),
});
export type Action = Static<typeof Action>;

const state = Type.Enum(['started', 'success', 'failed'], { type: 'string', description: 'what has become of it' });
const ExecutedAction = Type.Object({
  ...Action.properties,
  state: Type.Enum(['not started', 'started', 'success', 'failed'], {
    type: 'string',
    description: 'what has become of it; after one that failed no further one is started',
  }),
  details: Type.Optional(Type.String({ description: 'why it failed, or what it did' })),
});
export type ExecutedAction = Static<typeof ExecutedAction>;

export const ActionSet = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id' }),
    name: Type.String({ description: 'the name' }),
    description: Type.String({ description: 'what it is for; empty without a description' }),
    enabled: Type.Boolean({ description: 'whether signals cause runs' }),
    project: Type.String({ description: 'the project of the flags' }),
    actorId: Type.Integer({ description: 'the id of the service account that acts' }),
    match: ActionMatch,
    actions: Type.Array(Action, { description: 'in the order of their execution' }),
    createdAt: Timestamp('when it was created'),
    createdByUserId: Type.Integer({ description: 'the id of its creator' }),
  },
  { title: 'actionSetSchema', description: 'What is done when a signal matches, and as whom.' },
);
export type ActionSet = Static<typeof ActionSet>;

export const ActionSetBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'the name; no other of the project has it' }),
    description: Type.Optional(Type.String({ maxLength: 2_000, description: 'what it is for' })),
    enabled: Type.Boolean({ description: 'whether signals cause runs' }),
    actorId: Type.Integer({
      minimum: 1,
      maximum: maxId,
      description: 'the id of the service account as which the actions are executed, with its rights at that time',
    }),
    match: ActionMatch,
    actions: Type.Array(
      Type.Object({
        action: actionKind,
        sortOrder: Type.Optional(Type.Integer({ description: 'the position; default: that in the list' })),
        executionParams,
      }),
      { minItems: 1, maxItems: maxActions, description: 'what is done, in this order' },
    ),
  },
  { title: 'createActionSetSchema', description: 'What is to be done when a signal matches, and as whom.' },
);
export type ActionSetBody = Static<typeof ActionSetBody>;

export const ActionSetEvent = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id' }),
    actionSetId: Type.Integer({ description: 'the id of the action set' }),
    signalId: Type.Integer({ description: 'the id of the signal' }),
    createdAt: Timestamp('when it started'),
    state,
    signal: Type.Object({
      id: Type.Integer({ description: 'the id of the signal' }),
      source: Type.Enum(['signal-endpoint'], { type: 'string', description: 'the kind of its source' }),
      sourceId: Type.Integer({ description: 'the id of the signal endpoint' }),
      createdAt: Timestamp('when it was received'),
      payload: Type.Unsafe<unknown>({ description: 'the JSON that was sent' }),
    }),
    actionSet: Type.Object({
      ...ActionSet.properties,
      actions: Type.Array(ExecutedAction, { description: 'the actions, and what has become of them' }),
    }),
  },
  { title: 'actionSetEventSchema', description: 'A run: one execution of an action set because of a signal.' },
);
export type ActionSetEvent = Static<typeof ActionSetEvent>;

const projectId = Type.String({ minLength: 1, description: 'the id of the project' });
const ActionSetPath = Type.Object({
  projectId,
  id: Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the action set' }),
});
const readPermissions = ['UPDATE_PROJECT', 'PROJECT_SETTINGS_READ'] as const;

export const ListActionSets = defineOperation({
  subject: 'call.integrations.list-action-sets',
  operationId: 'getActionSets',
  summary: 'List the actions of a project',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/actions' },
  permission: readPermissions,
  reply: Type.Object(
    { actions: Type.Array(ActionSet, { description: 'in the order of their creation' }) },
    { title: 'actionSetsSchema', description: 'The action sets of a project.' },
  ),
  errors: [],
});

export const GetActionSet = defineOperation({
  subject: 'call.integrations.get-action-set',
  summary: 'Get an action set',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/projects/:projectId/actions/:id' },
  permission: readPermissions,
  params: ActionSetPath,
  reply: ActionSet,
});

/** Emits `actions-created`. */
export const CreateActionSet = defineOperation({
  subject: 'call.integrations.create-action-set',
  summary: 'Create an action set',
  description: 'Creates a set of actions that are executed, as a service account, when a signal matches.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/actions', status: 201 },
  permission: 'ADMIN',
  body: ActionSetBody,
  reply: ActionSet,
  errors: ['ValidationError', 'NameExistsError', 'NotFoundError', 'ExceedsLimitError'],
});

/** Emits `actions-updated`. */
export const UpdateActionSet = defineOperation({
  subject: 'call.integrations.update-action-set',
  summary: 'Update an action set',
  description: 'Replaces the properties of an action set. Runs that have started are not changed.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/actions/:id' },
  ifMatch: 'action set',
  permission: 'ADMIN',
  params: ActionSetPath,
  body: ActionSetBody,
  reply: ActionSet,
  errors: ['ValidationError', 'NameExistsError', 'NotFoundError'],
});

/** Emits `actions-updated`, if it was disabled. */
export const EnableActionSet = defineOperation({
  subject: 'call.integrations.enable-action-set',
  operationId: 'toggleActionSetOn',
  summary: 'Enable an action set',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/actions/:id/on', anyContentType: true },
  permission: 'ADMIN',
  params: ActionSetPath,
});

/** Emits `actions-updated`, if it was enabled. */
export const DisableActionSet = defineOperation({
  subject: 'call.integrations.disable-action-set',
  operationId: 'toggleActionSetOff',
  summary: 'Disable an action set',
  description: 'Disables an action set: no action of it begins from then on, also of a run that has started.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/actions/:id/off', anyContentType: true },
  permission: 'ADMIN',
  params: ActionSetPath,
});

/** Emits `actions-deleted`. */
export const DeleteActionSet = defineOperation({
  subject: 'call.integrations.delete-action-set',
  summary: 'Delete an action set',
  description: 'Deletes an action set with the list of its runs. The event log keeps its events.',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/actions/:id', anyContentType: true },
  permission: 'ADMIN',
  params: ActionSetPath,
});

export const ListActionSetEvents = defineOperation({
  subject: 'call.integrations.list-action-set-events',
  operationId: 'getActionSetEvents',
  summary: 'List the runs of an action set',
  description: 'Lists the runs of an action set, newest first. They are kept as long as their signals.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/actions/:id/events' },
  permission: readPermissions,
  params: ActionSetPath,
  query: HistoryQuery,
  reply: Type.Object(
    { actionSetEvents: Type.Array(ActionSetEvent, { description: 'newest first' }) },
    { title: 'actionSetEventsSchema', description: 'Runs of an action set.' },
  ),
});

/**
 * Executes an action as a service account, with the rights that it has now, as if it had called the operation with a token. Only service accounts
 * act so, and only these actions exist. Repeated with the same key, it has no further effect. A failure that may end by itself is thrown.
 */
export const ExecuteAction = defineOperation({
  subject: 'call.gateway.execute-action',
  summary: 'Execute an action as a service account',
  idempotent: true,
  body: Type.Object({
    accountId: Type.Integer({ description: 'the id of the service account' }),
    key: Type.String({ minLength: 1, maxLength: 100, description: 'the same for each attempt of the same execution' }),
    project: Type.String(),
    action: actionKind,
    executionParams: TextByKey(),
    reason: Type.String({ maxLength: 500, description: 'the comment of a change request' }),
  }),
  reply: Type.Object({
    by: Nullable(Type.Object({ id: Type.Integer(), name: Type.String() }), {
      description: 'the service account; null if it is deleted or disabled, or is none',
    }),
    refusal: Nullable(Type.String(), { description: 'why the action was refused; null if it was executed' }),
    details: Type.String({ description: 'what was done, where it is more than the action says' }),
  }),
  tag: 'Internal',
});
