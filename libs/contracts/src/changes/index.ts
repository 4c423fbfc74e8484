import { type Static, Type } from 'typebox';
import { invalid } from '../errors.ts';
import { parse } from '../parse.ts';
import { requestForm } from '../request-form.ts';
import { AddDependency } from './add-dependency.ts';
import { AddStrategy } from './add-strategy.ts';
import { ArchiveFeature } from './archive-feature.ts';
import { DeleteDependency } from './delete-dependency.ts';
import { DeleteSegment } from './delete-segment.ts';
import { DeleteStrategy } from './delete-strategy.ts';
import { PatchVariant } from './patch-variant.ts';
import { ReorderStrategy } from './reorder-strategy.ts';
import { UpdateEnabled } from './update-enabled.ts';
import { UpdateSegment } from './update-segment.ts';
import { UpdateStrategy } from './update-strategy.ts';

/** What a change may do, each action with its schema. */
export const changeSchemas = {
  updateSegment: requestForm(UpdateSegment),
  deleteSegment: DeleteSegment,
  updateEnabled: UpdateEnabled,
  addStrategy: requestForm(AddStrategy),
  updateStrategy: requestForm(UpdateStrategy),
  deleteStrategy: DeleteStrategy,
  archiveFeature: ArchiveFeature,
  patchVariant: requestForm(PatchVariant),
  reorderStrategy: ReorderStrategy,
  addDependency: AddDependency,
  deleteDependency: DeleteDependency,
} as const;
export type ChangeAction = keyof typeof changeSchemas;
export type SegmentAction = 'updateSegment' | 'deleteSegment';
export type FeatureAction = Exclude<ChangeAction, SegmentAction>;
export type ChangeOf<A extends ChangeAction> = Static<(typeof changeSchemas)[A]>;
export type Change = { [A in ChangeAction]: ChangeOf<A> }[ChangeAction];
export type FeatureChange = { [A in FeatureAction]: ChangeOf<A> }[FeatureAction];
export type SegmentChange = { [A in SegmentAction]: ChangeOf<A> }[SegmentAction];

/** Every action, in the order of the interface. */
export const changeActions = Object.keys(changeSchemas) as readonly ChangeAction[];

/** How many changes one request may propose. */
export const mostChangesAtOnce = 200;

/** How many changes one change request may hold. */
export const mostChangesOfRequest = 500;

/** The body that is one change, for people to read. */
export const OneChange = Type.Union(Object.values(changeSchemas), {
  title: 'changeRequestCreateSchema',
  description: 'One change; `action` decides what `payload` holds.',
});

/** The body that proposes changes, for people to read: `parseChanges` reads it, and can name the fault. */
export const ChangesBody = Type.Union(
  [OneChange, Type.Array(OneChange, { minItems: 1, maxItems: mostChangesAtOnce })],
  { title: 'changeRequestOneOrManyCreateSchema', description: 'One change, or several that belong together.' },
);

const AnyChanges = Type.Array(Type.Unknown(), { minItems: 1, maxItems: mostChangesAtOnce });
const AnyChange = Type.Object({
  action: Type.Enum([...changeActions], { type: 'string' }),
});

/** True when the change is about a segment, not about a feature. */
export const isSegmentChange = (change: Change): change is SegmentChange =>
  change.action === 'updateSegment' || change.action === 'deleteSegment';

/** One change, held to the schema of its action and without anything that the schema's envelope does not know. */
export const parseChange = (value: unknown, at: string): Change => {
  const { action } = parse(AnyChange, value, at);
  const change: Change = parse(changeSchemas[action], value, at);
  if (isSegmentChange(change)) return { action, payload: change.payload } as SegmentChange;
  return { action, feature: change.feature, payload: change.payload ?? {} } as FeatureChange;
};

/**
 * The changes of a body that is one change or a list of them, each held to the schema of its own action. An action that
 * needs no payload gets an empty one, and a change of a segment loses its `feature`.
 * @throws Refusal `ValidationError` that names the property at fault, such as `/body/0/payload/id`.
 */
export const parseChanges = (body: unknown): Change[] => {
  if (body === undefined)
    throw invalid('The `/body` property is required. It was not present on the data you sent.', '/body');
  if (!Array.isArray(body)) return [parseChange(body, '/body')];
  return parse(AnyChanges, body, '/body').map((change, index) => parseChange(change, `/body/${index}`));
};
