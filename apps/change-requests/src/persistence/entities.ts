import type { ChangeAction, ChangeRequestState } from '@bunting/contracts';
import { defineEntity, p } from '@mikro-orm/postgresql';

// What the unit of work writes. Reads are one statement each (statements.ts), and moments travel as RFC 3339 text.

export const ChangeRequestEntity = defineEntity({
  name: 'ChangeRequest',
  tableName: 'change_request',
  properties: {
    id: p.integer().primary(),
    project: p.text(),
    environment: p.text(),
    title: p.text().nullable(),
    state: p.text().$type<ChangeRequestState>(),
    minApprovals: p.integer(),
    createdById: p.integer(),
    createdByName: p.text().nullable(),
    createdAt: p.text(),
    revision: p.integer(),
    stateTimestamps: p.json<Readonly<Record<string, string>>>(),
  },
});

export const ChangeEntity = defineEntity({
  name: 'Change',
  tableName: 'change',
  properties: {
    id: p.integer().primary(),
    changeRequest: p.manyToOne(ChangeRequestEntity).mapToPk(),
    position: p.integer(),
    action: p.text().$type<ChangeAction>(),
    feature: p.text().nullable(),
    segmentId: p.integer().nullable(),
    segmentName: p.text().nullable(),
    payload: p.json<unknown>(),
    snapshot: p.json<unknown>().nullable(),
    createdById: p.integer(),
    createdByName: p.text().nullable(),
    createdAt: p.text(),
  },
});

export const ApprovalEntity = defineEntity({
  name: 'Approval',
  tableName: 'approval',
  properties: {
    changeRequest: p.manyToOne(ChangeRequestEntity).mapToPk().primary(),
    createdById: p.integer().primary(),
    createdByName: p.text(),
    createdAt: p.text(),
  },
});

export const entities = [ChangeRequestEntity, ChangeEntity, ApprovalEntity];
