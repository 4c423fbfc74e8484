import { implement } from '@bunting/bus';
import { type AdvancedPlaygroundResult, EvaluateAdvancedPlayground } from '@bunting/contracts';
import { playgroundEvaluator } from '../../domain/playground/playground-evaluators.ts';
import { combinationsOf, readContext } from '../../domain/playground/playground-contexts.ts';
import { requireShowable } from '../../domain/playground/playground-limits.ts';
import type { FeaturesContext } from '../context.ts';
import { readPlaygroundContent } from './read-playground-content.ts';

type FeatureResult = AdvancedPlaygroundResult['features'][number];
type EvaluationsByEnvironment = Map<string, FeatureResult['environments'][string]>;

export const evaluateAdvancedPlaygroundEndpoint = (context: FeaturesContext) =>
  implement(EvaluateAdvancedPlayground, async (request) => {
    const { body, now } = request;
    const environments = [...new Set(body.environments)];
    const { fields, ignored } = readContext(body.context);
    const combinations = combinationsOf(fields);
    const content = await readPlaygroundContent(context, request, {
      ...body,
      environments,
      environmentsPath: '/body/environments',
      contexts: combinations.length,
    });
    const names = body.features && new Set(body.features);
    const selectedContent = { ...content, features: content.features.filter(({ name }) => names?.has(name) ?? true) };
    requireShowable(selectedContent, environments, combinations.length);
    const results = new Map<string, Omit<FeatureResult, 'environments'> & { environments: EvaluationsByEnvironment }>();
    for (const environment of environments) {
      const { evaluate } = playgroundEvaluator(content, environment, names);
      for (const combination of combinations) {
        const fieldsInEnvironment = new Map([...combination, ['environment', environment]]);
        for (const feature of evaluate({ fields: fieldsInEnvironment, now, random: Math.random })) {
          const { name, projectId } = feature;
          const result = results.get(name) ?? { name, projectId, environments: new Map() };
          results.set(name, result);
          const evaluations = result.environments.get(environment) ?? [];
          result.environments.set(environment, evaluations);
          evaluations.push({ ...feature, environment, context: Object.fromEntries(combination) });
        }
      }
    }
    return {
      input: body,
      features: [...results.values()].map((result) => ({
        ...result,
        environments: Object.fromEntries(result.environments),
      })),
      warnings: ignored.length === 0 ? {} : { invalidContextProperties: ignored },
    };
  });
