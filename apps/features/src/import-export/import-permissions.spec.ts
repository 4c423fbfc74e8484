import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { type ImportEvent, missingImportPermissions } from './import-context.ts';

const project = 'shop';
const environment = 'production';
const callerWith = (...grants: Caller['grants']): Caller => ({ id: 3, name: 'kim', grants });
const created: ImportEvent = { type: 'feature-created', project, featureName: 'checkout' };
const strategyAdded: ImportEvent = { type: 'feature-strategy-add', project, environment, featureName: 'checkout' };

describe('an import', () => {
  it.each<[ImportEvent['type'], string]>([
    ['feature-created', 'CREATE_FEATURE'],
    ['feature-metadata-updated', 'UPDATE_FEATURE'],
    ['feature-tagged', 'UPDATE_FEATURE'],
    ['feature-dependency-added', 'UPDATE_FEATURE_DEPENDENCY'],
    ['feature-dependency-removed', 'UPDATE_FEATURE_DEPENDENCY'],
    ['context-field-created', 'CREATE_CONTEXT_FIELD'],
    ['tag-type-created', 'CREATE_TAG_TYPE'],
  ])('requires for %s the permission %s', (type, permission) => {
    expect(missingImportPermissions(callerWith(), [{ type, project }])).toEqual([
      { permission, environment: undefined },
    ]);
  });

  it.each<[ImportEvent['type'], string]>([
    ['feature-strategy-add', 'CREATE_FEATURE_STRATEGY'],
    ['feature-strategy-remove', 'DELETE_FEATURE_STRATEGY'],
    ['feature-environment-enabled', 'UPDATE_FEATURE_ENVIRONMENT'],
    ['feature-environment-disabled', 'UPDATE_FEATURE_ENVIRONMENT'],
    ['feature-environment-variants-updated', 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS'],
  ])('requires for %s the permission %s in the environment', (type, permission) => {
    expect(missingImportPermissions(callerWith(), [{ type, project, environment }])).toEqual([
      { permission, environment },
    ]);
  });

  it('requires each permission once, in the order of its edits', () => {
    const events = [strategyAdded, created, { ...strategyAdded, featureName: 'search' }];
    expect(missingImportPermissions(callerWith(), events).map(({ permission }) => permission)).toEqual([
      'CREATE_FEATURE_STRATEGY',
      'CREATE_FEATURE',
    ]);
  });

  it('requires nothing more for the tags of its features and for itself', () => {
    const events: ImportEvent[] = [{ type: 'tag-created' }, { type: 'features-imported', project, environment }];
    expect(missingImportPermissions(callerWith(), events)).toEqual([]);
  });

  it('requires no permission that the caller has in the project and environment', () => {
    const here = callerWith(
      { permission: 'CREATE_FEATURE', project },
      { permission: 'CREATE_FEATURE_STRATEGY', project, environment },
    );
    expect(missingImportPermissions(here, [created, strategyAdded])).toEqual([]);
    const elsewhere = callerWith({ permission: 'CREATE_FEATURE_STRATEGY', project, environment: 'development' });
    expect(missingImportPermissions(elsewhere, [strategyAdded])).toHaveLength(1);
  });
});
