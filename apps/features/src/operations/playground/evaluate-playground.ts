import { implement } from '@bunting/bus';
import { EvaluatePlayground } from '@bunting/contracts';
import { playgroundEvaluator } from '../../domain/playground/playground-evaluators.ts';
import { readContext } from '../../domain/playground/playground-contexts.ts';
import type { FeaturesContext } from '../context.ts';
import { readPlaygroundContent } from './read-playground-content.ts';

export const evaluatePlaygroundEndpoint = (context: FeaturesContext) =>
  implement(EvaluatePlayground, async (request) => {
    const { body, now } = request;
    const { environment } = body;
    const { fields } = readContext(body.context);
    const content = await readPlaygroundContent(context, request, {
      ...body,
      environments: [environment],
      environmentsPath: '/body/environment',
      contexts: 1,
    });
    const { evaluate } = playgroundEvaluator(content, environment);
    return {
      input: body,
      features: evaluate({ fields: new Map([...fields, ['environment', environment]]), now, random: Math.random }),
    };
  });
