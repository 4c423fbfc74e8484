import { type ChangeOf, invalid } from '@bunting/contracts';
import { type StrategyContent, strategyOf } from '../../strategies/strategy.ts';
import { replaceStrategyContent } from '../../strategies/edit-strategy.ts';
import { withDefaultParameters } from '../../strategies/normalize-strategy.ts';
import { strategyDeletedCause } from '../conflict-causes.ts';
import { findNewerEdits } from '../compare-snapshots.ts';
import type { FeatureActionHandler } from '../action-handler.ts';
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

/**
 * Changes a strategy. Omitted properties do not change: a constraint that is lost silently would enable the feature for more users. Whether
 * the feature stays enabled is decided after all changes.
 */
export const updateStrategyHandler: FeatureActionHandler<'updateStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (feature, { payload }, { environment }) =>
    strategySnapshot(strategyOf(feature, { environment, strategyId: payload.id })),
  overwrites: ({ payload: { id: _, ...properties } }, states) => findNewerEdits(states, properties),
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
      title: payload.title === undefined ? before.title : payload.title,
      disabled: payload.disabled ?? before.disabled,
      constraints: payload.constraints ?? before.constraints,
      parameters:
        payload.parameters === undefined
          ? before.parameters
          : withDefaultParameters({ name, parameters: payload.parameters }, feature, projectContext, before),
      variants: payload.variants ?? before.variants,
      segments: payload.segments ?? before.segments,
    };
    const decision = replaceStrategyContent(feature, ref, content, { projectContext, path: `${path}/payload` });
    const changed = payloadAfterChange(changeableProperties, payload, strategyOf(decision.feature, ref));
    return {
      subject: decision.feature,
      events: decision.events,
      payload: { id: before.id, ...changed },
    };
  },
  conflict: (_, feature, { payload }, context) =>
    hasStrategies(feature, context.environment, [payload.id])
      ? contentConflict(payload, context)
      : strategyDeletedCause,
};
