import type { Feature, ProjectFeatures, Segment } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { featurePath, platformClient } from '../../support/clients.ts';
import { dataFolder, type Platform, removeFolder, runProgram } from '../../support/platform.ts';
import { unleashExport } from '../../unleash/unleash-export.ts';

export const describeImportCommand = (platform: () => Platform): void => {
  describe('the import command', () => {
    const project = 'import-command';
    const file = unleashExport(project, 'development', 15);
    const segments = file.segments.map(({ id, name }, nth) => ({
      id,
      name,
      description: 'Of Unleash.',
      project: nth === 0 ? 'default' : null,
      constraints: [{ contextName: `${project}-of-segments`, operator: 'IN', values: ['7'] }],
    }));
    const folder = dataFolder();
    afterAll(() => removeFolder(folder));

    const writeImportFile = (name: string, content: unknown): string => {
      const full = path.join(folder, name);
      writeFileSync(full, typeof content === 'string' ? content : JSON.stringify(content));
      return full;
    };
    /** Runs the command as users do. @returns its output and its exit code */
    const run = async (...args: string[]) => {
      const { url, token } = platform();
      const into = ['--url', url, '--project', project, '--environment', 'development', '--part', '4'];
      const program = runProgram('scripts/import.ts', { BUNTING_TOKEN: token }, { args: [...into, ...args] });
      const { code } = await program.ended;
      return { code, output: program.output(), errors: program.errors() };
    };
    const counted = ({ output }: { output: string }) => JSON.parse(output) as Record<string, number>;
    const names = async (): Promise<(string | undefined)[]> =>
      (await platform().api<ProjectFeatures>('GET', `/api/admin/projects/${project}/features`)).body.features.map(
        ({ name }) => name,
      );

    beforeAll(async () => {
      await platformClient(platform().api).createProject(project);
    });

    it('reports an invalid file or invalid arguments, and sends no request', async () => {
      const cut = writeImportFile('cut.json', JSON.stringify(file).slice(0, -100));
      expect(await run(cut)).toMatchObject({ code: 2, errors: expect.stringMatching(/cut\.json is not JSON/) });
      const faulty = structuredClone(file);
      Object.assign(faulty.featureStrategies[3] as object, { parameters: { rollout: null } });
      const at = '/featureStrategies/3/parameters/rollout';
      expect(await run(writeImportFile('faulty.json', faulty))).toMatchObject({
        code: 2,
        errors: expect.stringContaining(at),
      });
      const other = unleashExport(project, 'production', 2);
      const mixed = await run(writeImportFile('file.json', file), writeImportFile('production.json', other));
      expect(mixed).toMatchObject({ code: 2, errors: expect.stringMatching(/"development".*"production"/) });
      expect(await run()).toMatchObject({ code: 2, errors: expect.stringContaining('FILE') });
      const unauthorised = await run('--token', 'unknown', writeImportFile('file.json', file));
      expect(unauthorised).toMatchObject({ code: 1, errors: expect.stringMatching(/answered with 401/) });
      expect(await names()).toEqual([]);
    });

    it('stops at the first refused batch, lists everything that is missing, and keeps earlier batches', async () => {
      const refused = await run(
        writeImportFile('file.json', { ...file, featureStrategies: file.featureStrategies.slice(0, 3) }),
      );
      expect(refused).toMatchObject({ code: 0 });
      const changed = await run(writeImportFile('file.json', file));
      expect(changed).toMatchObject({
        code: 1,
        errors: expect.stringMatching(/Segment ".+-north of Oslo" does not exist/),
      });
      expect(changed.errors).toContain('4 of 15 features are in and stay');
    });

    it('creates missing segments, resumes an interrupted import, and shows its progress', async () => {
      const listed = writeImportFile('segments.json', { segments });
      // Older exports have no names of segments in strategies: the ids refer to the list of segments.
      const whole = writeImportFile('file.json', { ...file, segments: [] });
      const first = await run('--segments', listed, whole);
      expect(first).toMatchObject({ code: 0, errors: expect.stringContaining('15 of 15 features') });
      expect(first.errors).toContain(`Segments created: ${project}-testers, ${project}-north of Oslo`);
      expect(counted(first)).toMatchObject({ created: 0 });

      const again = await run('--segments', listed, whole);
      expect(again).toMatchObject({ code: 0, errors: expect.stringContaining('No segment was missing.') });
      expect(counted(again)).toEqual({
        created: 0,
        updated: 0,
        unchanged: 15,
        strategies: 0,
        tags: 0,
        tagTypes: 0,
        contextFields: 0,
        dependencies: 0,
        skipped: 0,
      });
      expect(await names()).toEqual(file.features.map(({ name }) => name));
    });

    it('maps the segments of strategies to existing segments', async () => {
      const { body } = await platform().api<{ segments: Segment[] }>('GET', '/api/admin/segments');
      const here = body.segments.filter(({ name }) => name?.startsWith(project));
      expect(here.map(({ name, project: of }) => [name, of])).toEqual([
        [`${project}-north of Oslo`, undefined],
        [`${project}-testers`, project],
      ]);
      const strategy = file.featureStrategies.find((each) => each.segments.length === 2);
      const feature = await platform().api<Feature>('GET', featurePath(project, strategy?.featureName ?? ''));
      const used = feature.body.environments?.[0]?.strategies?.[0]?.segments;
      expect(used?.toSorted()).toEqual(here.map(({ id }) => id).toSorted());
    });
  });
};
