import {
  type FeatureLink,
  type FeatureLinkBody,
  invalidProperty,
  isEqual,
  notFound,
  refusal,
} from '@bunting/contracts';
import { type Decision, type Feature, featureEvent } from '../features/feature.ts';
import { invalidPropertyValue, shortName } from '../refusals.ts';
import { fixedResourceLimits } from '../names.ts';

/**
 * The normalized URL of a link. Only http and https are safe to open from a page that shows the link. User names and passwords are refused,
 * because the page would show them.
 */
function normalizeUrl(text: string, path: string): string {
  const trimmed = text.trim();
  const url = URL.parse(trimmed.includes('://') ? trimmed : `https://${trimmed}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw invalidPropertyValue('be an http or https address without a user name', `${path}/url`, text);
  }
  return url.href;
}

function contentOf({ url, title }: FeatureLink) {
  return { url, title: title ?? null };
}

function newLink({ url, title }: FeatureLinkBody, id: string, path = '/body'): FeatureLink {
  return {
    id,
    url: normalizeUrl(url, path),
    title: title?.trim() || null,
  };
}

function getLink(feature: Feature, id: string): FeatureLink {
  const link = feature.links.find((candidate) => candidate.id === id);
  if (link === undefined) throw notFound(`Could not find link with id ${shortName(id)}`);
  return link;
}

const tooManyLinks = `Too many links (${fixedResourceLimits.linksPerFeature}) exist for this feature`;
function hasMaxLinks({ links }: Feature): boolean {
  return links.length >= fixedResourceLimits.linksPerFeature;
}

function withLink(feature: Feature, link: FeatureLink): Decision<'feature-link-added'> {
  return {
    feature: { ...feature, links: [...feature.links, link] },
    events: [featureEvent('feature-link-added', feature, { data: contentOf(link) })],
  };
}

/** Adds a link to a feature. @param id the id of the new link */
export function addLink(feature: Feature, body: FeatureLinkBody, id: string): Decision {
  const link = newLink(body, id);
  if (hasMaxLinks(feature)) throw refusal('OperationDeniedError', tooManyLinks);
  return withLink(feature, link);
}

/** Adds a link of a file to a feature, unless it has one to that address. @param path the JSON pointer of the link in the request */
export function addMissingLink(
  feature: Feature,
  body: FeatureLinkBody,
  { id, path }: { readonly id: string; readonly path: string },
): Decision<'feature-link-added'> {
  const added = newLink(body, id, path);
  if (feature.links.some(({ url }) => url === added.url)) return { feature, events: [] };
  if (hasMaxLinks(feature)) throw invalidProperty(tooManyLinks, path);
  return withLink(feature, added);
}

/** Replaces a link of a feature; the same content changes nothing. */
export function updateLink(feature: Feature, id: string, body: FeatureLinkBody): Decision {
  const before = getLink(feature, id);
  const after = newLink(body, id);
  if (isEqual(contentOf(after), contentOf(before))) return { feature, events: [] };
  return {
    feature: { ...feature, links: feature.links.map((link) => (link === before ? after : link)) },
    events: [featureEvent('feature-link-updated', feature, { preData: contentOf(before), data: contentOf(after) })],
  };
}

export function removeLink(feature: Feature, id: string): Decision {
  const removed = getLink(feature, id);
  return {
    feature: { ...feature, links: feature.links.filter((link) => link !== removed) },
    events: [featureEvent('feature-link-removed', feature, { preData: contentOf(removed) })],
  };
}
