import { type ChangeOf, invalid } from '@bunting/contracts';
import { type StrategyContent, strategyOf } from '../strategies/strategy.ts';
import { replaceStrategyContent } from '../strategies/edit-strategy.ts';
import { updatedParameters } from '../strategies/normalize-strategy.ts';
import { strategyDeletedCause } from './conflict-causes.ts';
import { findNewerEdits } from './snapshots.ts';
import type { FeatureActionHandler } from './action-handler.ts';
import { payloadAfterChange } from './payload-after-change.ts';
import { contentConflict, hasStrategies, requireTypeNotDeprecated, strategySnapshot } from './strategy-helpers.ts';

const changeableProperties: Readonly<
  Record<Exclude<keyof ChangeOf<'updateStrategy'>['payload'], 'id' | 'sortOrder'>, true>
> = {
  name: true,
  title: true,
  disabled: true,
  constraints: true,
  parameters: true,
  variants: true,
  segments: true,
};

/** The properties that a payload sets: null counts as left out, as in the direct operation. */
const setProperties = ({ id: _, ...payload }: ChangeOf<'updateStrategy'>['payload']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null));

const pickParameters = (parameters: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(parameters).filter(([name]) => names.includes(name)));

/**
 * Changes a strategy. Omitted properties and parameters do not change, nor do those that are null: a constraint that is lost silently would enable the feature for more users. Whether
 * the feature stays enabled is decided after all changes.
 */
export const updateStrategyHandler: FeatureActionHandler<'updateStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (feature, { payload }, { environment }) =>
    strategySnapshot(strategyOf(feature, { environment, strategyId: payload.id })),
  overwrites: ({ payload }, states) => findNewerEdits(states, setProperties(payload)),
  decide: (feature, { payload }, { environment, projectContext }, path) => {
    const ref = { environment, strategyId: payload.id };
    const before = strategyOf(feature, ref);
    const name = payload.name ?? before.name;
    requireTypeNotDeprecated(name, before.name, projectContext, path);
    if (name !== before.name && payload.parameters === undefined) {
      const parametersPath = `${path}/payload/parameters`;
      throw invalid(
        `The \`${parametersPath}\` property is required when the name of a strategy changes.`,
        parametersPath,
      );
    }
    const content: StrategyContent = {
      name,
      title: payload.title ?? before.title,
      disabled: payload.disabled ?? before.disabled,
      constraints: payload.constraints ?? before.constraints,
      parameters: updatedParameters(before, { name, parameters: payload.parameters }, feature, projectContext),
      variants: payload.variants ?? before.variants,
      segments: payload.segments ?? before.segments,
    };
    const decision = replaceStrategyContent(feature, ref, content, { projectContext, path: `${path}/payload` });
    const after = strategyOf(decision.feature, ref);
    const changed = payloadAfterChange(changeableProperties, setProperties(payload), {
      ...after,
      // What is not proposed is not stored with the proposal: an edit of it until then stays when the change is applied.
      parameters:
        name === before.name
          ? pickParameters(after.parameters, Object.keys(payload.parameters ?? {}))
          : after.parameters,
    });
    return { subject: decision.feature, events: decision.events, payload: { id: before.id, ...changed } };
  },
  conflict: (_, feature, { payload }, context) =>
    hasStrategies(feature, context.environment, [payload.id])
      ? contentConflict(payload, context)
      : strategyDeletedCause,
};
