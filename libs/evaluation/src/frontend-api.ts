import type { FrontendBody, FrontendFeatures, FrontendQuery } from '@bunting/contracts';
import type { ActiveFeature } from './evaluator.ts';

type FrontendFeature = FrontendFeatures['toggles'][number];

type Values = Readonly<Record<string, unknown>>;

const ipv4MappedPrefix = '::ffff:';

/** Converts an IPv4-mapped IPv6 address to IPv4, which constraints contain; returns other addresses unchanged. */
function unmapAddress(address: string): string {
  const isMapped = address.toLowerCase().startsWith(ipv4MappedPrefix) && address.includes('.');
  return isMapped ? address.slice(ipv4MappedPrefix.length) : address;
}

/**
 * The fields of a context by name. Top-level fields take precedence over properties, and the environment of the token over both. Values
 * that are objects or null are left out.
 */
function fieldsOf(
  topLevel: Values,
  properties: Values,
  request: { readonly environment: string; readonly address: string | undefined },
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (request.address !== undefined) fields.set('remoteAddress', unmapAddress(request.address));
  for (const values of [properties, topLevel]) {
    for (const [field, value] of Object.entries(values)) {
      if (value !== null && value !== undefined && typeof value !== 'object') fields.set(field, String(value));
    }
  }
  fields.set('environment', request.environment);
  return fields;
}

const propertyPrefix = 'properties[';

/** The context fields in a query string, where a property may be written as `properties[<name>]`. */
export function contextFieldsOfQuery(
  { callerAddress, ...parameters }: FrontendQuery,
  environment: string,
): ReadonlyMap<string, string> {
  const isProperty = ([name]: readonly [string, unknown]): boolean =>
    name.startsWith(propertyPrefix) && name.endsWith(']');
  const entries = Object.entries(parameters);
  const properties = entries
    .filter(isProperty)
    .map(([name, value]) => [name.slice(propertyPrefix.length, -1), value] as const);
  const topLevel = entries.filter((entry) => !isProperty(entry));
  return fieldsOf(Object.fromEntries(topLevel), Object.fromEntries(properties), {
    environment,
    address: callerAddress,
  });
}

/** The context fields in a body. */
export function contextFieldsOfBody(
  { context }: FrontendBody,
  environment: string,
  callerAddress: string | undefined,
): ReadonlyMap<string, string> {
  const { properties, ...topLevel } = context ?? {};
  const further = typeof properties === 'object' && !Array.isArray(properties) ? properties : null;
  return fieldsOf(topLevel, (further ?? {}) as Values, { environment, address: callerAddress });
}

/** A feature as frontend SDKs receive it: on, unless an evaluation says something else. */
export function frontendFeature({
  feature,
  variant,
  enabled = true,
}: Pick<ActiveFeature, 'feature' | 'variant'> & { readonly enabled?: boolean }): FrontendFeature {
  return {
    name: feature.name,
    enabled,
    impressionData: feature.impressionData ?? false,
    variant: { ...variant, feature_enabled: enabled, featureEnabled: enabled } as FrontendFeature['variant'],
  };
}
