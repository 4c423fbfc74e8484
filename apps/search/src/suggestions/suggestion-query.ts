import { type FacetName, facetNames, foldForSearch, type RequestOf, type SuggestFeatures } from '@bunting/contracts';
import {
  invalidParameter,
  type Parameter,
  parameterParser,
  parseInteger,
  parseList,
} from '@bunting/contracts/validation';
import { maxFuzzyTextLength, maxFuzzyWords } from '../search/feature-query.ts';
import { splitWords } from '../search/words.ts';

/** Of how many values of a property suggestions count the features: the most frequent ones. */
export const maxFacetValues = 100;

/** The parsed parameters of a request for suggestions. */
export interface SuggestionQuery {
  /** what was typed, case-folded; empty if every feature matches */
  readonly text: string;
  /** its words */
  readonly words: readonly string[];
  readonly limit: number;
  readonly project: string | undefined;
  readonly facets: readonly FacetName[];
}

function parseText(parameter: Parameter): { readonly text: string; readonly words: readonly string[] } {
  const typed = parameter.text.trim();
  const text = foldForSearch(typed);
  if (text.length > maxFuzzyTextLength)
    throw invalidParameter(parameter, `be at most ${maxFuzzyTextLength} characters long`);
  return { text, words: splitWords(typed).slice(0, maxFuzzyWords).map(foldForSearch) };
}

function parseFacets(parameter: Parameter): readonly FacetName[] {
  const values = parseList(parameter, parameter.text);
  if (!values.every((value): value is FacetName => facetNames.some((name) => name === value)))
    throw invalidParameter(parameter, `list no other property than ${facetNames.join(', ')}`);
  return values;
}

/** Parses the parameters. @throws Refusal `ValidationError` that names the parameter */
export function parseSuggestionQuery(query: RequestOf<typeof SuggestFeatures>['query']): SuggestionQuery {
  const read = parameterParser(query);
  return {
    ...(read('query', parseText) ?? { text: '', words: [] }),
    limit: read('limit', (parameter) => parseInteger(parameter, 1, 50)) ?? 8,
    project: read('project', ({ text }) => text),
    facets: read('facets', parseFacets) ?? [],
  };
}
