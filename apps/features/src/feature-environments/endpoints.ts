import { randomUUID } from 'node:crypto';
import { type Endpoint, reads, writes } from '@bunting/bus';
import {
  authorise,
  type Caller,
  DisableFeature,
  DisableFeatures,
  EnableFeature,
  EnableFeatures,
  GetFeatureEnvironment,
  projectNotFound,
} from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import type { Feature } from '../features/feature.ts';
import { noReferences } from '../projects/project-context-store.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { featureNotInProject } from '../refusals.ts';
import { editFeature } from '../features/endpoints.ts';
import { saveDecision, saveDecisions } from '../unit-of-work/save-decisions.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { disableFeature, enableFeature, hasNoStrategy } from './switch-feature.ts';

export function featureEnvironmentEndpoints({ featureParts, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(GetFeatureEnvironment, ({ params }) => featureParts.environment(params)),

    writes<typeof EnableFeature, Transaction>(
      EnableFeature,
      transaction.edit,
      async (tx, { params, query, caller }) => {
        const { environment } = params;
        const { feature, projectContext } = await tx.features.getForUpdate(
          params.projectId,
          params.featureName,
          noReferences,
        );
        const where = { project: feature.project, environment };
        authorise(caller, EnableFeature.permission, where);
        authoriseDefaultStrategy(caller, [feature], where);
        const activateDisabled = query.shouldActivateDisabledStrategies ?? false;
        const options = { activateDisabled, defaultStrategyId: randomUUID() };
        await saveDecision(tx, enableFeature(feature, environment, options, projectContext), caller);
        return null;
      },
    ),

    writes(EnableFeatures, transaction, async (tx, { params, query, body, caller }) => {
      const { environment } = params;
      const where = { project: params.projectId, environment };
      authorise(caller, EnableFeatures.permission, where);
      const { features, projectContext } = await lockFeaturesWithContext(tx, params.projectId, body.features);
      authoriseDefaultStrategy(caller, features, where);
      const activateDisabled = query.shouldActivateDisabledStrategies ?? false;
      const decisions = features.map((feature) =>
        enableFeature(feature, environment, { activateDisabled, defaultStrategyId: randomUUID() }, projectContext),
      );
      await saveDecisions(tx, decisions, caller);
      return null;
    }),

    editFeature(DisableFeature, transaction, {
      rule: (feature, { params }, context) => disableFeature(feature, params.environment, context),
      reply: () => null,
    }),

    writes(DisableFeatures, transaction, async (tx, { params, body, caller }) => {
      const { projectId, environment } = params;
      authorise(caller, DisableFeatures.permission, { project: projectId, environment });
      const { features, projectContext } = await lockFeaturesWithContext(tx, projectId, body.features);
      await saveDecisions(
        tx,
        features.map((feature) => disableFeature(feature, environment, projectContext)),
        caller,
      );
      return null;
    }),
  ];
}

/**
 * Locks features of a project, and reads the project context without referenced objects. Refuses names of features that the project does
 * not have.
 */
async function lockFeaturesWithContext(
  { features, projectContext: repository }: Pick<Transaction, 'features' | 'projectContext'>,
  project: string,
  names: readonly string[],
): Promise<{ readonly features: readonly Feature[]; readonly projectContext: ProjectContext }> {
  const lockedFeatures = await features.findAllForUpdate(names);
  const byName = new Map(lockedFeatures.map((feature) => [feature.name, feature]));
  for (const name of names) {
    const feature = byName.get(name);
    if (feature?.project !== project) throw featureNotInProject(name, project);
  }
  const projectContext = await repository.ofProject(project, noReferences);
  if (projectContext === undefined) throw projectNotFound(project);
  return { features: lockedFeatures, projectContext };
}

/**
 * Authorises the caller to enable features of which some have no strategy, not even a disabled one, and get the default strategy. Adding it
 * to a feature with disabled strategies requires no permission, as in Unleash.
 */
function authoriseDefaultStrategy(
  caller: Caller,
  features: readonly Feature[],
  where: { readonly project: string; readonly environment: string },
): void {
  const addsFirstStrategy = features.some((feature) => hasNoStrategy(feature, where.environment));
  if (addsFirstStrategy) authorise(caller, 'CREATE_FEATURE_STRATEGY', where);
}
