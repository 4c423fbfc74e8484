import { asJsonObject } from '../json-object.ts';
import type { ChangeAction } from './change.ts';

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
export const overwriteMessage = (change: OverwritingChange, environment: string): string =>
  `${sentences[change.action](change, environment)}; applying would overwrite that change`;
