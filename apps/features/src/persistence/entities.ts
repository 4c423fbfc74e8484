import type { Constraint, CreateStrategy } from '@bunting/contracts';
import { defineEntity, p } from '@mikro-orm/postgresql';
import type { FeatureNaming } from '../domain/names.ts';

// The small tables that the unit of work writes. A feature's row is written by one statement of its own
// (feature-repository.ts), and reads are one statement each. Moments travel as RFC 3339 text.

export const ProjectEntity = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    description: p.text().nullable(),
    mode: p.text().$type<'open' | 'protected' | 'private'>(),
    defaultStickiness: p.text(),
    featureLimit: p.integer().nullable(),
    featureNaming: p.json<FeatureNaming>().nullable(),
    createdBy: p.integer().nullable(),
    createdAt: p.text(),
  },
});

export const ProjectEnvironmentEntity = defineEntity({
  name: 'ProjectEnvironment',
  tableName: 'project_environment',
  properties: {
    project: p.manyToOne(ProjectEntity).mapToPk().joinColumn('project').primary(),
    environment: p.text().primary(),
    defaultStrategy: p.json<CreateStrategy>().nullable(),
  },
});

export const SegmentEntity = defineEntity({
  name: 'Segment',
  tableName: 'segment',
  properties: {
    id: p.integer().primary().autoincrement(),
    name: p.text(),
    description: p.text().nullable(),
    project: p.text().nullable(),
    constraints: p.json<readonly Constraint[]>(),
    createdBy: p.text(),
    createdAt: p.text(),
    version: p.integer(),
  },
});

export const entities = [ProjectEntity, ProjectEnvironmentEntity, SegmentEntity];
