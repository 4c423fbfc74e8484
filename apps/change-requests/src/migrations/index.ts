import type { SchemaMigration } from '@bunting/database';
import { consumerTables, idempotencyTables, outboxTables } from '@bunting/outbox';

/** The tables of the entities, as MikroORM generates them. */
const initial: SchemaMigration = {
  name: '1-initial',
  statements: [
    `create table change_request (
      id bigserial primary key,
      uid uuid,
      project text not null,
      environment text not null,
      title text,
      state text not null,
      min_approvals int not null,
      created_by_id bigint not null,
      created_by_name text,
      created_by_username text,
      created_at timestamptz not null,
      revision int not null,
      state_timestamps jsonb not null,
      applying jsonb,
      attempts int not null default 0,
      applying_since timestamptz,
      inverse json,
      import_id uuid
    )`,
    'create index change_request_of_project on change_request (project, id)',
    'create index change_request_of_author on change_request (created_by_id, id)',
    'create index change_request_applying on change_request (id) where applying is not null',
    "create index change_request_scheduled on change_request (project, id) where state = 'Scheduled'",
    "create index change_request_open_of_author on change_request (created_by_id, project, environment) where state in ('Draft', 'In review', 'Approved')",
    "create unique index change_request_draft on change_request (created_by_id, project, environment) where state = 'Draft'",
    'create unique index change_request_of_import on change_request (import_id) where import_id is not null',
    "alter table change_request add constraint change_request_state check (state in ('Draft', 'In review', 'Approved', 'Applied', 'Cancelled', 'Rejected', 'Scheduled'))",
    'alter table change_request add constraint change_request_min_approvals check (min_approvals >= 1)',
    `create table change (
      id bigserial primary key,
      change_request_id bigint not null,
      position int not null,
      action text not null,
      feature text,
      segment_id int,
      segment_name text,
      payload json not null,
      snapshot json,
      created_by_id bigint not null,
      created_by_name text,
      created_by_username text,
      created_at timestamptz not null
    )`,
    'create index change_by_feature on change (feature, change_request_id) where feature is not null',
    'create index change_by_segment on change (segment_id, change_request_id) where segment_id is not null',
    'alter table change add constraint change_by_position unique (change_request_id, position)',
    'alter table change add constraint change_feature_or_segment check (num_nonnulls(feature, segment_id) = 1)',
    'alter table change add constraint change_segment check ((segment_id is null) = (segment_name is null))',
    `create table approval (
      change_request_id bigint not null,
      created_by_id bigint not null,
      created_by_name text not null,
      created_at timestamptz not null,
      created_by_username text,
      primary key (change_request_id, created_by_id)
    )`,
    'create index approval_by_user on approval (created_by_id, change_request_id)',
    `create table comment (
      id bigserial primary key,
      change_request_id bigint not null,
      text text not null,
      created_by_id bigint not null,
      created_by_name text,
      created_by_username text,
      created_at timestamptz not null
    )`,
    'create index comment_by_change_request on comment (change_request_id, id)',
    `create table deleted_user (
      user_id bigint not null,
      primary key (user_id)
    )`,
    `create table protected_environment (
      project text not null,
      environment text not null,
      required_approvals int not null,
      primary key (project, environment)
    )`,
    'alter table protected_environment add constraint protected_environment_required_approvals check (required_approvals >= 1 and required_approvals <= 10)',
    `create table unsynced_protection (
      version bigserial primary key,
      project text not null,
      environment text not null,
      is_protected boolean not null
    )`,
    `create table rejection (
      change_request_id bigint not null,
      created_by_id bigint not null,
      created_by_name text not null,
      created_at timestamptz not null,
      created_by_username text,
      primary key (change_request_id, created_by_id)
    )`,
    `create table requested_approver (
      change_request_id bigint not null,
      user_id bigint not null,
      position int not null,
      requested_at timestamptz not null default clock_timestamp(),
      primary key (change_request_id, user_id)
    )`,
    'create index requested_approver_by_user on requested_approver (user_id, change_request_id)',
    `create table schedule (
      change_request_id bigint not null,
      status text not null,
      scheduled_at timestamptz not null,
      by_id bigint not null,
      by_name text not null,
      reason text,
      snapshots json not null,
      unchecked_edits int not null default 1,
      primary key (change_request_id)
    )`,
    "create index schedule_due on schedule (scheduled_at, change_request_id) where status = 'pending'",
    'create index schedule_unchecked on schedule (change_request_id) where unchecked_edits > 0',
    'create index schedule_by_user on schedule (by_id, change_request_id)',
    "alter table schedule add constraint schedule_status check (status in ('pending', 'failed', 'suspended'))",
    "alter table schedule add constraint schedule_reason check ((reason is null) = (status = 'pending'))",
    'alter table change add constraint change_change_request_id_foreign foreign key (change_request_id) references change_request (id) on delete cascade',
    'alter table approval add constraint approval_change_request_id_foreign foreign key (change_request_id) references change_request (id) on delete cascade',
    'alter table comment add constraint comment_change_request_id_foreign foreign key (change_request_id) references change_request (id) on delete cascade',
    'alter table rejection add constraint rejection_change_request_id_foreign foreign key (change_request_id) references change_request (id) on delete cascade',
    'alter table requested_approver add constraint requested_approver_change_request_id_foreign foreign key (change_request_id) references change_request (id) on delete cascade',
    'alter table schedule add constraint schedule_change_request_id_foreign foreign key (change_request_id) references change_request (id) on update cascade on delete cascade',
  ],
};

const approvalBasis: SchemaMigration = {
  name: '2-expand-approval-basis',
  statements: ['alter table approval add column basis text'],
};

/** The change that a comment is about, as it was then: it may be discarded, and the comment stays. */
const commentedChange: SchemaMigration = {
  name: '3-expand-commented-change',
  statements: ['alter table comment add column change json'],
};

/** Whose review its author asked for, and no longer, each time. */
const reviewRequests: SchemaMigration = {
  name: '4-expand-review-requests',
  statements: ["alter table change_request add column review_requests json not null default '[]'"],
};

/** When the feature of a change was created, so that one that gets the name of a deleted feature is not taken for it. */
const featureOfChange: SchemaMigration = {
  name: '5-expand-feature-of-change',
  statements: ['alter table change add column feature_created_at timestamptz'],
};

/** Who took a request from state to state, and when. */
const steps: SchemaMigration = {
  name: '6-expand-steps',
  statements: ["alter table change_request add column steps json not null default '[]'"],
};

/** The whole schema of the database, in the order of its steps. */
export const changeRequestMigrations: readonly SchemaMigration[] = [
  initial,
  outboxTables,
  consumerTables,
  idempotencyTables,
  approvalBasis,
  commentedChange,
  reviewRequests,
  featureOfChange,
  steps,
];
