import { type Static, Type } from 'typebox';
import { FeatureVariant } from '../features/variants.ts';
import { lenientSchema } from '../lenient-schema.ts';
import { Nullable, optionalMembers } from '../schemas.ts';
import { Constraint } from '../strategies/constraints.ts';
import { SegmentId, SegmentName, StagedSegmentList } from '../strategies/segments.ts';
import {
  StrategyConstraints,
  StrategyParameters,
  StrategyPosition,
  StrategyProperties,
} from '../strategies/strategies.ts';
import { asJsonObject } from '../values.ts';

/** The feature that a change is about. */
const FeatureName = Type.String({
  minLength: 1,
  description: 'the name of the feature that the change applies to',
});

/** A change of a segment has no feature; a value that a client sends is ignored. */
const NoFeature = Type.Optional(Nullable(Type.String(), { description: 'ignored' }));

/** The payload of actions without parameters: absent or empty. */
const NoPayload = Type.Optional(
  Nullable(Type.Object({}, { additionalProperties: false }), { description: 'none is needed' }),
);

/** Makes a feature depend on another, its parent, and on that one only. */
export const AddDependencyChange = Type.Object(
  {
    action: Type.Literal('addDependency'),
    feature: FeatureName,
    payload: Type.Object({
      feature: Type.String({ minLength: 1, description: 'the name of the parent feature' }),
      enabled: Type.Optional(
        Type.Boolean({
          default: true,
          description: 'whether the parent must be enabled; when false the variants are ignored; default: true',
        }),
      ),
      variants: Type.Optional(
        Type.Array(Type.String(), {
          description: 'the variants that the parent must resolve to; leave empty to check only `enabled`',
        }),
      ),
    }),
  },
  {
    title: 'addDependencyChangeSchema',
    description: 'Sets the parent of a feature, the only feature that it depends on.',
  },
);

export const AddStrategyChange = Type.Object(
  {
    action: Type.Literal('addStrategy'),
    feature: FeatureName,
    payload: Type.Object({
      ...StrategyProperties.properties,
      constraints: StrategyConstraints,
      parameters: StrategyParameters,
    }),
  },
  { title: 'addStrategyChangeSchema', description: 'Adds a strategy to a feature in the environment.' },
);

export const ArchiveFeatureChange = Type.Object(
  {
    action: Type.Literal('archiveFeature'),
    feature: FeatureName,
    payload: NoPayload,
  },
  { title: 'archiveFeatureChangeSchema', description: 'Archives a feature, in every environment.' },
);

export const DeleteDependencyChange = Type.Object(
  {
    action: Type.Literal('deleteDependency'),
    feature: FeatureName,
    payload: NoPayload,
  },
  { title: 'deleteDependencyChangeSchema', description: 'Removes the dependency of a feature.' },
);

export const DeleteSegmentChange = Type.Object(
  {
    action: Type.Literal('deleteSegment'),
    feature: NoFeature,
    payload: Type.Object({ id: SegmentId }),
  },
  { title: 'deleteSegmentChangeSchema', description: 'Deletes a segment of the project.' },
);

export const DeleteStrategyChange = Type.Object(
  {
    action: Type.Literal('deleteStrategy'),
    feature: FeatureName,
    payload: Type.Object({ id: Type.String({ description: 'the id of the strategy to delete' }) }),
  },
  { title: 'deleteStrategyChangeSchema', description: 'Removes a strategy from a feature in the environment.' },
);

export const PatchVariantChange = Type.Object(
  {
    action: Type.Literal('patchVariant'),
    feature: FeatureName,
    payload: Type.Object({ variants: Type.Array(FeatureVariant, { description: 'the new variants' }) }),
  },
  { title: 'patchVariantChangeSchema', description: 'Replaces the variants of a feature in the environment.' },
);

/** Puts strategies of a feature in the environment into another order. */
export const ReorderStrategyChange = Type.Object(
  {
    action: Type.Literal('reorderStrategy'),
    feature: FeatureName,
    payload: Type.Array(StrategyPosition, {
      description: 'the strategies to move; the others stay in their positions',
    }),
  },
  {
    title: 'reorderStrategyChangeSchema',
    description: 'Sets the order of strategies of a feature in the environment.',
  },
);

export const UpdateEnabledChange = Type.Object(
  {
    action: Type.Literal('updateEnabled'),
    feature: FeatureName,
    payload: Type.Object({
      enabled: Type.Boolean({ description: 'the new state' }),
      shouldActivateDisabledStrategies: Type.Optional(
        Type.Boolean({
          description: 'when all strategies are disabled: true enables all of them, false adds the default strategy',
        }),
      ),
    }),
  },
  { title: 'updateEnabledChangeSchema', description: 'Enables or disables a feature in the environment.' },
);

export const UpdateSegmentChange = Type.Object(
  {
    action: Type.Literal('updateSegment'),
    feature: NoFeature,
    payload: Type.Object({
      id: SegmentId,
      name: Type.Optional(SegmentName),
      description: Type.Optional(Nullable(Type.String(), { description: 'the description of the segment' })),
      project: Type.Optional(Nullable(Type.String(), { description: 'the one project that may use the segment' })),
      constraints: Type.Optional(
        Type.Array(Constraint, { description: 'all of these must hold for the segment to match' }),
      ),
    }),
  },
  {
    title: 'updateSegmentChangeSchema',
    description: 'Updates a segment of the project; omitted properties do not change.',
  },
);

const { contextName, root, ...factsOfList } = StagedSegmentList.properties;

export const UpdateSegmentListChange = Type.Object(
  {
    action: Type.Literal('updateSegmentList'),
    feature: NoFeature,
    payload: Type.Object({
      id: SegmentId,
      contextName,
      root,
      ...optionalMembers(factsOfList),
    }),
  },
  {
    title: 'updateSegmentListChangeSchema',
    description:
      'Sets the list of a segment of the project to one that was uploaded with `staged=true`, which replies with the payload but for the id. With a `root` of null it removes the list.',
  },
);

export const UpdateStrategyChange = Type.Object(
  {
    action: Type.Literal('updateStrategy'),
    feature: FeatureName,
    payload: Type.Object({
      ...optionalMembers(StrategyProperties.properties),
      id: Type.String({ description: 'the id of the strategy to update' }),
    }),
  },
  {
    title: 'updateStrategyChangeSchema',
    description:
      'Updates a strategy of a feature in the environment; properties and parameters that are omitted or null do not change.',
  },
);

/** The schemas of the actions on segments. All other actions are on features. */
const segmentChangeSchemas = {
  updateSegment: lenientSchema(UpdateSegmentChange),
  deleteSegment: DeleteSegmentChange,
  updateSegmentList: UpdateSegmentListChange,
} as const;

/** The schema of each action of a change, in the order of the OpenAPI document. */
export const changeSchemas = {
  ...segmentChangeSchemas,
  updateEnabled: UpdateEnabledChange,
  addStrategy: lenientSchema(AddStrategyChange),
  updateStrategy: lenientSchema(UpdateStrategyChange),
  deleteStrategy: DeleteStrategyChange,
  archiveFeature: ArchiveFeatureChange,
  patchVariant: lenientSchema(PatchVariantChange),
  reorderStrategy: ReorderStrategyChange,
  addDependency: AddDependencyChange,
  deleteDependency: DeleteDependencyChange,
} as const;
export type ChangeAction = keyof typeof changeSchemas;
export type SegmentAction = keyof typeof segmentChangeSchemas;
export type FeatureAction = Exclude<ChangeAction, SegmentAction>;
export type ChangeOf<A extends ChangeAction> = Static<(typeof changeSchemas)[A]>;
export type Change = { [A in ChangeAction]: ChangeOf<A> }[ChangeAction];
export type FeatureChange = { [A in FeatureAction]: ChangeOf<A> }[FeatureAction];
export type SegmentChange = { [A in SegmentAction]: ChangeOf<A> }[SegmentAction];

/** A change that undoes an applied one. The features service returns it, and the change request stores it. */
export interface InverseChange {
  readonly change: Change;
  /** the state right after the request was applied: this change would overwrite every edit since then */
  readonly snapshot: unknown;
  /** the name of the segment that the change is about; null for a change of a feature */
  readonly segmentName: string | null;
  /** when the feature was created that the change is about; absent for segments, and from older versions */
  readonly featureCreatedAt?: string;
}

/** Every action, in the order of `changeSchemas`. */
export const changeActions = Object.keys(changeSchemas) as readonly ChangeAction[];

/** The maximum number of changes in one request. */
export const maxProposedChanges = 200;

/** The maximum number of changes of one change request. */
export const maxChangesPerChangeRequest = 500;

/** The maximum size of the changes of one change request, so that it fits into one message of the bus, which carries 16 MB. */
export const maxBytesPerChangeRequest = 8 * 1024 * 1024;

/** The body that is one change, for the OpenAPI document. */
export const SingleChangeBody = Type.Union(Object.values(changeSchemas), {
  title: 'changeRequestCreateSchema',
  description: 'One change; `action` decides what `payload` holds.',
});

/** The body that proposes changes, for the OpenAPI document. `parseChanges` validates it and names the invalid property. */
export const ChangesBody = Type.Union(
  [SingleChangeBody, Type.Array(SingleChangeBody, { minItems: 1, maxItems: maxProposedChanges })],
  { title: 'changeRequestOneOrManyCreateSchema', description: 'One change, or several that belong together.' },
);

/** Whether the change is about a segment, not about a feature. */
export function isSegmentChange(change: Change): change is SegmentChange {
  return Object.hasOwn(segmentChangeSchemas, change.action);
}

/** What an action affects: the environment of its change request, or every environment of the project. */
const reachOfAction: Readonly<Record<ChangeAction, 'environment' | 'project'>> = {
  updateSegment: 'project',
  deleteSegment: 'project',
  updateSegmentList: 'project',
  updateEnabled: 'environment',
  addStrategy: 'environment',
  updateStrategy: 'environment',
  deleteStrategy: 'environment',
  archiveFeature: 'project',
  patchVariant: 'environment',
  reorderStrategy: 'environment',
  addDependency: 'project',
  deleteDependency: 'project',
};

/** The actions that affect every environment of the project. */
export const actionsOfWholeProject = (Object.keys(reachOfAction) as ChangeAction[]).filter(
  (action) => reachOfAction[action] === 'project',
);

/**
 * The environments in which changes of a request need approvals: those among the protected environments of its project that they affect. The
 * actions alone decide, so that neither a conflict nor its end changes who has to agree.
 * @param environment the environment of the request
 */
export function affectedEnvironments(
  changes: readonly Pick<Change, 'action'>[],
  environment: string,
  protectedEnvironments: readonly string[],
): string[] {
  const affectsAll = changes.some(({ action }) => reachOfAction[action] === 'project');
  return protectedEnvironments.filter((name) => affectsAll || (changes.length > 0 && name === environment));
}

interface OverwritingChange {
  readonly action: ChangeAction;
  /** null for a change of a segment */
  readonly feature: string | null;
  /** null for a change of a feature */
  readonly segment: { readonly id: number; readonly name: string } | null;
  readonly payload: unknown;
}

type Sentence = (change: OverwritingChange, environment: string) => string;

const featureChanged: Sentence = ({ feature }) => `Feature flag ${feature} was changed`;
const strategyChanged: Sentence = ({ feature, payload }) =>
  `Strategy ${String(asJsonObject(payload)['id'])} of feature flag ${feature} was changed`;
const variantsChanged: Sentence = ({ feature }, environment) =>
  `Environment variants of feature flag ${feature} in ${environment} were changed`;
const segmentChanged: Sentence = ({ segment }) => `Segment ${segment?.id} (${segment?.name}) was changed`;

const sentences: Readonly<Record<ChangeAction, Sentence>> = {
  updateSegment: segmentChanged,
  deleteSegment: segmentChanged,
  updateSegmentList: segmentChanged,
  updateEnabled: featureChanged,
  addStrategy: featureChanged,
  updateStrategy: strategyChanged,
  deleteStrategy: strategyChanged,
  archiveFeature: featureChanged,
  patchVariant: variantsChanged,
  reorderStrategy: featureChanged,
  addDependency: featureChanged,
  deleteDependency: featureChanged,
};

/** The reason not to apply a change that would overwrite a newer edit, and to suspend its schedule; without a full stop. */
export function overwriteMessage(change: OverwritingChange, environment: string): string {
  return `${sentences[change.action](change, environment)}; applying would overwrite that change`;
}
