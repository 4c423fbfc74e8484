import {
  type ChangeAction,
  type ChangeRequestState,
  changeRequestStates,
  type InverseChange,
} from '@bunting/contracts';
import { TimestampColumn } from '@bunting/database/entities';
import { defineEntity, p } from '@mikro-orm/postgresql';
import {
  type ApplyAttempt,
  type CommentedChange,
  type ReviewRequest,
  type Schedule,
  scheduleStatuses,
  type Step,
} from '../requests/change-request.ts';
import { isPendingSql, sqlList } from '../requests/request-conditions.ts';

// Properties are named as in the domain and in JSON, and columns after them. The JSON of a request omits `hidden` properties.

/** Refuses a second draft of one user for one project and environment. */
export const oneDraftIndex = 'change_request_draft';

function timestamp() {
  return p.type(TimestampColumn);
}

/** In an index: the id of an embedded object. MikroORM accepts a path there, but its types do not. */
function idOf<Name extends string>(name: Name) {
  return `${name}.id` as Name;
}

const UserRefEmbeddable = defineEntity({
  name: 'UserRef',
  embeddable: true,
  properties: { id: p.bigint('number'), name: p.text().nullable(), username: p.text().nullable() },
});

const ActorEmbeddable = defineEntity({
  name: 'Actor',
  embeddable: true,
  properties: { id: p.bigint('number'), name: p.text() },
});

const SegmentEmbeddable = defineEntity({
  name: 'Segment',
  embeddable: true,
  properties: { id: p.integer().nullable(), name: p.text().nullable() },
});

export const ChangeRequestEntity = defineEntity({
  name: 'ChangeRequest',
  tableName: 'change_request',
  properties: {
    id: p.bigint('number').primary(),
    uid: p.uuid().nullable(),
    project: p.text(),
    environment: p.text(),
    title: p.text().nullable(),
    state: p.text().$type<ChangeRequestState>(),
    minApprovals: p.integer(),
    createdBy: p.embedded(UserRefEmbeddable).prefix('created_by_'),
    createdAt: timestamp(),
    revision: p.integer(),
    stateTimestamps: p.json<Readonly<Record<string, string>>>(),
    reviewRequests: p.json<readonly ReviewRequest[]>().default('[]'),
    steps: p.json<readonly Step[]>().default('[]'),
    applying: p.json<ApplyAttempt>().nullable(),
    attempts: p.integer().default(0),
    applyingSince: timestamp().nullable().hidden(),
    inverse: p.json<readonly InverseChange[]>().columnType('json').nullable().hidden(),
    importId: p.uuid().nullable().hidden(),
  },
  checks: [
    { name: 'change_request_state', expression: `state in ${sqlList(changeRequestStates)}` },
    { name: 'change_request_min_approvals', expression: 'min_approvals >= 1' },
  ],
  indexes: [
    { name: 'change_request_of_project', properties: ['project', 'id'] },
    { name: 'change_request_of_author', properties: [idOf('createdBy'), 'id'] },
    { name: 'change_request_applying', properties: ['id'], where: 'applying is not null' },
    { name: 'change_request_scheduled', properties: ['project', 'id'], where: "state = 'Scheduled'" },
    {
      name: 'change_request_open_of_author',
      properties: [idOf('createdBy'), 'project', 'environment'],
      where: isPendingSql,
    },
  ],
  uniques: [
    {
      name: oneDraftIndex,
      properties: [idOf('createdBy'), 'project', 'environment'],
      where: "state = 'Draft'",
    },
    { name: 'change_request_of_import', properties: ['importId'], where: 'import_id is not null' },
  ],
});

function ofRequest() {
  return p.manyToOne(ChangeRequestEntity).mapToPk().joinColumn('change_request_id').deleteRule('cascade');
}

export const ChangeEntity = defineEntity({
  name: 'Change',
  tableName: 'change',
  properties: {
    id: p.bigint('number').primary(),
    request: ofRequest(),
    position: p.integer(),
    action: p.text().$type<ChangeAction>(),
    feature: p.text().nullable(),
    segment: p.embedded(SegmentEmbeddable).prefix('segment_').nullable(),
    payload: p.json<unknown>().columnType('json'),
    snapshot: p.json<unknown>().columnType('json').nullable(),
    featureCreatedAt: timestamp().nullable(),
    createdBy: p.embedded(UserRefEmbeddable).prefix('created_by_'),
    createdAt: timestamp(),
  },
  checks: [
    { name: 'change_feature_or_segment', expression: 'num_nonnulls(feature, segment_id) = 1' },
    { name: 'change_segment', expression: '(segment_id is null) = (segment_name is null)' },
  ],
  indexes: [
    { name: 'change_by_feature', properties: ['feature', 'request'], where: 'feature is not null' },
    {
      name: 'change_by_segment',
      properties: [idOf('segment'), 'request'],
      where: 'segment_id is not null',
    },
  ],
  uniques: [{ name: 'change_by_position', properties: ['request', 'position'] }],
});

function reviewProperties() {
  return {
    request: ofRequest().primary(),
    createdById: p.bigint('number').primary(),
    createdByName: p.text(),
    createdAt: timestamp(),
    createdByUsername: p.text().nullable(),
  };
}

export const ApprovalEntity = defineEntity({
  name: 'Approval',
  tableName: 'approval',
  properties: { ...reviewProperties(), basis: p.text().nullable() },
  indexes: [{ name: 'approval_by_user', properties: ['createdById', 'request'] }],
});

export const RejectionEntity = defineEntity({
  name: 'Rejection',
  tableName: 'rejection',
  properties: reviewProperties(),
});

export const CommentEntity = defineEntity({
  name: 'Comment',
  tableName: 'comment',
  properties: {
    id: p.bigint('number').primary(),
    request: ofRequest(),
    text: p.text(),
    createdBy: p.embedded(UserRefEmbeddable).prefix('created_by_'),
    createdAt: timestamp(),
    change: p.json<CommentedChange>().columnType('json').nullable(),
  },
  indexes: [{ name: 'comment_by_change_request', properties: ['request', 'id'] }],
});

export const ScheduleEntity = defineEntity({
  name: 'Schedule',
  tableName: 'schedule',
  properties: {
    request: ofRequest().primary(),
    status: p.text().$type<Schedule['status']>(),
    scheduledAt: timestamp(),
    by: p.embedded(ActorEmbeddable).prefix('by_'),
    reason: p.text().nullable(),
    snapshots: p.json<Schedule['snapshots']>().columnType('json'),
    /** edits of objects that the changes affect, since the last check for conflicts */
    uncheckedEdits: p.integer().default(1).hidden(),
  },
  checks: [
    { name: 'schedule_status', expression: `status in ${sqlList(scheduleStatuses)}` },
    { name: 'schedule_reason', expression: "(reason is null) = (status = 'pending')" },
  ],
  indexes: [
    { name: 'schedule_due', properties: ['scheduledAt', 'request'], where: "status = 'pending'" },
    { name: 'schedule_unchecked', properties: ['request'], where: 'unchecked_edits > 0' },
    { name: 'schedule_by_user', properties: [idOf('by'), 'request'] },
  ],
});

export const RequestedApproverEntity = defineEntity({
  name: 'RequestedApprover',
  tableName: 'requested_approver',
  properties: {
    request: ofRequest().primary(),
    userId: p.bigint('number').primary(),
    position: p.integer(),
    requestedAt: timestamp().defaultRaw('clock_timestamp()'),
  },
  indexes: [{ name: 'requested_approver_by_user', properties: ['userId', 'request'] }],
});

export const ProtectedEnvironmentEntity = defineEntity({
  name: 'ProtectedEnvironment',
  tableName: 'protected_environment',
  properties: {
    project: p.text().primary(),
    environment: p.text().primary(),
    requiredApprovals: p.integer(),
  },
  checks: [
    {
      name: 'protected_environment_required_approvals',
      expression: 'required_approvals >= 1 and required_approvals <= 10',
    },
  ],
});

export const UnsyncedProtectionEntity = defineEntity({
  name: 'UnsyncedProtection',
  tableName: 'unsynced_protection',
  properties: {
    version: p.bigint('number').primary(),
    project: p.text(),
    environment: p.text(),
    isProtected: p.boolean(),
  },
});

export const DeletedUserEntity = defineEntity({
  name: 'DeletedUser',
  tableName: 'deleted_user',
  properties: { userId: p.bigint('number').primary().autoincrement(false) },
});

export const changeRequestEntities = [
  ChangeRequestEntity,
  ChangeEntity,
  ApprovalEntity,
  RejectionEntity,
  CommentEntity,
  ScheduleEntity,
  RequestedApproverEntity,
  ProtectedEnvironmentEntity,
  UnsyncedProtectionEntity,
  DeletedUserEntity,
];
