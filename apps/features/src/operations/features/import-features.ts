import { implement } from '@bunting/bus';
import { type Caller, type EventType, ImportFeatures, maySee, notFound, type Permission } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import type { DomainEvent } from '../../domain/feature.ts';
import { collaborated } from '../../domain/feature-rules.ts';
import { type Importer, namedInFile, planImport } from '../../domain/import/index.ts';
import { named } from '../../domain/refusals.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { requireRoom } from './require-room.ts';

/** What an import does takes the same right as doing it by hand. */
export const importPermissions: Partial<Record<EventType, Permission>> = {
  'feature-created': 'CREATE_FEATURE',
  'feature-metadata-updated': 'UPDATE_FEATURE',
  'feature-tagged': 'UPDATE_FEATURE',
  'feature-strategy-add': 'CREATE_FEATURE_STRATEGY',
  'feature-strategy-update': 'UPDATE_FEATURE_STRATEGY',
  'feature-strategy-remove': 'DELETE_FEATURE_STRATEGY',
  'feature-environment-variants-updated': 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  'feature-environment-enabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-environment-disabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-dependency-added': 'UPDATE_FEATURE_DEPENDENCY',
  'feature-dependency-removed': 'UPDATE_FEATURE_DEPENDENCY',
  'context-field-created': 'CREATE_CONTEXT_FIELD',
  'tag-type-created': 'CREATE_TAG_TYPE',
};

const authoriseAll = (caller: Caller, events: readonly DomainEvent[]): void => {
  for (const [type, [event]] of Map.groupBy(events, (event) => event.type)) {
    const permission = importPermissions[type];
    if (permission === undefined || event === undefined) continue;
    authorise(caller, permission, {
      project: event.project ?? undefined,
      environment: event.environment ?? undefined,
    });
  }
};

/** The caller, as the plan of an import knows who imports. */
export const importerOf = (caller: Caller, now: Date): Importer => ({
  now: now.toISOString(),
  by: { id: caller.id, name: caller.name },
  newStrategyId: randomUUID,
  maySee: (project) => maySee(caller, project),
});

/** @param limit how many active features there may be in all */
export const importFeaturesEndpoint = (work: UnitOfWork, limit: number | undefined) =>
  implement(ImportFeatures, (asked) =>
    work(asked, async (tx) => {
      const { body, caller, now } = asked;
      const { project, environment, data } = body;
      authorise(caller, ImportFeatures.permission, { project });
      await tx.projects.hold({ project });
      await tx.destinations.takeTurn();
      const mentioned = namedInFile(data);
      // Those of other projects are only looked at: who imports into one project holds up nobody in another.
      const ours = await tx.features.findFamiliesForUpdate(mentioned.features, project);
      const features = [...ours, ...(await tx.features.findFamilies(mentioned.features, project))];
      const found = await tx.destinations.find(project, mentioned);
      if (found === undefined) throw notFound(`Active project with id ${named(project)} does not exist`);

      const plan = planImport(
        data,
        { ...found, project, environment, features: new Map(features.map((feature) => [feature.name, feature])) },
        importerOf(caller, now),
      );
      authoriseAll(caller, plan.events);
      const changed = plan.features.map(({ feature, isNew }) => ({ isNew, feature: collaborated(feature, caller) }));
      const added = changed.filter(({ isNew }) => isNew).map(({ feature }) => feature);
      if (added.length > 0) {
        await requireRoom(tx, { project, featureLimit: found.featureLimit, limit, adding: added.length });
      }

      await tx.catalogue.addContextFields(plan.contextFields);
      await tx.catalogue.addTagTypes(plan.tagTypes);
      await tx.catalogue.addTags(plan.tags);
      // A new feature brings its strategies with it: where there is protection, that is no way past it.
      for (const feature of added) await tx.guard.edit({ ...feature, environments: {}, dependencies: [] }, feature);
      await tx.features.add(added);
      await tx.features.save(changed.filter(({ isNew }) => !isNew).map(({ feature }) => feature));
      tx.events.record(plan.events);
      return plan.report;
    }),
  );
