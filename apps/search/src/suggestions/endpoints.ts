import { type Endpoint, implement } from '@bunting/bus';
import { SuggestFeatures } from '@bunting/contracts';
import type { TimedRequest } from '@bunting/outbox';
import { parseSuggestionQuery } from './suggestion-query.ts';
import type { FeatureSuggester } from './suggestion-store.ts';

export function suggestionEndpoints({ suggester, waitUntilFresh }: SuggestionContext): readonly Endpoint[] {
  return [
    implement(SuggestFeatures, async (request) => {
      const query = parseSuggestionQuery(request.query);
      await waitUntilFresh(request);
      const { engine, ...suggestions } = await suggester.suggest(query, {
        hiddenProjects: request.caller.hiddenProjects ?? [],
      });
      if (engine !== undefined) request.setHeader('Bunting-Search-Engine', engine);
      return suggestions;
    }),
  ];
}

interface SuggestionContext {
  readonly suggester: FeatureSuggester;
  /** waits until the documents are fresh, within the deadline of the request */
  readonly waitUntilFresh: (request: TimedRequest) => Promise<void>;
}
