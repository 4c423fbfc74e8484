import { type Static, Type } from 'typebox';
import { lenientSchema } from '../lenient-schema.ts';
import { AddDependencyChange } from './add-dependency.ts';
import { AddStrategyChange } from './add-strategy.ts';
import { ArchiveFeatureChange } from './archive-feature.ts';
import { DeleteDependencyChange } from './delete-dependency.ts';
import { DeleteSegmentChange } from './delete-segment.ts';
import { DeleteStrategyChange } from './delete-strategy.ts';
import { PatchVariantChange } from './patch-variant.ts';
import { ReorderStrategyChange } from './reorder-strategy.ts';
import { UpdateEnabledChange } from './update-enabled.ts';
import { UpdateSegmentChange } from './update-segment.ts';
import { UpdateStrategyChange } from './update-strategy.ts';

/** The schemas of the actions on segments. All other actions are on features. */
const segmentChangeSchemas = {
  updateSegment: lenientSchema(UpdateSegmentChange),
  deleteSegment: DeleteSegmentChange,
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
export const isSegmentChange = (change: Change): change is SegmentChange =>
  Object.hasOwn(segmentChangeSchemas, change.action);
