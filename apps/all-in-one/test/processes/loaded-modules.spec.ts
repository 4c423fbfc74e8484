import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const repository = path.join(import.meta.dirname, '..', '..', '..', '..');

/** Prints the packages of npm that the services import, as they are loaded and not yet started. */
const listPackages = `
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(resolved.url)?.[1];
      if (name !== undefined) packages.add(name);
      return resolved;
    },
  });
  await import('./apps/all-in-one/src/services.ts');
  console.log(JSON.stringify([...packages]));
`;

it('the clients of NATS and of mail servers are not loaded with the services: one without these servers is smaller', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', listPackages], {
    cwd: repository,
  });
  const packages = JSON.parse(stdout) as readonly string[];
  expect(packages).toContain('fastify');
  expect(packages.filter((name) => name.startsWith('@nats-io/') || name === 'nodemailer')).toEqual([]);
});
