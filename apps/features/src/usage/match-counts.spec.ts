import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { unlistedApplication } from '../applications/application.ts';
import {
  type EvaluationCount,
  type ReportedFeature,
  matchCounts,
  findFeaturesEnteringStages,
  replaceUnlistedNames,
} from './evaluation-counts.ts';

const count = (feature: string, about: Partial<EvaluationCount> = {}): EvaluationCount => ({
  feature,
  environment: 'production',
  appName: 'web',
  minute: 1,
  yes: 1,
  no: 0,
  variants: {},
  ...about,
});
const stored = (name: string, about: Partial<ReportedFeature> = {}): ReportedFeature => ({
  name,
  project: 'shop',
  stages: ['initial'],
  enabledIn: [],
  ...about,
});
const caller: Caller = { id: 7, name: 'web', grants: [{ permission: 'CLIENT', project: 'shop' }] };

describe('the metrics of an unlisted application', () => {
  it('count without its name', () => {
    const counts = [count('checkout'), count('checkout', { appName: 'till' })];
    expect(replaceUnlistedNames(counts, new Set(['web'])).map(({ appName }) => appName)).toEqual([
      'web',
      unlistedApplication,
    ]);
  });
});

describe('metrics', () => {
  it('count for features that exist in a project of the key', () => {
    const counts = [count('checkout'), count('cart'), count('vault')];
    const matched = matchCounts(counts, [stored('checkout'), stored('vault', { project: 'bank' })], caller);
    expect(matched.features.map(({ name }) => name)).toEqual(['checkout']);
    expect(matched.counts).toEqual([counts[0]]);
  });

  it('of other features are listed as missing, once for each listed application and environment', () => {
    const counts = [
      count('cart'),
      count('cart', { minute: 2 }),
      count('cart', { environment: 'development' }),
      count('cart', { appName: unlistedApplication }),
      count('vault'),
    ];
    expect(matchCounts(counts, [stored('vault', { project: 'bank' })], caller).missing).toEqual([
      { appName: 'web', environment: 'production', feature: 'cart' },
      { appName: 'web', environment: 'development', feature: 'cart' },
      { appName: 'web', environment: 'production', feature: 'vault' },
    ]);
  });

  it('of a feature with a name that is too long for any feature are left out', () => {
    const counts = [count('x'.repeat(256)), count('cart'), count('checkout')];
    const matched = matchCounts(counts, [stored('checkout')], caller);
    expect([matched.counts.length, matched.missing.map(({ feature }) => feature)]).toEqual([1, ['cart']]);
  });

  it('add at most a thousand missing features in one report', () => {
    const counts = Array.from({ length: 1_001 }, (_, nth) => count(`flag-${nth}`));
    expect(matchCounts(counts, [], caller).missing).toHaveLength(1_000);
  });

  it('move features to the stages that they have not entered, each by the environments of its own counts', () => {
    const types = new Map([
      ['production', 'production'],
      ['development', 'development'],
    ]);
    const now = '2026-03-01T10:30:00.000Z';
    const features = [
      stored('checkout', { enabledIn: ['production'] }),
      stored('cart', { enabledIn: ['production'] }),
      stored('search', { stages: ['initial', 'pre-live'] }),
    ];
    const counts = [count('checkout'), count('cart', { environment: 'development' }), count('search')];
    expect(findFeaturesEnteringStages(features, counts, types, now)).toEqual([
      {
        name: 'checkout',
        stages: [
          { stage: 'pre-live', enteredStageAt: now },
          { stage: 'live', enteredStageAt: now },
        ],
      },
      { name: 'cart', stages: [{ stage: 'pre-live', enteredStageAt: now }] },
    ]);
  });
});
