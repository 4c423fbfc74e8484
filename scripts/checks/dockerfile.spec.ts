import { afterAll, describe, expect, it } from 'vitest';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const repository = path.join(import.meta.dirname, '../..');
const temporary = mkdtempSync(path.join(tmpdir(), 'bunting-image-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

interface Stage {
  readonly name: string;
  readonly base: string;
  /** Its instructions, each on one line, without comments. */
  readonly instructions: readonly string[];
}

const stages = ((): readonly Stage[] => {
  const text = readFileSync(path.join(repository, 'docker/Dockerfile'), 'utf8');
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean);
  const found: { name: string; base: string; instructions: string[] }[] = [];
  for (const line of lines) {
    const [, base = '', name = ''] = /^FROM (\S+)(?: AS (\S+))?$/.exec(line) ?? [];
    if (base !== '') found.push({ name, base, instructions: [] });
    else found.at(-1)?.instructions.push(line);
  }
  return found;
})();

/** What .dockerignore keeps out of the context. */
const ignored = /(?:^|\/)(?:node_modules|dist|\.git|\.nx|\.bunting)(?:\/|$)/;

/** Copies into a folder what a stage and those that it is built on copy from the context, for one service. */
function copyStage(name: string, service: string, folder: string): readonly string[] {
  const stage = stages.find((candidate) => candidate.name === name);
  if (stage === undefined) return [];
  const before = copyStage(stage.base, service, folder);
  const own = stage.instructions.map((instruction) => instruction.replace(/\$\{SERVICE\}/g, service));
  for (const instruction of own) {
    const words = /^COPY (?!--from)(.*)$/.exec(instruction)?.[1]?.split(/\s+/);
    if (words === undefined) continue;
    const target = path.join(folder, words.at(-1) ?? '');
    for (const source of words.slice(0, -1)) {
      const from = path.join(repository, source);
      const to = statSync(from).isDirectory() ? target : path.join(target, path.basename(source));
      mkdirSync(path.dirname(to), { recursive: true });
      cpSync(from, to, { recursive: true, filter: (file) => !ignored.test(path.relative(repository, file)) });
    }
  }
  return [...before, ...own];
}

/** Gives a folder the packages of the repository, but its own workspaces from the folder. */
function linkPackages(folder: string): void {
  for (const modules of ['node_modules', ...globSync('{apps,libs}/*/node_modules', { cwd: repository })]) {
    if (!existsSync(path.join(folder, path.dirname(modules)))) continue;
    mkdirSync(path.join(folder, modules, '@bunting'), { recursive: true });
    for (const name of readdirSync(path.join(repository, modules)))
      if (name !== '@bunting') symlinkSync(path.join(repository, modules, name), path.join(folder, modules, name));
  }
  for (const workspace of globSync('{apps,libs}/*', { cwd: folder }))
    symlinkSync(path.join(folder, workspace), path.join(folder, 'node_modules/@bunting', path.basename(workspace)));
}

describe('the Dockerfile', () => {
  it('copies all that the build of the console reads', () => {
    const folder = path.join(temporary, 'console');
    const instructions = copyStage('console', '', folder);
    linkPackages(folder);
    const [, script = ''] =
      /&& node (\S+) --always$/.exec(instructions.findLast((line) => line.startsWith('RUN ')) ?? '') ?? [];
    const run = (cwd: string, ...args: readonly string[]) =>
      execFileSync(process.execPath, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } });
    // It loads, and does not build: its minification and compression take most of the time, and read nothing more.
    run(folder, script, '--help');
    const options = { logLevel: 'warn', build: { write: false, minify: false } };
    const program = `
      const { build } = await import('vite');
      const outputs = [await build(${JSON.stringify(options)})].flat().flatMap(({ output }) => output);
      console.log(JSON.stringify(outputs.map(({ fileName }) => fileName)))`;
    const consoleFolder = path.join(folder, path.dirname(script));
    const files = JSON.parse(run(consoleFolder, '--input-type=module', '--eval', program)) as string[];
    expect(files).toContain('index.html');
  });

  it('copies all that each service loads', () => {
    const modules = globSync('apps/*/src/service.ts', { cwd: repository }).map((file) => {
      const [, service = ''] = file.split('/');
      const folder = path.join(temporary, service);
      copyStage('install', service, folder);
      linkPackages(folder);
      for (const test of globSync('{apps,libs}/**/*.{spec,perf}.ts', { cwd: folder })) rmSync(path.join(folder, test));
      return path.join(folder, file);
    });
    expect(modules.length).toBeGreaterThan(4);
    const program = `for (const file of ${JSON.stringify(modules)}) await import(file)`;
    const loaded = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    expect([loaded.status, loaded.stderr]).toEqual([0, '']);
  });

  it('needs no newer engine than the requirements of the documentation', () => {
    const options = stages
      .flatMap(({ instructions }) => instructions)
      .flatMap((line) => line.match(/ --[a-z-]+/g) ?? []);
    expect(options).not.toContain(' --start-interval');
  });
});
