// The promised interface of the seven operations, written a second time by hand, independent of the contracts: a contract that loses a
// property, a limit or an error fails the comparison.

/** The promised shape of a value. */
export type Shape =
  | { readonly is: 'string' | 'boolean' | 'number' | 'integer' | 'object' | 'anything' | 'text by key' }
  | { readonly is: 'moment' | 'address' }
  | { readonly listOf: Shape }
  | { readonly members: Table }
  | { readonly oneOf: readonly Shape[] };

export interface Field {
  readonly shape: Shape;
  readonly required: boolean;
  readonly nullable?: boolean;
  readonly oneOf?: readonly (string | number)[];
  readonly least?: number;
  readonly most?: number;
  readonly shortest?: number;
  readonly longest?: number;
  readonly pattern?: string;
  readonly normally?: string | number | boolean;
  readonly deprecated?: boolean;
}
export type Table = Readonly<Record<string, Field>>;

type Rules = Omit<Field, 'shape' | 'required'>;

const req = (shape: Shape, rules: Rules = {}): Field => ({ shape, required: true, ...rules });
const opt = (shape: Shape, rules: Rules = {}): Field => ({ shape, required: false, ...rules });
const orNull = { nullable: true } as const;
const deprecated = { deprecated: true } as const;

const string: Shape = { is: 'string' };
const boolean: Shape = { is: 'boolean' };
const number: Shape = { is: 'number' };
const integer: Shape = { is: 'integer' };
const object: Shape = { is: 'object' };
const moment: Shape = { is: 'moment' };
const address: Shape = { is: 'address' };
const list = (listOf: Shape): Shape => ({ listOf });
const record = (members: Table): Shape => ({ members });

export const constraint: Table = {
  contextName: req(string),
  operator: req(string, {
    oneOf: [
      'NOT_IN',
      'IN',
      'STR_ENDS_WITH',
      'STR_STARTS_WITH',
      'STR_CONTAINS',
      'NUM_EQ',
      'NUM_GT',
      'NUM_GTE',
      'NUM_LT',
      'NUM_LTE',
      'DATE_AFTER',
      'DATE_BEFORE',
      'SEMVER_EQ',
      'SEMVER_GT',
      'SEMVER_LT',
      // Unleash has these since 8.0.3: an extension of the interface, documented in the README.
      'SEMVER_GTE',
      'SEMVER_LTE',
      'REGEX',
    ],
  }),
  caseInsensitive: opt(boolean, { normally: false }),
  inverted: opt(boolean, { normally: false }),
  values: opt(list(string)),
  value: opt(string),
};

const payload: Table = { type: req(string, { oneOf: ['json', 'csv', 'string', 'number'] }), value: req(string) };

const weightType = { oneOf: ['fix', 'variable'] } as const;
const strategyVariant: Table = {
  name: req(string),
  weight: req(integer, { least: 0, most: 1000 }),
  weightType: req(string, weightType),
  stickiness: req(string),
  payload: opt(record(payload)),
};

const featureStrategy: Table = {
  id: opt(string),
  name: req(string),
  title: opt(string, orNull),
  disabled: opt(boolean, { nullable: true, normally: false }),
  featureName: opt(string),
  sortOrder: opt(number),
  segments: opt(list(number)),
  constraints: opt(list(record(constraint))),
  variants: opt(list(record(strategyVariant))),
  parameters: opt({ is: 'text by key' }),
};

const featureVariant: Table = {
  name: req(string),
  weight: req(number, { least: 0, most: 1000 }),
  weightType: opt(string, weightType),
  stickiness: opt(string),
  payload: opt(record(payload)),
  overrides: opt(list(record({ contextName: req(string), values: req(list(string)) }))),
};

const featureEnvironment: Table = {
  name: req(string),
  featureName: opt(string),
  environment: opt(string),
  type: opt(string),
  enabled: req(boolean),
  sortOrder: opt(number),
  variantCount: opt(number),
  strategies: opt(list(record(featureStrategy))),
  variants: opt(list(record(featureVariant))),
  lastSeenAt: opt(moment, orNull),
  hasStrategies: opt(boolean),
  hasEnabledStrategies: opt(boolean),
};
const searchResultEnvironment: Table = {
  ...featureEnvironment,
  type: req(string),
  yes: opt(integer),
  no: opt(integer),
};

const tag: Table = {
  value: req(string, { shortest: 2, longest: 50 }),
  type: req(string, { shortest: 2, longest: 50 }),
};

const lifecycle: Table = {
  stage: req(string, { oneOf: ['initial', 'pre-live', 'live', 'completed', 'archived'] }),
  enteredStageAt: req(moment),
};
const searchResultLifecycle: Table = { ...lifecycle, status: opt(string, orNull) };

const userReference: Table = { id: req(integer), name: req(string), imageUrl: req(string) };

const feature: Table = {
  name: req(string),
  type: opt(string),
  description: opt(string, orNull),
  archived: opt(boolean),
  project: opt(string),
  enabled: opt(boolean),
  stale: opt(boolean),
  favorite: opt(boolean),
  impressionData: opt(boolean),
  createdAt: opt(moment, orNull),
  createdBy: opt(record(userReference)),
  archivedAt: opt(moment, orNull),
  lastSeenAt: opt(moment, { ...orNull, ...deprecated }),
  environments: opt(list(record(featureEnvironment))),
  variants: opt(list(record(featureVariant)), deprecated),
  strategies: opt(list(object), deprecated),
  tags: opt(list(record(tag)), orNull),
  children: opt(list(string)),
  lifecycle: opt(record(lifecycle)),
  dependencies: opt(list(record({ feature: req(string), enabled: opt(boolean), variants: opt(list(string)) }))),
  collaborators: opt(record({ users: req(list(record(userReference))) })),
};

const searchResultFeature: Table = {
  name: req(string),
  type: req(string),
  description: req(string, orNull),
  dependencyType: req(string, { nullable: true, oneOf: ['parent', 'child'] }),
  project: req(string),
  stale: req(boolean),
  favorite: req(boolean),
  impressionData: req(boolean),
  createdAt: req(moment, orNull),
  archivedAt: req(moment, orNull),
  environments: req(list(record(searchResultEnvironment))),
  segments: req(list(string)),
  lastSeenAt: opt(moment, { ...orNull, ...deprecated }),
  variants: opt(list(record(featureVariant)), deprecated),
  strategies: opt(list(object), deprecated),
  tags: opt(list(record(tag)), orNull),
  lifecycle: opt(record(searchResultLifecycle)),
  createdBy: req(record(userReference)),
};

const position: Table = { id: req(string), sortOrder: req(number) };
const author: Table = { username: opt(string, orNull), imageUrl: opt(address, orNull) };
const change: Table = {
  id: req(number),
  action: req(string),
  conflict: opt(string),
  payload: req({ oneOf: [string, boolean, number, object, list(record(position))] }),
  createdBy: opt(record(author)),
  createdAt: opt(moment),
};
const approval: Table = {
  createdBy: req(record({ id: opt(number), username: opt(string), imageUrl: opt(address) })),
  createdAt: req(moment),
};
const schedule: Shape = {
  oneOf: [
    record({ status: req(string, { oneOf: ['pending'] }), scheduledAt: req(moment) }),
    record({
      status: req(string, { oneOf: ['failed'] }),
      scheduledAt: req(moment),
      reason: req(string),
      failureReason: opt(string, { ...orNull, ...deprecated }),
    }),
    record({ status: req(string, { oneOf: ['suspended'] }), scheduledAt: req(moment), reason: req(string) }),
  ],
};
const changeRequest: Table = {
  id: req(number),
  title: opt(string),
  environment: req(string),
  minApprovals: req(number),
  project: req(string),
  features: req(
    list(
      record({
        name: req(string),
        conflict: opt(string),
        changes: req(list(record(change))),
        defaultChange: opt(record({ action: req(string), payload: req(object) })),
      }),
    ),
  ),
  segments: req(list(record({ id: req(number), name: req(string), changes: req(list(record(change))) }))),
  approvals: opt(list(record(approval))),
  rejections: opt(list(record(approval))),
  comments: opt(
    list(record({ id: opt(number), text: req(string), createdBy: req(record(author)), createdAt: req(moment) })),
  ),
  createdBy: req(record(author)),
  createdAt: req(moment),
  state: req(string, {
    oneOf: ['Draft', 'In review', 'Approved', 'Applied', 'Cancelled', 'Rejected', 'Scheduled'],
  }),
  schedule: opt(schedule),
};
const pendingChangeRequest: Table = {
  ...changeRequest,
  minApprovals: opt(number, deprecated),
  approvals: opt(list(record(approval)), deprecated),
  rejections: opt(list(record(approval)), deprecated),
  comments: { ...(changeRequest['comments'] as Field), ...deprecated },
};

export const errorBody: Table = { id: req(string), name: req(string), message: req(string) };

export const eventTypesOfInterface: readonly string[] = `
  application-created feature-created feature-deleted feature-updated feature-metadata-updated feature-variants-updated
  feature-environment-variants-updated feature-project-change feature-archived feature-revived feature-import feature-tagged
  feature-tag-import feature-strategy-update feature-strategy-add feature-strategy-remove feature-type-updated
  feature-completed feature-uncompleted strategy-order-changed drop-feature-tags feature-untagged feature-stale-on
  feature-stale-off drop-features feature-environment-enabled feature-environment-disabled strategy-created strategy-deleted
  strategy-deprecated strategy-reactivated strategy-updated strategy-import drop-strategies context-field-created
  context-field-updated context-field-deleted project-access-added project-access-user-roles-updated
  project-access-group-roles-updated project-access-user-roles-deleted project-access-group-roles-deleted
  project-access-updated project-created project-updated project-deleted project-archived project-revived project-import
  project-user-added project-user-removed project-user-role-changed project-group-role-changed project-group-added
  project-group-removed role-created role-updated role-deleted drop-projects tag-created tag-deleted tag-import drop-tags
  tag-type-created tag-type-deleted tag-type-updated tag-type-import drop-tag-types addon-config-created
  addon-config-updated addon-config-deleted db-pool-update user-created user-updated user-deleted drop-environments
  environment-import environment-created environment-updated environment-deleted segment-created segment-updated
  segment-deleted group-created group-updated group-deleted group-user-added group-user-removed setting-created
  setting-updated setting-deleted client-metrics client-register pat-created pat-deleted public-signup-token-created
  public-signup-token-user-added public-signup-token-updated change-request-created change-request-discarded change-added
  change-discarded change-edited change-request-rejected change-request-approved change-request-approval-added
  change-request-cancelled change-request-sent-to-review change-request-schedule-suspended change-request-applied
  change-request-scheduled change-request-scheduled-application-success change-request-scheduled-application-failure
  change-request-configuration-updated api-token-created api-token-updated api-token-deleted feature-favorited
  feature-unfavorited project-favorited project-unfavorited features-exported features-imported service-account-created
  service-account-deleted service-account-updated feature-potentially-stale-on feature-dependency-added
  feature-dependency-removed feature-dependencies-removed banner-created banner-updated banner-deleted
  project-environment-added project-environment-removed default-strategy-updated segment-import signal-endpoint-created
  signal-endpoint-updated signal-endpoint-deleted signal-endpoint-token-created signal-endpoint-token-updated
  signal-endpoint-token-deleted actions-created actions-updated actions-deleted
`
  .trim()
  .split(/\s+/);

const event: Table = {
  id: req(integer, { least: 1 }),
  createdAt: req(moment),
  type: req(string, { oneOf: eventTypesOfInterface }),
  createdBy: req(string),
  createdByUserId: opt(number, orNull),
  environment: opt(string, orNull),
  project: opt(string, orNull),
  featureName: opt(string, orNull),
  data: opt(object, orNull),
  preData: opt(object, orNull),
  tags: opt(list(record(tag)), orNull),
  label: opt(string, orNull),
  summary: opt(string, orNull),
};

const aboutFeature = (action: string, payloadField: Field): Table => ({
  action: req(string, { oneOf: [action] }),
  feature: req(string),
  payload: payloadField,
});
const aboutSegment = (action: string): Table => ({
  action: req(string, { oneOf: [action] }),
  payload: req(record({ id: req(integer) })),
});
export const changes: readonly Table[] = [
  aboutSegment('updateSegment'),
  aboutSegment('deleteSegment'),
  aboutFeature('updateEnabled', req(record({ enabled: req(boolean), shouldActivateDisabledStrategies: opt(boolean) }))),
  aboutFeature(
    'addStrategy',
    req(
      record({
        name: req(string),
        title: opt(string, orNull),
        disabled: opt(boolean, { nullable: true, normally: false }),
        sortOrder: opt(number),
        constraints: req(list(record(constraint))),
        variants: opt(list(record(strategyVariant))),
        parameters: req({ is: 'text by key' }),
        segments: opt(list(number)),
      }),
    ),
  ),
  aboutFeature('updateStrategy', req(record({ id: req(string) }))),
  aboutFeature('deleteStrategy', req(record({ id: req(string) }))),
  aboutFeature('archiveFeature', opt({ is: 'anything' })),
  aboutFeature('patchVariant', req(record({ variants: req(list(record(featureVariant))) }))),
  aboutFeature('reorderStrategy', req(list(record(position)))),
  aboutFeature(
    'addDependency',
    req(record({ feature: req(string), enabled: opt(boolean, { normally: true }), variants: opt(list(string)) })),
  ),
  aboutFeature('deleteDependency', opt({ is: 'anything' })),
];
const oneChange: Shape = { oneOf: changes.map(record) };

const among = String.raw`^(IS|IS_NOT|IS_ANY_OF|IS_NONE_OF):(.*?)(,([a-zA-Z0-9_]+))*$`;
const including = String.raw`^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):(.*?)(,([a-zA-Z0-9_]+))*$`;
const tagged = String.raw`^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):([^:,]+:.+?)(,\s*[^:,]+:.+?)*$`;
const searchQuery: Table = {
  query: opt(string),
  project: opt(string, { pattern: among }),
  state: opt(string, { pattern: among }),
  type: opt(string, { pattern: among }),
  createdBy: opt(string, { pattern: among }),
  tag: opt(string, { pattern: tagged }),
  segment: opt(string, { pattern: including }),
  status: opt(list(string)),
  offset: opt(string, { normally: '0' }),
  limit: opt(string, { normally: '50' }),
  sortBy: opt(string, { normally: 'createdAt' }),
  sortOrder: opt(string, { oneOf: ['asc', 'desc'], normally: 'asc' }),
  favoritesFirst: opt(string, { normally: 'false' }),
  archived: opt(string),
  createdAt: opt(string, { pattern: String.raw`^(IS_BEFORE|IS_ON_OR_AFTER):\d{4}-\d{2}-\d{2}$` }),
};

export interface PromisedOperation {
  readonly method: string;
  readonly path: string;
  readonly pathParameters: readonly string[];
  readonly query: Table;
  readonly body: Shape | undefined;
  /** the shape of the body of the response with the status 200; undefined when it has none */
  readonly reply: Shape | undefined;
  readonly deprecated: boolean;
  /** the kinds of errors by status: those of the operation, and those of every operation */
  readonly errors: Readonly<Record<number, string>>;
}

const always = { 401: 'AuthenticationRequired', 403: 'NoAccessError' } as const;

export const promised: readonly PromisedOperation[] = [
  {
    method: 'patch',
    path: '/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}',
    pathParameters: ['projectId', 'featureName', 'environment', 'strategyId'],
    query: {},
    body: list(
      record({
        path: req(string),
        op: req(string, { oneOf: ['add', 'remove', 'replace', 'copy', 'move'] }),
        from: opt(string),
        value: opt({ is: 'anything' }),
      }),
    ),
    reply: record(featureStrategy),
    deprecated: false,
    errors: { ...always, 400: 'ValidationError', 404: 'NotFoundError', 415: 'ContentTypeerror' },
  },
  {
    method: 'get',
    path: '/api/admin/projects/{projectId}/features/{featureName}',
    pathParameters: ['projectId', 'featureName'],
    query: {},
    body: undefined,
    reply: record(feature),
    deprecated: false,
    errors: always,
  },
  {
    method: 'post',
    path: '/api/admin/projects/{projectId}/environments/{environment}/change-requests',
    pathParameters: ['projectId', 'environment'],
    query: {},
    body: { oneOf: [oneChange, list(oneChange)] },
    reply: record(changeRequest),
    deprecated: false,
    errors: always,
  },
  {
    method: 'get',
    path: '/api/admin/projects/{projectId}/change-requests/pending',
    pathParameters: ['projectId'],
    query: {},
    body: undefined,
    reply: list(record(pendingChangeRequest)),
    deprecated: false,
    errors: always,
  },
  {
    method: 'get',
    path: '/api/admin/search/features',
    pathParameters: [],
    query: searchQuery,
    body: undefined,
    reply: record({ features: req(list(record(searchResultFeature))), total: opt(number) }),
    deprecated: false,
    errors: always,
  },
  {
    method: 'delete',
    path: '/api/admin/features/{featureName}/tags/{type}/{value}',
    pathParameters: ['featureName', 'type', 'value'],
    query: {},
    body: undefined,
    reply: undefined,
    deprecated: false,
    errors: { ...always, 404: 'NotFoundError' },
  },
  {
    method: 'post',
    path: '/api/admin/events/search',
    pathParameters: [],
    query: {},
    body: record({
      type: opt(string, { oneOf: eventTypesOfInterface }),
      project: opt(string),
      feature: opt(string),
      query: opt(string),
      limit: opt(integer, { least: 1, most: 100, normally: 100 }),
      offset: opt(integer),
    }),
    reply: record({
      version: req(integer, { oneOf: [1], least: 1 }),
      events: req(list(record(event))),
      totalEvents: opt(integer),
    }),
    deprecated: true,
    errors: always,
  },
];
