import { type Endpoint, type OperationRequest, writes } from '@bunting/bus';
import {
  type Access,
  type AnyOperation,
  authorise,
  type Caller,
  type ReplyOf,
  type RequestOf,
  type UserReference,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import type { Decision, DomainEvent, Feature } from '../features/feature.ts';
import { noReferences, type PossibleReferences } from '../projects/project-context-store.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import type { Transaction, UnitOfWork } from './unit-of-work.ts';

/** The caller as creator or collaborator of a feature: with the name for display, and the picture of the e-mail address if there is one. */
export function authorOf({ id, name, displayName }: Caller): UserReference {
  return {
    id,
    name: displayName ?? name,
    imageUrl: gravatarUrlOf(name),
  };
}

/** The feature with a user as the first of its collaborators. */
export function withCollaborator(feature: Feature, author: UserReference): Feature {
  const latest = feature.collaborators[0];
  if (latest?.id === author.id && latest.name === author.name && latest.imageUrl === author.imageUrl) return feature;
  return { ...feature, collaborators: [author, ...feature.collaborators.filter(({ id }) => id !== author.id)] };
}

/** The parameters of an operation that edits a feature, or its settings in an environment. */
interface FeatureParams {
  readonly projectId: string;
  readonly featureName: string;
  readonly environment?: string;
}

interface FeatureEdit<O extends AnyOperation> {
  /** the objects of the project context that the rule may need besides those that the feature uses already; none if omitted */
  readonly references?: (body: RequestOf<O>['body']) => PossibleReferences;
  readonly rule: (feature: Feature, request: OperationRequest<O>, projectContext: ProjectContext) => Decision;
  readonly reply: (after: Feature, request: OperationRequest<O>, projectContext: ProjectContext) => ReplyOf<O>;
}

/**
 * Implements an operation by a rule about one feature, which is locked. The caller needs the permission of the operation in the project of
 * the feature, and in the environment if the operation has one.
 */
export function editFeature<O extends AnyOperation & { readonly permission: Access }>(
  operation: O & (RequestOf<O> extends { readonly params: FeatureParams } ? unknown : never),
  transaction: UnitOfWork,
  { references = () => noReferences, rule, reply }: FeatureEdit<O>,
): Endpoint {
  return writes<O, Transaction>(operation, transaction, async (tx, request) => {
    const { projectId, featureName, environment } = request.params as FeatureParams;
    const { feature, projectContext } = await tx.features.getForUpdate(
      projectId,
      featureName,
      references(request.body),
    );
    authorise(request.caller, operation.permission, { project: feature.project, environment });
    const after = await saveDecision(tx, rule(feature, request, projectContext), request.caller);
    return reply(after, request, projectContext);
  });
}

/** Saves a decided feature, with the caller among its collaborators if it changes. Returns the saved feature. */
export async function saveDecision(
  { features }: Pick<Transaction, 'features'>,
  decision: Decision,
  caller: Caller,
): Promise<Feature> {
  const feature =
    decision.events.length === 0 ? decision.feature : withCollaborator(decision.feature, authorOf(caller));
  await features.save([feature], decision.events);
  return feature;
}

/**
 * Saves changed features, with the caller among their collaborators.
 * @param events those of the features, and of segments and other objects that change with them
 */
export async function saveChangedFeatures(
  { features }: Pick<Transaction, 'features'>,
  changed: readonly Feature[],
  events: readonly DomainEvent[],
  caller: Caller,
): Promise<void> {
  const author = authorOf(caller);
  await features.save(
    changed.map((feature) => withCollaborator(feature, author)),
    events,
  );
}

/** Saves several decided features, with as many statements as for one. */
export async function saveDecisions(
  tx: Pick<Transaction, 'features'>,
  decisions: readonly Decision[],
  caller: Caller,
): Promise<void> {
  const changed = decisions.filter((decision) => decision.events.length > 0);
  const features = changed.map(({ feature }) => feature);
  const events = changed.flatMap((decision) => decision.events);
  await saveChangedFeatures(tx, features, events, caller);
}
