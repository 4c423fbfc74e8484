import { parseArgs } from 'node:util';
import type { TSchema } from 'typebox';
import { EdgeConfig } from './config.ts';

/** The flag of a setting: `--upstream-url` for UPSTREAM_URL. */
function flagOf(setting: string): string {
  return setting.toLowerCase().replaceAll('_', '-');
}

/** The short forms of flags that Unleash Edge has, which mean another setting in each mode. */
const shortFlags = {
  edge: {
    u: 'upstream-url',
    b: 'backup-folder',
    m: 'metrics-interval-seconds',
    f: 'features-refresh-interval-seconds',
  },
  offline: { b: 'bootstrap-file', c: 'client-tokens', f: 'frontend-tokens', r: 'reload-interval' },
} as const;
/** Before the mode the same letter is a flag of the server. */
const shortFlagsBeforeMode = { b: 'base-path' } as const;
const shortFlagsOfBoth = { t: 'tokens', p: 'port', i: 'interface', a: 'app-name' } as const;

function isBoolean(schema: TSchema): boolean {
  return (schema as { readonly type?: string }).type === 'boolean';
}

/**
 * The settings in the arguments of the process, as Unleash Edge takes them: `edge --upstream-url URL --strict`, or `offline …`. Each has its
 * environment variable, which a flag overrides. A flag without a value sets a setting that is on or off.
 * @throws TypeError that names an unknown argument
 */
export function settingsInArguments(args: readonly string[]): Readonly<Record<string, string>> {
  const settings = Object.entries(EdgeConfig.properties as Record<string, TSchema>).map(
    ([name, schema]) => [name, flagOf(name), isBoolean(schema)] as const,
  );
  const booleans = new Set(settings.filter(([, , isSwitch]) => isSwitch).map(([, flag]) => flag));
  // `--strict false` and `--strict=false` are both in use, as is `--strict` alone.
  const normalised: string[] = [];
  const modeAt = args.findIndex((argument) => argument === 'edge' || argument === 'offline');
  const shortFlagAt = (at: number, letter: string): string | undefined => {
    const ofMode = at < modeAt ? shortFlagsBeforeMode : shortFlags[args[modeAt] === 'offline' ? 'offline' : 'edge'];
    return ({ ...ofMode, ...shortFlagsOfBoth } as Readonly<Record<string, string>>)[letter];
  };
  for (let at = 0; at < args.length; at++) {
    const given = args[at] as string;
    const [, letter = '', value = ''] = /^-([a-z])(=.*)?$/.exec(given) ?? [];
    const flag = shortFlagAt(at, letter);
    const argument = flag === undefined ? given : `--${flag}${value}`;
    if (!argument.startsWith('--') || !booleans.has(argument.slice(2))) normalised.push(argument);
    else if (/^(?:true|false)$/.test(args[at + 1] ?? '')) normalised.push(`${argument}=${args[++at]}`);
    else normalised.push(`${argument}=true`);
  }
  const parsed = parseArgs({
    args: normalised,
    allowPositionals: true,
    options: Object.fromEntries([
      ...settings.map(([, flag]) => [flag, { type: 'string' as const }]),
      ['log-level', { type: 'string' as const }],
    ]),
  });
  const values: Readonly<Record<string, unknown>> = parsed.values;
  const { positionals } = parsed;
  const [mode = 'edge', ...others] = positionals;
  if (!['edge', 'offline'].includes(mode) || others.length > 0)
    throw new TypeError(
      `The argument ${others[0] ?? mode} is unknown: write \`edge\` or \`offline\`, and settings as flags.`,
    );
  return {
    ...Object.fromEntries(
      [...settings.map(([name, flag]) => [name, flag] as const), ['LOG_LEVEL', 'log-level'] as const].flatMap(
        ([name, flag]) => (typeof values[flag] === 'string' ? [[name, values[flag]]] : []),
      ),
    ),
    ...(mode === 'offline' ? { OFFLINE: 'true' } : {}),
  };
}
