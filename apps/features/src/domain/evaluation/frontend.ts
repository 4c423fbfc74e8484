import type { FrontendBody, FrontendFeatures, FrontendQuery } from '@bunting/contracts';
import type { Evaluator } from './evaluator.ts';
import type { Situation } from './situation.ts';

type Values = Readonly<Record<string, unknown>>;

const mapped = '::ffff:';

/** The address as constraints write it: one of IPv4 also where it came in the clothes of IPv6. */
const plainAddress = (address: string): string => {
  const isMapped = address.toLowerCase().startsWith(mapped) && address.includes('.');
  return isMapped ? address.slice(mapped.length) : address;
};

/** A context by the names of its fields: those that have a name of their own win over properties. */
const contextOf = (
  own: Values,
  properties: Values,
  known: { readonly environment: string; readonly address: string | undefined },
): ReadonlyMap<string, string> => {
  const context = new Map<string, string>();
  if (known.address !== undefined) context.set('remoteAddress', plainAddress(known.address));
  for (const values of [properties, own]) {
    for (const [field, value] of Object.entries(values)) {
      if (value !== null && value !== undefined && typeof value !== 'object') context.set(field, String(value));
    }
  }
  context.set('environment', known.environment);
  return context;
};

const open = 'properties[';

/** The context in an address, where a property may be written as such. */
export const contextOfQuery = (
  { callerAddress, ...fields }: FrontendQuery,
  environment: string,
): ReadonlyMap<string, string> => {
  const isProperty = ([name]: readonly [string, unknown]): boolean => name.startsWith(open) && name.endsWith(']');
  const given = Object.entries(fields);
  const properties = given.filter(isProperty).map(([name, value]) => [name.slice(open.length, -1), value] as const);
  const own = given.filter((entry) => !isProperty(entry));
  return contextOf(Object.fromEntries(own), Object.fromEntries(properties), { environment, address: callerAddress });
};

/** The context in a body. */
export const contextOfBody = (
  { context = {} }: FrontendBody,
  environment: string,
  callerAddress: string | undefined,
): ReadonlyMap<string, string> => {
  const { properties = {}, ...own } = context;
  return contextOf(own, properties as Values, { environment, address: callerAddress });
};

/** What browsers and apps are told: what is on, and which variant, and nothing of why. */
export const frontendFeatures = (evaluator: Evaluator, situation: Situation): FrontendFeatures => ({
  toggles: evaluator.active(situation).map(({ feature, variant }) => ({
    name: feature.name,
    enabled: true,
    impressionData: feature.impressionData ?? false,
    variant: {
      ...variant,
      feature_enabled: true,
      featureEnabled: true,
    } as FrontendFeatures['toggles'][number]['variant'],
  })),
});
