import { globSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const repository = import.meta.dirname;

/** Files at a time. With four, two cores are busy about half of the time: tests start processes, and wait for limits and retries. */
const workers = Number(process.env['TEST_WORKERS'] ?? 8);
/** Each browser has processes of its own, whose pages fail when they wait for a core for too long. */
const workersWithBrowsers = Math.min(4, workers);

/** Only a defect takes this long, however busy the machine: longer than several assertions that wait (`eventually`). */
const timeout = 240_000;

/** Files of one folder follow each other, so that its modules stay loaded; folders whose files take longest come first. */
class FolderByFolder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const first = ['scripts', 'apps/all-in-one', 'libs/embedded-postgres', 'apps/gateway', 'apps/features'];
    const folderOf = ({ moduleId }: TestSpecification) =>
      /^(?:scripts|[^/]+\/[^/]+)/.exec(path.relative(repository, moduleId))?.[0] ?? '';
    const rank = (file: TestSpecification) => {
      const place = first.indexOf(folderOf(file));
      return place < 0 ? first.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b) || folderOf(a).localeCompare(folderOf(b)));
  }
}

/** The tests of a folder. Their names are those of the folders: `npx vitest run --project features PATTERN`. */
function project(
  folder: string,
  test: {
    readonly include: string[];
    readonly name?: string;
    readonly globalSetup?: string;
    readonly maxWorkers?: number;
    readonly sequence?: { readonly groupOrder: number };
  },
) {
  return {
    extends: true as const,
    test: { name: path.basename(folder), root: path.join(repository, folder), ...test },
  };
}

export default defineConfig(({ mode }) => {
  // *.perf.ts assert durations: `npm run test:perf`.
  const kind = mode === 'perf' ? 'perf' : 'spec';
  const folders = globSync('{apps,libs}/*/package.json', { cwd: repository })
    .map((file) => path.dirname(file))
    .filter((folder) => folder !== 'apps/console');
  const withoutBrowser = [
    ...folders.map((folder) => project(folder, { include: [`{src,test}/**/*.${kind}.ts`] })),
    project('scripts', { include: [`**/*.${kind}.ts`] }),
    project('apps/console', { include: [`src/**/*.${kind}.ts`] }),
  ];
  // A worker serves one project, and is replaced for the next: with the modules that it has loaded, which takes two seconds of a core.
  const withoutBrowserAtOnce = project('.', {
    name: 'all but pages',
    include: withoutBrowser.flatMap(({ test }) =>
      test.include.map((pattern) => path.join(path.relative(repository, test.root), pattern)),
    ),
  });
  return {
    test: {
      sequence: { sequencer: FolderByFolder },
      // Workers are processes, since tests start and stop servers, and their modules are loaded once: a spec file leaves no global state.
      pool: 'forks',
      isolate: false,
      maxWorkers: workers,
      // Objects of a test live shortly: with room for them, collecting those that are dead takes an eighth less of the cores.
      execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=32'],
      // Node.js loads the modules itself, as it does in production, and keeps what it has compiled for the next worker and run.
      experimental: { viteModuleRunner: false },
      env: { NODE_COMPILE_CACHE: path.join(repository, 'node_modules', '.cache', 'bunting', 'compiled') },
      testTimeout: timeout,
      hookTimeout: timeout,
      teardownTimeout: timeout,
      projects: [
        ...(mode === 'whole' ? [withoutBrowserAtOnce] : withoutBrowser),
        // One platform and one PostgreSQL for all specs of the pages, and a browser for each worker, after all others: beside them pages wait
        // for a core for too long, and all tests together take as long.
        project('apps/console', {
          name: 'console in Chromium',
          include: [`test/**/*.${kind}.ts`],
          globalSetup: 'test/support/global-setup.ts',
          maxWorkers: workersWithBrowsers,
          sequence: { groupOrder: 1 },
        }),
      ],
    },
  };
});
