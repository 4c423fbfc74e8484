import { type Feature, ImportReport, type ProjectFeatures } from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectFits, expectRefusal, featurePath, platformClient } from '../../support/clients.ts';
import type { Platform } from '../../support/platform.ts';
import { type UnleashExport, unleashExport } from '../../unleash/unleash-export.ts';

const nothingTaken = {
  created: 0,
  updated: 0,
  unchanged: 0,
  strategies: 0,
  tags: 0,
  tagTypes: 0,
  contextFields: 0,
  dependencies: 0,
  skipped: [],
};

const byText = (tags: readonly { type: string; value: string }[]): string[] =>
  tags.map(({ type, value }) => `${type} ${value}`).sort();

/** The environment of one feature as a file describes it, with the ids of the segments of this server. */
const inEnvironment = (file: UnleashExport, feature: string, segmentIds: ReadonlyMap<number, number>) => {
  const setting = file.featureEnvironments.find(({ featureName }) => featureName === feature);
  return {
    enabled: setting?.enabled,
    variants: setting?.variants,
    strategies: file.featureStrategies
      .filter(({ featureName }) => featureName === feature)
      .map(({ name, title, disabled, parameters, constraints, variants, segments }) => ({
        name,
        title,
        disabled,
        parameters,
        constraints,
        variants,
        segments: segments.map((id) => segmentIds.get(id)),
      })),
  };
};

/** The environment of one feature as the platform returns it. */
const asReturned = ({ environments = [] }: Feature, environment: string) => {
  const { enabled, variants, strategies = [] } = environments.find(({ name }) => name === environment) ?? {};
  return {
    enabled,
    variants,
    strategies: strategies.map(({ name, title, disabled, parameters, constraints, variants: of, segments }) => ({
      name,
      title,
      disabled,
      parameters,
      constraints,
      variants: of,
      segments,
    })),
  };
};

export const describeImport = (platform: () => Platform): void => {
  describe('an import of an export from Unleash', () => {
    const prefix = 'import';
    const development = unleashExport(prefix, 'development');
    const production = unleashExport(prefix, 'production');
    const segmentIds = new Map<number, number>();
    const importInto = (project: string, environment: string, data: unknown): Promise<ApiResponse<ImportReport>> =>
      platform().api<ImportReport>('POST', '/api/admin/features-batch/import', { project, environment, data });
    const names = development.features.map(({ name }) => name);

    beforeAll(async () => {
      const { createProject, createSegment } = platformClient(platform().api);
      await createProject(prefix);
      for (const { id, name } of development.segments.toReversed()) {
        segmentIds.set(id, (await createSegment({ name })).id);
      }
    });

    it('imports the file of one environment and reports the counts', async () => {
      const { status, body } = await importInto(prefix, 'development', development);
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          ...nothingTaken,
          created: development.features.length,
          strategies: development.featureStrategies.length,
          tags: development.featureTags.length,
          tagTypes: 2,
          contextFields: 3,
          dependencies: 3,
        },
      });
      expectFits(ImportReport, body);
    });

    it('imports the file of another environment, and leaves unmentioned settings as they are', async () => {
      const hasStrategy = new Set(production.featureStrategies.map(({ featureName }) => featureName));
      const isNew = ({ enabled, variants, featureName }: UnleashExport['featureEnvironments'][number]) =>
        enabled || variants.length > 0 || hasStrategy.has(featureName);
      const updated = production.featureEnvironments.filter(isNew).length;
      const { status, body } = await importInto(prefix, 'production', production);
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          ...nothingTaken,
          updated,
          unchanged: production.features.length - updated,
          strategies: production.featureStrategies.length,
        },
      });
      expect(updated).toBeGreaterThan(0);
      expect(updated).toBeLessThan(production.features.length);
    });

    it('stores every feature exactly as in the files', async () => {
      for (const { name, description, type, stale, impressionData } of development.features) {
        const { status, body } = await platform().api<Feature>(
          'GET',
          `${featurePath(prefix, name)}?variantEnvironments=true`,
        );
        expect(status).toBe(200);
        expect(body).toMatchObject({
          name,
          // An empty description is none.
          description: description === '' ? null : description,
          type,
          stale,
          impressionData,
          project: prefix,
          archived: false,
        });
        expect({
          name,
          development: asReturned(body, 'development'),
          production: asReturned(body, 'production'),
          tags: byText(body.tags ?? []),
          dependencies: body.dependencies,
        }).toEqual({
          name,
          development: inEnvironment(development, name, segmentIds),
          production: inEnvironment(production, name, segmentIds),
          tags: byText(
            development.featureTags
              .filter(({ featureName }) => featureName === name)
              .map(({ tagType, tagValue }) => ({ type: tagType, value: tagValue })),
          ),
          dependencies: development.dependencies.find(({ feature }) => feature === name)?.dependencies ?? [],
        });
      }
    });

    it('shows the dependent features on their parent', async () => {
      const { getFeature } = platformClient(platform().api);
      const parent = await getFeature(featurePath(prefix, names[1] as string));
      expect(parent.children?.toSorted()).toEqual([names[10], names[11]]);
    });

    it('can be searched immediately by tag, segment and state', async () => {
      const { search } = platformClient(platform().api);
      const found = async (parameters: Record<string, string>) =>
        (await search({ project: `IS:${prefix}`, limit: '100', sortBy: 'name', ...parameters })).features.map(
          ({ name }) => name,
        );
      expect(await found({})).toEqual(names);
      const tagged = development.featureTags.filter(({ tagType }) => tagType === `${prefix}-risk`);
      expect(await found({ tag: `INCLUDE:${prefix}-risk:höch` })).toEqual(tagged.map(({ featureName }) => featureName));
      expect(await found({ state: 'IS:stale' })).toEqual(
        development.features.filter(({ stale }) => stale).map(({ name }) => name),
      );
      const withSegment = [...development.featureStrategies, ...production.featureStrategies]
        .filter(({ segments }) => segments.includes(901))
        .map(({ featureName }) => featureName);
      expect(await found({ segment: `INCLUDE:${prefix}-testers` })).toEqual([...new Set(withSegment)].sort());
    });

    it('changes nothing when it is repeated', async () => {
      const { api } = platform();
      const { events } = platformClient(api);
      const features = async () =>
        Promise.all(names.map(async (name) => (await api('GET', featurePath(prefix, name))).text));
      const before = { features: await features(), events: (await events({ project: prefix, limit: 1 })).events[0] };

      for (const [environment, file] of [
        ['development', development],
        ['production', production],
      ] as const) {
        const { status, body } = await importInto(prefix, environment, file);
        expect({ status, body }).toEqual({ status: 200, body: { ...nothingTaken, unchanged: names.length } });
      }

      expect(await features()).toEqual(before.features);
      const later = (await events({ project: prefix })).events.filter(({ id }) => id > (before.events?.id ?? 0));
      expect(later.filter(({ type }) => type !== 'features-imported')).toEqual([]);
    });

    it('applies the difference when a file has changed', async () => {
      const changed = structuredClone(development);
      const [first] = changed.features;
      (first as { description: string | null }).description = 'Described again.';
      const { body } = await importInto(prefix, 'development', changed);
      expect(body).toEqual({ ...nothingTaken, updated: 1, unchanged: names.length - 1 });
      const { eventTypes, getFeature } = platformClient(platform().api);
      expect(await getFeature(featurePath(prefix, names[0] as string))).toMatchObject({
        description: 'Described again.',
      });
      const types = await eventTypes({ feature: names[0] as string, limit: 1 });
      expect(types).toEqual(['feature-metadata-updated']);
    });

    it('emits one event for each feature, strategy and tag, and one for the whole import', async () => {
      const { createProject, events } = platformClient(platform().api);
      await createProject('import-events');
      const small = unleashExport('import-events', 'development', 13);
      for (const { name } of small.segments) await platformClient(platform().api).createSegment({ name });
      const { status } = await importInto('import-events', 'development', small);
      expect(status).toBe(200);
      const emitted = (await events({ project: 'import-events' })).events;
      const count = (type: string) => emitted.filter((event) => event.type === type).length;
      expect(emitted[0]).toMatchObject({ type: 'features-imported', environment: 'development', createdByUserId: -42 });
      expect({
        created: count('feature-created'),
        strategies: count('feature-strategy-add'),
        tagged: count('feature-tagged'),
        dependencies: count('feature-dependency-added'),
        enabled: count('feature-environment-enabled'),
      }).toEqual({
        created: 13,
        strategies: small.featureStrategies.length,
        tagged: small.featureTags.length,
        dependencies: 3,
        enabled: small.featureEnvironments.filter(({ enabled }) => enabled).length,
      });
    });

    describe('that is not valid as a whole', () => {
      const own = 'import-refused';
      const file = unleashExport(own, 'development', 13);
      const isEmpty = async () => {
        const { body } = await platform().api<ProjectFeatures>('GET', `/api/admin/projects/${own}/features`);
        expect(body.features).toEqual([]);
        const { eventTypes, search } = platformClient(platform().api);
        expect(await eventTypes({ project: own })).toEqual(['project-created']);
        expect((await search({ project: `IS:${own}` })).total).toBe(0);
      };
      beforeAll(async () => {
        await platformClient(platform().api).createProject(own);
      });

      it('is refused with the full list of missing objects, and stores nothing', async () => {
        const lacking = structuredClone(file);
        lacking.contextFields = lacking.contextFields.filter(({ name }) => !name.startsWith(own));
        for (const [at, name] of ['own-type', 'other-type'].entries()) {
          Object.assign(lacking.featureStrategies[at * 3] as object, { name });
        }
        const response = await importInto(own, 'development', lacking);
        expectRefusal(response, 400, 'ValidationError');
        const missing = [
          'own-type',
          'other-type',
          ...['age', 'version', 'region', 'testers', 'north of Oslo'].map((name) => `${own}-${name}`),
        ];
        for (const name of missing) expect(response.text).toContain(name);
        await isEmpty();
      });

      it('is refused when a strategy uses a segment that is missing from the file', async () => {
        const lacking = { ...structuredClone(file), segments: [] };
        const response = await importInto(own, 'development', lacking);
        expectRefusal(response, 400, 'ValidationError');
        expect(response.text).toContain('901');
        await isEmpty();
      });

      it('is refused when the file is truncated', async () => {
        const whole = JSON.stringify({ project: own, environment: 'development', data: file });
        const cut = await platform().api('POST', '/api/admin/features-batch/import', whole.slice(0, whole.length / 2));
        expectRefusal(cut, 400, 'ValidationError', '/body');
        const { features } = file;
        expectRefusal(
          await importInto(own, 'development', { features }),
          400,
          'ValidationError',
          '/body/data/featureStrategies',
        );
        await isEmpty();
      });

      it('is refused when one of many features is invalid, and names the property', async () => {
        const wrong = structuredClone(file);
        Object.assign(wrong.featureStrategies.at(-1) as object, { parameters: { rollout: null } });
        const at = `/body/data/featureStrategies/${wrong.featureStrategies.length - 1}/parameters/rollout`;
        expectRefusal(await importInto(own, 'development', wrong), 400, 'ValidationError', at);
        await isEmpty();
      });

      it('is refused when a feature belongs to another project', async () => {
        const { createFeature, createProject, createSegment, getFeature } = platformClient(platform().api);
        for (const { name } of file.segments) await createSegment({ name });
        await createProject('import-elsewhere');
        const foreign = file.features[5]?.name as string;
        await createFeature('import-elsewhere', foreign, { description: 'Stays as it is.' });
        const response = await importInto(own, 'development', file);
        expectRefusal(response, 400, 'ValidationError');
        expect(response.text).toContain(foreign);
        await isEmpty();
        const kept = await getFeature(featurePath('import-elsewhere', foreign));
        expect(kept).toMatchObject({ description: 'Stays as it is.', tags: [] });
        const tag = { type: `${own}-team`, value: 'team 0' };
        const untyped = await platform().api('POST', `/api/admin/features/${foreign}/tags`, tag);
        expectRefusal(untyped, 400, 'ValidationError', tag.type);
      });

      it('is refused for an unknown project or environment', async () => {
        expectRefusal(await importInto('import-nowhere', 'development', file), 404, 'NotFoundError', 'import-nowhere');
        const response = await importInto(own, 'staging', file);
        expect([400, 404]).toContain(response.status);
        expect(response.text).toContain('staging');
        await isEmpty();
      });
    });

    it('skips a feature that is archived in Bunting, and reports it', async () => {
      const { archive, createFeature, createProject } = platformClient(platform().api);
      const own = 'import-archived';
      await createProject(own);
      const file = { ...unleashExport(own, 'development', 2), segments: [], dependencies: [] };
      file.featureStrategies = file.featureStrategies.filter(({ segments }) => segments.length === 0);
      const [kept, archived] = file.features.map(({ name }) => name) as [string, string];
      await createFeature(own, archived);
      await archive(featurePath(own, archived));
      const { body } = await importInto(own, 'development', file);
      expect(body).toMatchObject({ created: 1, skipped: [{ feature: archived, reason: expect.any(String) }] });
      expect((await platform().api('GET', featurePath(own, kept))).status).toBe(200);
      expectRefusal(await platform().api('GET', featurePath(own, archived)), 404, 'NotFoundError', archived);
    });
  });
};
